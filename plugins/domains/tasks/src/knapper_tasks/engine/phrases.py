"""Phrases: what follows the keyword of a date filter, as an inclusive range of days."""

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import NamedTuple

from .days import add_months, monday_of

_RELATIVE = re.compile("(last|this|next) (week|month|quarter|year)")
_STEPS = {"last": -1, "this": 0, "next": 1}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12}
_NUMBERED = re.compile(r"([0-9]{4})(?:-(?:Q([1-4])|W([0-9]{2})|([0-9]{2})))?")


class Range(NamedTuple):
    """Days from `start` to `end`, both included."""

    start: date
    end: date


def parse_range(text: str, today: date) -> Range | None:
    """Read a date phrase as the plugin does, or None where it is not understood."""
    try:
        return _relative(text, today) or _numbered(text.strip()) or _natural(text, today)
    except (OverflowError, ValueError):
        # A day outside of the calendar, such as "99999 years ago".
        return None


def parse_day(text: str, today: date) -> date | None:
    """The first date that natural language finds in a text."""
    try:
        found = _dates_in(text, today)
    except (OverflowError, ValueError):
        return None
    return found[0] if found else None


def _relative(text: str, today: date) -> Range | None:
    found = _RELATIVE.search(text)
    if found is None:
        return None
    step, unit = _STEPS[found[1]], found[2]
    if unit == "week":
        monday = monday_of(today) + timedelta(weeks=step)
        return Range(monday, monday + timedelta(days=6))
    months = _MONTHS_IN[unit]
    first = add_months(today.replace(day=1), step * months)
    return _months(first.year, first.month - (first.month - 1) % months, months)


def _numbered(text: str) -> Range | None:
    found = _NUMBERED.fullmatch(text)
    if found is None:
        return None
    year, quarter, week, month = (int(part) if part else None for part in found.groups())
    assert year is not None
    if quarter:
        return _months(year, quarter * 3 - 2, 3)
    if found[3]:
        monday = date.fromisocalendar(year, week or 0, 1)
        return Range(monday, monday + timedelta(days=6))
    return _months(year, month or 0, 1) if found[4] else _months(year, 1, 12)


def _months(year: int, month: int, count: int) -> Range:
    start = date(year, month, 1)
    last = add_months(start, count - 1)
    return Range(start, last.replace(day=monthrange(last.year, last.month)[1]))


def _natural(text: str, today: date) -> Range | None:
    found = _dates_in(text, today)
    if not found:
        return None
    first, second = found[0], found[1] if len(found) > 1 else found[0]
    return Range(min(first, second), max(first, second))


def _dates_in(text: str, today: date) -> list[date]:
    # Its patterns are many, and most queries say their dates in one of the ways above.
    from .chrono import dates_in

    return dates_in(text, today)
