"""Moments: the part of moment.js that scripts use. As there, adding to a moment changes it, and `clone` copies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

from knapper.script.errors import ScriptRefused
from knapper.script.scope import Clock, Scope
from knapper.script.texts import argument
from knapper.script.values import UNDEFINED, Host, Value, to_number, to_text
from knapper.vault import moment
from knapper.vault.moment_locale import Week

_UNITS = {
    name: unit
    for unit, names in {
        "day": "d day days date dates",
        "week": "w week weeks",
        "isoWeek": "W isoWeek isoWeeks isoweek",
        "month": "M month months",
        "quarter": "Q quarter quarters",
        "year": "y year years",
        "hour": "h hour hours",
        "minute": "m minute minutes",
        "second": "s second seconds",
        "millisecond": "ms millisecond milliseconds",
    }.items()
    for name in names.split()
}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_SPANS = {
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "isoWeek": timedelta(weeks=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
}
_TICK = timedelta(milliseconds=1)
_ISO = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:$|[T ])")
_MONTH = re.compile(r"\d{4}-(\d\d)")


class JsMoment(Host):
    """A moment, or an invalid one."""

    kind = "Moment"

    def __init__(self, when: datetime | None, week: Week | None = None) -> None:
        self.when = when
        self.week = week

    def number(self) -> float:
        return math.nan if self.when is None else (self.when - datetime(1970, 1, 1)) / _TICK

    def text(self) -> str:
        return self.format("ddd MMM DD YYYY HH:mm:ss [GMT]ZZ")

    def format(self, form: str = "YYYY-MM-DDTHH:mm:ssZ") -> str:
        """The moment in a moment.js format."""
        return "Invalid date" if self.when is None else moment.format(self.when, form, week=self.week)

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        if name in _QUERIES:
            return _compared(self, name, arguments, scope)
        if name in _PARTS and not arguments:
            return math.nan if self.when is None else _PARTS[name](self.when)
        if name in _METHODS:
            return _METHODS[name](self, arguments, scope)
        raise ScriptRefused(f".{name}() of a moment")


class Dates(Host):
    """The function `moment`."""

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        if name:
            raise ScriptRefused(f"moment.{name}()")
        if argument(arguments, 1) is not UNDEFINED:
            return _read(to_text(arguments[0]), arguments[1], argument(arguments, 2), scope)
        return moment_of(argument(arguments, 0), scope)


def _read(text: str, form: Value, strict: Value, scope: Scope) -> JsMoment:
    if not isinstance(form, str):
        raise ScriptRefused("moment() with a list of formats")
    scope.budget.spend(1 + len(text) // 64 + len(form) // 8)
    return JsMoment(by_format(text, form, scope.clock, strict is True), scope.clock.week)


def by_format(text: str, form: str, clock: Clock, strict: bool = False) -> datetime | None:
    """The moment that a text names by a moment.js format; None where it does not fit."""
    try:
        return local(moment.parse(text, form, week=clock.week, strict=strict, today=clock.now.date()))
    except (OverflowError, ValueError, OSError):
        return None


def moment_of(value: Value, scope: Scope) -> JsMoment:
    """A moment of its own from a moment, from a text in ISO form, or from nothing (now)."""
    week = scope.clock.week
    if value is UNDEFINED:
        return JsMoment(scope.clock.now, week)
    if isinstance(value, JsMoment):
        return JsMoment(value.when, week)
    if not isinstance(value, str):
        return JsMoment(None)
    return JsMoment(from_iso(value), week)


def from_iso(text: str) -> datetime | None:
    """The moment that an ISO 8601 text names, None for a day that does not exist; other dates are refused.

    JavaScript would try the browser's own forms (`March 5, 2026`), which nobody can foretell.
    """
    if month := _MONTH.fullmatch(text):
        text = f"{text}-01" if 1 <= int(month[1]) <= 12 else text
    try:
        return local(datetime.fromisoformat(text))
    except ValueError:
        if not _ISO.match(text) and any(char.isdigit() for char in text):
            raise ScriptRefused(f"the date {text[:40]!r}, which is not in ISO form") from None
        return None


def local(when: datetime | None) -> datetime | None:
    """A moment in the server's own zone, without saying so; None where it is none or lies beyond the calendar."""
    if when is None or when.tzinfo is None:
        return when
    try:
        return when.astimezone().replace(tzinfo=None)
    except (OverflowError, ValueError, OSError):
        return None


def _unit(value: Value) -> str | None:
    if value is UNDEFINED:
        return None
    name = _UNITS.get(to_text(value))
    if name is None:
        raise ScriptRefused(f"the moment unit {to_text(value)!r}")
    return name


def start_of(when: datetime, unit: str, week: Week | None = None) -> datetime:
    """The first moment of the day, week, month or other unit that a moment lies in."""
    midnight = datetime.combine(when, time())
    if unit in ("week", "isoWeek"):
        first = 1 if unit == "isoWeek" else (week or Week()).first_day
        days = (when.isoweekday() - first) % 7
        # The calendar's first days have no Monday before them.
        return midnight - timedelta(days=min(days, when.toordinal() - 1))
    if unit in _MONTHS:
        months = _MONTHS[unit]
        return midnight.replace(month=when.month - (when.month - 1) % months, day=1)
    smaller: dict[str, dict[str, Any]] = {
        "hour": {"minute": 0, "second": 0, "microsecond": 0},
        "minute": {"second": 0, "microsecond": 0},
        "second": {"microsecond": 0},
        "millisecond": {},
    }
    return when.replace(**smaller[unit]) if unit in smaller else midnight


