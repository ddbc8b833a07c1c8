"""Core template variables: dates and times relative to a note's period, and its title. Everything else stays."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from knapper import ToolError
from knapper.vault import moment
from knapper.vault.moment import add_months
from knapper_periodic.rules import Rules

VARIABLE = re.compile(
    r"\{\{\s*(?P<name>date|time|title|yesterday|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday|month|quarter|year)"
    r"(?P<shift>\s*[+-]\s*\d+\s*[yqmwdhs])?\s*(?::\s*(?P<format>[^}]*?))?\s*\}\}",
    re.IGNORECASE,
)
WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
PLAIN = ("yesterday", "tomorrow", *WEEKDAYS)
PERIODS = {
    "yesterday": "daily",
    "tomorrow": "daily",
    "month": "monthly",
    "quarter": "quarterly",
    "year": "yearly",
}
PERIODS |= dict.fromkeys(WEEKDAYS, "weekly")
MONTHS = {"y": 12, "q": 3, "M": 1}
STEPS = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}


def expand(text: str, rules: Rules, when: datetime, now: datetime, title: str) -> str:
    """A template's text for the note of a period; `when` is the period's first day."""

    def replaced(match: re.Match[str]) -> str:
        name, shift, format = match["name"].lower(), match["shift"], match["format"]
        if name == "title":
            return title if shift is None and format is None else match[0]
        if PERIODS.get(name, rules.period) != rules.period or (name in PLAIN and shift is not None):
            return match[0]
        if name in WEEKDAYS and not format:
            return match[0]
        at = shifted(base(name, rules, when, now), shift)
        return moment.format(at, format or _format(name, rules), week=rules.week)

    return VARIABLE.sub(replaced, text)


def base(name: str, rules: Rules, when: datetime, now: datetime) -> datetime:
    """The moment a variable starts from; times of the day are now's."""
    clock = when.replace(hour=now.hour, minute=now.minute, second=now.second)
    if name == "yesterday":
        return when - timedelta(days=1)
    if name == "tomorrow":
        return when + timedelta(days=1)
    if name in WEEKDAYS:
        return when + timedelta(days=(WEEKDAYS.index(name) - rules.first_day) % 7)
    return clock


def shifted(when: datetime, shift: str | None) -> datetime:
    """A moment moved by `+2d` or the like, with moment's units: M is a month, m a minute, the others in any case."""
    if shift is None:
        return when
    text = shift.replace(" ", "")
    count, unit = int(text[:-1]), text[-1]
    months = MONTHS.get(unit if unit == "M" else unit.lower())
    try:
        return add_months(when, count * months) if months else when + STEPS[unit.lower()] * count
    except (OverflowError, ValueError):
        raise ToolError("invalid_input", f"the template moves a date by {text}, past the calendar") from None


def _format(name: str, rules: Rules) -> str:
    return {"time": rules.time_format, "date": rules.date_format}.get(name, rules.format)
