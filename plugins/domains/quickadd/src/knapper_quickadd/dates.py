"""Dates in format strings: {{DATE}}, {{TIME}} and {{VDATE}}, with offsets and the edges of periods."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from knapper import ToolError
from knapper.script.errors import ScriptError
from knapper.script.moments import added, by_format, end_of, from_iso, start_of
from knapper.script.scope import Clock
from knapper.vault import moment

DAY, TIME = "YYYY-MM-DD", "HH:mm"
_OFFSET = re.compile(r"(?P<form>.*?)(?P<offset>\+-?[0-9]{1,6})?", re.DOTALL)
_EDGE = re.compile(r"(startof|endof):(year|quarter|month|week|isoweek|day)", re.IGNORECASE)
_WORDS = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}


def date(rest: str, options: list[str], clock: Clock) -> str | None:
    """What {{DATE…}} writes, None where it is not written as one: `+3`, `:format`, `:format+3`."""
    found = _OFFSET.fullmatch(rest)
    if found is None or (found["form"] and not found["form"].startswith(":")):
        return None
    when = added(clock.now, int((found["offset"] or "0").removeprefix("+")), "day")
    for option in options:
        edge = _EDGE.fullmatch(option.strip())
        if edge is None:
            return None
        unit = {"isoweek": "isoWeek"}.get(edge[2].lower(), edge[2].lower())
        move = start_of if edge[1].lower() == "startof" else end_of
        when = None if when is None else move(when, unit, clock.week)
    if when is None:
        raise ToolError("invalid_input", "a date of the choice lies beyond the calendar")
    return moment.format(when, found["form"][1:] or DAY, week=clock.week)


def said(text: str, form: str, clock: Clock) -> datetime:
    """The moment that a caller means by an ISO date, a few words, or a text in the format it will be written in."""
    plain = text.strip().lower()
    if plain in _WORDS:
        return clock.now + timedelta(days=_WORDS[plain])
    try:
        when = from_iso(text.strip()) or by_format(text.strip(), form, clock, strict=True)
    except ScriptError:
        when = by_format(text.strip(), form, clock, strict=True)
    if when is None:
        message = f"{text[:100]!r} is not a date; give one as YYYY-MM-DD, or today, tomorrow or yesterday"
        raise ToolError("invalid_input", message, field="args")
    return when