def added(when: datetime, count: float, unit: str) -> datetime | None:
    """A moment so many units later, None beyond the calendar."""
    try:
        if unit in _MONTHS:
            return moment.add_months(when, _rounded(count * _MONTHS[unit]))
        days = {"day": 1, "week": 7, "isoWeek": 7}.get(unit)
        return when + (_SPANS[unit] * count if days is None else timedelta(days=_rounded(count * days)))
    except (OverflowError, ValueError):
        return None


def _rounded(count: float) -> int:
    """As moment rounds months and days: a half goes away from zero."""
    return int(math.copysign(math.floor(abs(count) + 0.5), count))


def _changed(mine: JsMoment, when: datetime | None) -> JsMoment:
    mine.when = when
    return mine


def _shift(mine: JsMoment, arguments: list[Value], sign: int) -> JsMoment:
    unit = _unit(argument(arguments, 1)) or "millisecond"
    count = to_number(argument(arguments, 0))
    if mine.when is None or math.isnan(count) or math.isinf(count):
        return _changed(mine, None)
    return _changed(mine, added(mine.when, sign * count, unit))


def _start_of(mine: JsMoment, arguments: list[Value], scope: Scope) -> JsMoment:
    unit = _unit(argument(arguments, 0))
    if mine.when is None or unit is None:
        return mine
    return _changed(mine, start_of(mine.when, unit, mine.week))


def _end_of(mine: JsMoment, arguments: list[Value], scope: Scope) -> JsMoment:
    unit = _unit(argument(arguments, 0))
    if mine.when is None or unit is None:
        return mine
    return _changed(mine, end_of(mine.when, unit, mine.week))


def end_of(when: datetime, unit: str, week: Week | None = None) -> datetime | None:
    """The last moment of the unit that a moment lies in."""
    following = added(start_of(when, unit, week), 1, unit)
    return None if following is None else following - _TICK


def _diff(mine: JsMoment, arguments: list[Value], scope: Scope) -> float:
    other = moment_of(argument(arguments, 0), scope)
    unit = _unit(argument(arguments, 1))
    if mine.when is None or other.when is None:
        return math.nan
    if unit in _MONTHS:
        months = (mine.when.year - other.when.year) * 12 + mine.when.month - other.when.month
        anchor = added(other.when, months, "month")
        if anchor is not None and (anchor > mine.when) == (months > 0) and anchor != mine.when and months:
            months -= 1 if months > 0 else -1
        return int(months / _MONTHS[unit])
    distance = (mine.when - other.when) / (_SPANS[unit] if unit else _TICK)
    return distance if argument(arguments, 2) is True else int(distance)


def _compared(mine: JsMoment, name: str, arguments: list[Value], scope: Scope) -> bool:
    other = moment_of(argument(arguments, 0), scope)
    unit = _unit(argument(arguments, 1))
    if mine.when is None or other.when is None:
        return False
    left, right = (start_of(when, unit, mine.week) if unit else when for when in (mine.when, other.when))
    return _QUERIES[name](left, right)


def _between(mine: JsMoment, arguments: list[Value], scope: Scope) -> bool:
    low, high = argument(arguments, 0), argument(arguments, 1)
    rest, bounds = arguments[2:3], to_text(argument(arguments, 3))
    first = "isSameOrAfter" if bounds.startswith("[") else "isAfter"
    last = "isSameOrBefore" if bounds.endswith("]") else "isBefore"
    return _compared(mine, first, [low, *rest], scope) and _compared(mine, last, [high, *rest], scope)


def _format(mine: JsMoment, arguments: list[Value], scope: Scope) -> str:
    return mine.format(to_text(arguments[0])) if arguments else mine.format()


def _iso(mine: JsMoment, arguments: list[Value], scope: Scope) -> str | None:
    return None if mine.when is None else mine.when.isoformat(timespec="milliseconds") + "Z"


_QUERIES: dict[str, Callable[[datetime, datetime], bool]] = {
    "isSame": lambda left, right: left == right,
    "isBefore": lambda left, right: left < right,
    "isAfter": lambda left, right: left > right,
    "isSameOrBefore": lambda left, right: left <= right,
    "isSameOrAfter": lambda left, right: left >= right,
}
_PARTS: dict[str, Callable[[datetime], int]] = {
    "year": lambda when: when.year,
    "month": lambda when: when.month - 1,
    "date": lambda when: when.day,
    "day": lambda when: when.isoweekday() % 7,
    "weekday": lambda when: when.isoweekday() % 7,
    "isoWeekday": lambda when: when.isoweekday(),
    "isoWeek": lambda when: when.isocalendar().week,
    "isoWeekYear": lambda when: when.isocalendar().year,
    "week": lambda when: int(moment.format(when, "w")),
    "quarter": lambda when: (when.month + 2) // 3,
    "dayOfYear": lambda when: when.timetuple().tm_yday,
}
_METHODS: dict[str, Callable[[JsMoment, list[Value], Scope], Value]] = {
    "isValid": lambda mine, arguments, scope: mine.when is not None,
    "clone": lambda mine, arguments, scope: JsMoment(mine.when, mine.week),
    "valueOf": lambda mine, arguments, scope: mine.number(),
    "add": lambda mine, arguments, scope: _shift(mine, arguments, 1),
    "subtract": lambda mine, arguments, scope: _shift(mine, arguments, -1),
    "startOf": _start_of,
    "endOf": _end_of,
    "diff": _diff,
    "isBetween": _between,
    "format": _format,
    "toISOString": _iso,
}
