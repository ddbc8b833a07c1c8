"""Dates: filters on a task's dates."""

import re
from collections.abc import Callable
from datetime import date

from knapper_tasks.engine.days import MONTHS, WEEKDAYS, ordinal
from knapper_tasks.engine.errors import QueryError
from knapper_tasks.engine.phrases import Range, parse_day, parse_range
from knapper_tasks.engine.rule_text import nth
from knapper_tasks.row import TaskRow

from .facts import Bounds, Facts
from .fields import DATES, DateGetter
from .model import Explanation, Filter, Predicate, plain

_KEYWORDS = "(?:on|in) or before|before|(?:on|in) or after|after|on|in"
_PATTERNS = {
    name: re.compile(rf"{'starts' if name == 'start' else name} (({_KEYWORDS})? ?(.*))", re.IGNORECASE)
    for name in DATES
}
_UNEXPANDED = re.compile(r"<%|YYYY-MM-DD")


def date_filter(name: str, line: str, today: date) -> Filter | None:
    """A filter on one of the date fields, or None where the line is about something else."""
    filter_on_presence = _presence(name, line)
    if filter_on_presence is not None:
        return filter_on_presence
    found = _PATTERNS[name].match(line)
    if found is None:
        return None
    if _UNEXPANDED.search(line):
        raise QueryError("Instruction contains unexpanded template text: the date was never filled in")
    keyword = (found[2] or "").lower().replace("in or", "on or")
    days = parse_range(found[3], today)
    if days is None and (day := parse_day(found[1], today)) is not None:
        days = Range(day, day)
    if days is None:
        raise QueryError(f"do not understand {name} date")
    bounds = _bounds(keyword, days)
    facts = Facts() if name in ("start", "happens") else Facts(dates={name: bounds})
    return plain(line, _test(name, bounds), facts, _explained(name, keyword, days))


def _presence(name: str, line: str) -> Filter | None:
    getter, instruction = DATES[name], line.lower()
    if name == "happens":
        return _happens_presence(line, instruction)
    if instruction == f"has {name} date":
        return plain(line, lambda row: getter(row) is not None, Facts(dates={name: (None, None)}))
    if instruction == f"no {name} date":
        return plain(line, lambda row: getter(row) is None)
    if instruction == f"{name} date is invalid":
        return plain(line, _invalid(getter), Facts(dates={name: (None, None)}))
    return None


def _happens_presence(line: str, instruction: str) -> Filter | None:
    def present(row: TaskRow) -> bool:
        return bool(row.start or row.scheduled or row.due)

    if instruction == "has happens date":
        return plain(line, present)
    return plain(line, lambda row: not present(row)) if instruction == "no happens date" else None


def _invalid(getter: DateGetter) -> Predicate:
    def test(row: TaskRow) -> bool:
        iso = getter(row)
        return iso is not None and not ordinal(iso)

    return test


def _bounds(keyword: str, days: Range) -> Bounds:
    start, end = days.start.toordinal(), days.end.toordinal()
    low, high = {
        "before": (None, start - 1),
        "after": (end + 1, None),
        "on or before": (None, end),
        "on or after": (start, None),
    }.get(keyword, (start, end))
    return _iso(low), _iso(high)


def _iso(day: int | None) -> str | None:
    if day is None:
        return None
    return date.fromordinal(min(max(day, 1), date.max.toordinal())).isoformat()


def _test(name: str, bounds: Bounds) -> Predicate:
    low, high = bounds[0] or "", bounds[1] or "~"

    def within(iso: str | None) -> bool:
        # ISO dates compare as texts; what names no day satisfies no comparison.
        return iso is not None and low <= iso <= high and ordinal(iso) > 0

    if name == "happens":
        return lambda row: within(row.start) or within(row.scheduled) or within(row.due)
    if name == "start":
        return lambda row: row.start is None or within(row.start)
    return _of_field(DATES[name], within)


def _of_field(getter: DateGetter, within: Callable[[str | None], bool]) -> Predicate:
    return lambda row: within(getter(row))


def _explained(name: str, keyword: str, days: Range) -> Explanation:
    title = "due, start or scheduled" if name == "happens" else name
    missing = f"OR no {title} date" if name == "start" else ""
    if keyword in ("", "on", "in") and days.start != days.end:
        parts = [f"{_long(days.start)} and", f"{_long(days.end)} inclusive", *([missing] if missing else [])]
        return Explanation(f"{title} date is between:", tuple(map(Explanation, parts)))
    day = days.end if keyword in ("after", "on or before") else days.start
    relation = keyword if keyword not in ("", "in") else "on"
    return Explanation(f"{title} date is {relation} {_long(day)}{' ' if missing else ''}{missing}")


def _long(day: date) -> str:
    return f"{day.isoformat()} ({WEEKDAYS[day.weekday()]} {nth(day.day)} {MONTHS[day.month - 1]} {day.year})"
