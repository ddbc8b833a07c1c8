"""The live engine: the Tasks plugin itself, inside a running Obsidian, behind a bridge."""

from __future__ import annotations

import re
from typing import Any, Protocol

import msgspec

from knapper import Context, Page, ToolError
from knapper.bridge import answer_as, readable_items, refuse_restricted
from knapper_tasks.engine import ScriptRefused
from knapper_tasks.engine.query.statements import statements
from knapper_tasks.record import Task

KEY = "tasks"
RIGHT = "execute:tasks"
NOT_THERE = frozenset(
    {"plugin_missing", "plugin_unreachable", "plugin_incompatible", "requires_live_obsidian"}
)
SCRIPT = re.compile(r"by\s+function|\{\{", re.IGNORECASE)


class LiveTasks(Protocol):
    """What a bridge with the key `tasks` connects to; a query that is wrong is a ToolError invalid_input."""

    def filter(self, filter: str, *, limit: int, cursor: str | None) -> Any:
        """An object with items[], each a task as tasks_filter gives it, and cursor where more follow."""


class _Found(msgspec.Struct):
    items: list[Any]
    cursor: str | None = None


def filtered(ctx: Context, source: str, page: Page) -> Page.Of[Task]:
    """The tasks that the plugin finds and the caller may read; how many there are is not known."""
    engine: LiveTasks = ctx.bridge(KEY)
    if any(SCRIPT.search(statement.text) for statement in statements(source)):
        _allow_script(ctx)
    answer = answer_as(engine.filter(source, limit=page.limit, cursor=page.after), _Found, KEY)
    items = answer_as(readable_items(ctx, answer.items, KEY), list[Task], KEY)
    return page.of(items, last_key=answer.cursor)


def instead(ctx: Context, source: str, page: Page, refused: ScriptRefused) -> Page.Of[Task]:
    """The same for a query that the native engine refused; where nobody can be asked, the error says why one has to be."""
    try:
        return filtered(ctx, source, page)
    except ToolError as error:
        if error.code not in NOT_THERE:
            raise
        message = (
            f"{refused.reason}; the Tasks plugin in a running Obsidian evaluates it, but {error.message}"
        )
        details = {**error.details, "construct": refused.construct, "line": refused.number}
        raise ToolError(error.code, message, **details) from None


def _allow_script(ctx: Context) -> None:
    """JavaScript runs in the app with all that the app may do, so reading tasks is not right enough."""
    if not ctx.caller.may(RIGHT):
        message = f"JavaScript in the live engine of {KEY!r} needs the scope {RIGHT!r}"
        raise ToolError("forbidden", message, required=[RIGHT])
    refuse_restricted(ctx, KEY, "JavaScript")
