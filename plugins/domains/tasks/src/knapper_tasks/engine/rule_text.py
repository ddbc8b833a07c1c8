"""Rule text: a recurrence rule in the words rrule.js chooses for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from .days import MONTHS, WEEKDAYS

if TYPE_CHECKING:
    from .rules import Rule

_T = TypeVar("_T")
_WORKING_DAYS = frozenset(range(5))
_EVERY_DAY = frozenset(range(7))


def described(rule: Rule) -> str:
    """The rule without its `when done`."""
    words = ["every", *_UNITS[rule.unit](rule)]
    if rule.until is not None:
        words.append(f"until {MONTHS[rule.until.month - 1]} {rule.until.day}, {rule.until.year}")
    elif rule.count is not None:
        words.append(f"for {rule.count} time{_plural(rule.count)}")
    if not _in_full(rule):
        words.append("(~ approximate)")
    return " ".join(words)


def _in_full(rule: Rule) -> bool:
    return not (rule.hours and rule.unit != "day") and not (rule.week_numbers and rule.unit != "year")


def _days(rule: Rule) -> list[str]:
    words = _counted(rule, "weekday" if _set(rule) == _WORKING_DAYS else "day")
    if rule.months:
        words += ["in", _months(rule)]
    return words + (_selected(rule) or _hours(rule))


def _weeks(rule: Rule) -> list[str]:
    words = [] if rule.interval == 1 else _counted(rule, "week")
    if _set(rule) == _WORKING_DAYS:
        return [*words, "weekday"] if rule.interval == 1 else [*words, "on weekdays"]
    if _set(rule) == _EVERY_DAY:
        return [*words, "day" if rule.interval == 1 else "days"]
    if rule.interval == 1:
        words.append("week")
    if rule.months:
        words += ["in", _months(rule)]
    return words + _selected(rule) + _hours(rule)


def _monthly(rule: Rule) -> list[str]:
    if not rule.months:
        words = _counted(rule, "month")
    elif rule.interval == 1:
        words = [_months(rule)]
    else:
        words = [str(rule.interval), "months in", _months(rule)]
    if not rule.month_days and _set(rule) == _WORKING_DAYS:
        return [*words, "on weekdays"]
    return words + _selected(rule)


def _years(rule: Rule) -> list[str]:
    if not rule.months:
        words = _counted(rule, "year")
    elif rule.interval == 1:
        words = [_months(rule)]
    else:
        words = [str(rule.interval), "years", _months(rule)]
    words += _selected(rule)
    if rule.week_numbers:
        unit = "week" if len(rule.week_numbers) == 1 else "weeks"
        words += [unit, _joined(rule.week_numbers, str, "and")]
    return words


_UNITS: dict[str, Callable[[Rule], list[str]]] = {
    "minute": lambda rule: _counted(rule, "minute"),
    "hour": lambda rule: _counted(rule, "hour"),
    "day": _days,
    "week": _weeks,
    "month": _monthly,
    "year": _years,
}


def _counted(rule: Rule, unit: str) -> list[str]:
    return [unit] if rule.interval == 1 else [str(rule.interval), unit + _plural(rule.interval)]


def _plural(number: int) -> str:
    # rrule.js takes 101 for a singular.
    return "" if number % 100 == 1 else "s"


def _set(rule: Rule) -> frozenset[int] | None:
    return frozenset(weekday for weekday, _ in rule.weekdays) if rule.weekdays else None


def _selected(rule: Rule) -> list[str]:
    each = sorted(day for day in rule.weekdays if not day[1])
    some = sorted((day for day in rule.weekdays if day[1]), key=lambda day: day[0])
    if rule.month_days:
        days = sorted(day for day in rule.month_days if day > 0)
        days += sorted((day for day in rule.month_days if day < 0), reverse=True)
        if each:
            return ["on", _joined(each, _weekday, "or"), "the", _joined(days, nth, "or")]
        return ["on the", _joined(days, nth, "and")]
    words = ["on", ", ".join(map(_weekday, each))] if each and _set(rule) != _WORKING_DAYS else []
    if some:
        words += ["and", "on the"] if each else ["on the"]
        words.append(_joined(some, _weekday, "and"))
    return words


def _hours(rule: Rule) -> list[str]:
    return ["at", _joined(rule.hours, str, "and")] if rule.hours else []


def _months(rule: Rule) -> str:
    return _joined(sorted(rule.months), lambda month: MONTHS[month - 1], "and")


def _weekday(day: tuple[int, int]) -> str:
    weekday, which = day
    return f"{nth(which)} {WEEKDAYS[weekday]}" if which else WEEKDAYS[weekday]


def nth(number: int) -> str:
    """An ordinal in words and digits: 1st, 22nd, last, 2nd last."""
    if number == -1:
        return "last"
    size = abs(number)
    ending = {1: "st", 21: "st", 31: "st", 2: "nd", 22: "nd", 3: "rd", 23: "rd"}.get(size, "th")
    return f"{size}{ending}" + (" last" if number < 0 else "")


def _joined(values: Iterable[_T], write: Callable[[_T], str], last: str) -> str:
    *before, final = map(write, values)
    return f"{', '.join(before)} {last} {final}" if before else final
