"""Markup: how the two task formats write each field at the end of a line."""

import re
from collections.abc import Mapping

import msgspec

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ID = "[a-zA-Z0-9_-]+"
_IDS = f"{_ID}(?: *, *{_ID})*"
_RULE = "[a-zA-Z0-9, !]+"
_ACTION = "[a-zA-Z]+"
_TAG = r"(?:^|\s)#[^ !@#$%^&*(),.?\":{}|<>]+"

TAG = re.compile(_TAG)
TAG_AT_END = re.compile(_TAG + r"\Z")
BLOCK_LINK = re.compile(r" \^[a-zA-Z0-9-]+\Z")
TASK_LINE = re.compile(r"([\s>]*)([-*+]|[0-9]+[.)]) +\[(.)\] *(.*)")

# The order in which each pass over a line tries the fields, before and after its trailing tag.
BEFORE_TAG = (
    "priority",
    "done",
    "cancelled",
    "due",
    "scheduled",
    "start",
    "created",
    "recurrence",
    "on_completion",
)
AFTER_TAG = ("id", "depends_on")

# The order in which a line is written.
WRITTEN = (
    "id",
    "depends_on",
    "priority",
    "recurrence",
    "on_completion",
    "created",
    "start",
    "scheduled",
    "due",
    "cancelled",
    "done",
)


class Markup(msgspec.Struct, frozen=True):
    """One format: the pattern that reads each field and the text that writes it."""

    patterns: Mapping[str, re.Pattern[str]]
    labels: Mapping[str, str]
    priorities: Mapping[str, int]
    signs: Mapping[str, str]
    opening: str = " "
    closing: str = ""

    def within(self, body: str) -> set[str]:
        """The fields that may be in a text: to look for each of them costs more than the rest of a line."""
        return {field for sign, field in self.signs.items() if sign in body}

    def at_end(self, field: str, body: str) -> re.Match[str] | None:
        """The field where it ends a line."""
        # No field holds a bracket, so one in brackets begins with the last that opens.
        start = max(body.rfind("["), body.rfind("("), 0) if self.closing else 0
        return self.patterns[field].search(body, start)

    def written(self, field: str, value: str) -> str:
        """A field as it stands in a line, its separating blanks included."""
        label = self.labels[field]
        return f"{self.opening}{label}{' ' if label else ''}{value}{self.closing}"


def _signified(sign: str, value: str) -> re.Pattern[str]:
    return re.compile(f"{sign}\ufe0f? *(?P<value>{value})\\Z")


_EMOJI_PRIORITIES = {"🔺": 0, "⏫": 1, "🔼": 2, "🔽": 4, "⏬": 5}
_NAMED_PRIORITIES = {"highest": 0, "high": 1, "medium": 2, "low": 4, "lowest": 5}

EMOJI_MARKUP = Markup(
    patterns={
        "priority": re.compile("(?P<value>[🔺⏫🔼🔽⏬])\ufe0f?\\Z"),
        "created": _signified("➕", _DATE),
        "start": _signified("🛫", _DATE),
        "scheduled": _signified("[⏳⌛]", _DATE),
        "due": _signified("[📅📆🗓]", _DATE),
        "done": _signified("✅", _DATE),
        "cancelled": _signified("❌", _DATE),
        "recurrence": _signified("🔁", _RULE),
        "on_completion": _signified("🏁", _ACTION),
        "id": _signified("🆔", _ID),
        "depends_on": _signified("⛔", _IDS),
    },
    labels={
        "priority": "",
        "created": "➕",
        "start": "🛫",
        "scheduled": "⏳",
        "due": "📅",
        "done": "✅",
        "cancelled": "❌",
        "recurrence": "🔁",
        "on_completion": "🏁",
        "id": "🆔",
        "depends_on": "⛔",
    },
    priorities=_EMOJI_PRIORITIES,
    signs=dict.fromkeys("🔺⏫🔼🔽⏬", "priority")
    | dict.fromkeys("⏳⌛", "scheduled")
    | dict.fromkeys("📅📆🗓", "due")
    | {
        "➕": "created",
        "🛫": "start",
        "✅": "done",
        "❌": "cancelled",
        "🔁": "recurrence",
        "🏁": "on_completion",
        "🆔": "id",
        "⛔": "depends_on",
    },
)


def _inline(key: str, value: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(\[)|\() *{key}:: *(?P<value>{value}) *(?(1)\]|\))(?: *,)?\Z")


_KEYS = {
    "priority": ("priority", "highest|high|medium|lowest|low"),
    "created": ("created", _DATE),
    "start": ("start", _DATE),
    "scheduled": ("scheduled", _DATE),
    "due": ("due", _DATE),
    "done": ("completion", _DATE),
    "cancelled": ("cancelled", _DATE),
    "recurrence": ("repeat", _RULE),
    "on_completion": ("onCompletion", _ACTION),
    "id": ("id", _ID),
    "depends_on": ("dependsOn", _IDS),
}

DATAVIEW_MARKUP = Markup(
    patterns={field: _inline(key, value) for field, (key, value) in _KEYS.items()},
    labels={field: f"{key}::" for field, (key, _) in _KEYS.items()},
    priorities=_NAMED_PRIORITIES,
    signs={f"{key}::": field for field, (key, _) in _KEYS.items()},
    # Two blanks: with one, Obsidian's reading view hides every second field in square brackets.
    opening="  [",
    closing="]",
)
