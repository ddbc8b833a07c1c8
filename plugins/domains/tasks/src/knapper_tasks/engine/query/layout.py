"""Layout: instructions that change how results look, and the defaults a note's properties set."""

import re
from collections.abc import Mapping
from typing import Any

from knapper_tasks.engine.wordlist import listed

from .model import Layout

_ELEMENTS = (
    "task count",
    "group count",
    "nested backlink",
    "backlink",
    "priority",
    "cancelled date",
    "created date",
    "start date",
    "scheduled date",
    "done date",
    "due date",
    "recurrence rule",
    "on completion",
    "depends on",
    "edit button",
    "postpone button",
    "urgency",
    "toolbar",
    "tree",
    "tags",
    "id",
)
_SHOW = re.compile(rf"(hide|show) ({'|'.join(_ELEMENTS)})", re.IGNORECASE)
_SWITCHES = (
    ("short", {"short_mode": True}),
    ("full", {"short_mode": False}),
    ("explain", {"explain": True}),
)
_DEFAULTS = listed(
    "toolbar tree tags id depends_on priority recurrence_rule on_completion created_date "
    "start_date scheduled_date due_date cancelled_date done_date urgency backlink edit_button "
    "postpone_button task_count"
)


def apply_mode(line: str, layout: Layout) -> bool:
    """Take a line that begins with `short`, `full` or `explain`."""
    for word, changes in _SWITCHES:
        if line.lower().startswith(word):
            for name, value in changes.items():
                setattr(layout, name, value)
            return True
    return False


def apply_visibility(line: str, layout: Layout) -> bool:
    """Take a line that shows or hides a part of the results."""
    found = _SHOW.match(line)
    if found is None:
        return False
    layout.shown[found[2].lower()] = found[1].lower() == "show"
    return True


def defaults_of(properties: Mapping[str, Any]) -> str:
    """The instructions that the TQ_ properties of a query's note stand for."""
    named = {key.lower(): value for key, value in properties.items() if value is not None}
    lines: list[str] = []
    if named.get("tq_explain"):
        lines.append("explain")
    if "tq_short_mode" in named:
        lines.append("short mode" if named["tq_short_mode"] else "full mode")
    lines += [
        f"{'show' if value else 'hide'} {part.replace('_', ' ')}"
        for part in _DEFAULTS
        if (value := named.get(f"tq_show_{part}")) is not None
    ]
    extra = named.get("tq_extra_instructions")
    return "\n".join([*lines, extra] if isinstance(extra, str) and extra else lines)
