"""Dates: `tp.date`, which writes days in moment.js formats."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

from knapper.script.errors import ScriptFailed
from knapper.script.moments import added, by_format, from_iso
from knapper.script.scope import Clock, Scope
from knapper.script.texts import argument
from knapper.script.values import Value, nullish, to_number, to_text
from knapper.vault import moment
from knapper.vault.moment_locale import Week
from knapper_templater.modules import Module, text_or

DAY = "YYYY-MM-DD"
_NUMBER = r"([-+]?[0-9]+(?:[.,][0-9]+)?)"
_DURATION = re.compile(
    rf"([-+]?)P(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?"
)
# Nobody means a number with more digits, and beyond some thousands Python refuses to read it.
_LONGEST = 100


class Dates(Module):
    """`tp.date`."""

    name = "tp.date"

    def __init__(self) -> None:
        functions = {"now": _now, "tomorrow": _tomorrow, "yesterday": _yesterday, "weekday": _weekday}
        super().__init__({}, functions)


def _now(arguments: list[Value], scope: Scope) -> str:
    when = _reference(argument(arguments, 2), argument(arguments, 3), scope.clock)
    return _written(_shifted(when, argument(arguments, 1)), text_or(arguments, 0, DAY), scope)


def _tomorrow(arguments: list[Value], scope: Scope) -> str:
    return _written(_moved(scope.clock.now, 1, "day"), text_or(arguments, 0, DAY), scope)


def _yesterday(arguments: list[Value], scope: Scope) -> str:
    return _written(_moved(scope.clock.now, -1, "day"), text_or(arguments, 0, DAY), scope)


def _weekday(arguments: list[Value], scope: Scope) -> str:
    """The day of the week that a reference lies in, 0 for its first one by the vault's rules."""
    when = _reference(argument(arguments, 2), argument(arguments, 3), scope.clock)
    wanted = to_number(argument(arguments, 1))
    if math.isnan(wanted):
        raise ScriptFailed("tp.date.weekday() needs the number of a weekday")
    first = (scope.clock.week or Week()).first_day
    into = (when.isoweekday() - first) % 7
    return _written(_moved(when, wanted - into, "day"), text_or(arguments, 0, DAY), scope)


def _written(when: datetime, form: str, scope: Scope) -> str:
    return moment.format(when, form, week=scope.clock.week)


def _reference(value: Value, form: Value, clock: Clock) -> datetime:
    if nullish(value) or value == "":
        return clock.now
    text = to_text(value)
    when = from_iso(text) if nullish(form) else by_format(text, to_text(form), clock)
    if when is None:
        raise ScriptFailed(f"Invalid reference date {text[:100]!r}: give its format as reference_format")
    return when


def _shifted(when: datetime, offset: Value) -> datetime:
    if nullish(offset) or offset == "":
        return when
    if not isinstance(offset, str):
        return _moved(when, to_number(offset), "day")
    number = to_number(offset)  # moment takes a text that is a number for milliseconds
    return _by_duration(when, offset) if math.isnan(number) else _moved(when, number, "millisecond")


def _by_duration(when: datetime, text: str) -> datetime:
    found = _DURATION.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None or not any(found.groups()[1:]):
        raise ScriptFailed(f"{text[:100]!r} is not a duration of ISO 8601, such as P1W or P-1M")
    sign = -1 if found[1] == "-" else 1
    counts = [float(count.replace(",", ".")) * sign if count else 0.0 for count in found.groups()[1:]]
    years, months, weeks, days, hours, minutes, seconds = counts
    when = _moved(when, years * 12 + months, "month")
    when = _moved(when, weeks * 7 + days, "day")
    return _moved(when, timedelta(hours=hours, minutes=minutes, seconds=seconds).total_seconds(), "second")


def _moved(when: datetime, count: float, unit: str) -> datetime:
    moved = added(when, count, unit) if math.isfinite(count) else None
    if moved is None:
        raise ScriptFailed("the date lies beyond the calendar")
    return moved
