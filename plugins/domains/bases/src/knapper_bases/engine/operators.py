"""Arithmetic."""

import math
from collections.abc import Callable
from typing import Any

from knapper_bases.engine.dates import between, plus, read_duration, shift, times
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.run import Run
from knapper_bases.engine.text import text
from knapper_bases.engine.values import Date, Duration, type_name

Operator = Callable[[Any, Any, Run], object]

_NUMBERS = frozenset((int, float))
_EXACT = 2**53


def add(a: object, b: object, run: Run) -> object:
    """Add numbers, dates and durations; join texts and lists."""
    if isinstance(a, Date) and (length := _length(b)):
        return shift(a, length, 1)
    if isinstance(a, Duration) and isinstance(b, Date):
        return shift(b, a, 1)
    if isinstance(a, Duration) and isinstance(b, Duration):
        return plus(a, b)
    if isinstance(a, str) or isinstance(b, str):
        return _concatenated(a, b, run)
    if isinstance(a, list) and isinstance(b, list):
        run.budget.check_length(len(a) + len(b))
        run.budget.spend(len(a) + len(b))
        return [*a, *b]
    return _numeric(a, b, lambda x, y: x + y)


def subtract(a: object, b: object, run: Run) -> object:
    """Subtract numbers, durations, and dates from dates."""
    if isinstance(a, Date):
        if isinstance(b, Date):
            return between(a, b, run)
        if length := _length(b):
            return shift(a, length, -1)
    if isinstance(a, Duration) and isinstance(b, Duration):
        return plus(a, times(b, -1))
    return _numeric(a, b, lambda x, y: x - y)


def multiply(a: object, b: object, run: Run) -> object:
    """Multiply numbers, or a duration by a number on its right."""
    if isinstance(a, Duration) and type(b) in _NUMBERS:
        return times(a, _finite(b))
    return _numeric(a, b, lambda x, y: x * y)


def divide(a: object, b: object, run: Run) -> object:
    """Divide as JavaScript does, where a division by zero is infinite or no number."""
    if isinstance(a, Duration) and type(b) in _NUMBERS and b:
        return times(a, 1 / _finite(b))
    return _numeric(a, b, _quotient)


def remainder(a: object, b: object, run: Run) -> object:
    """Give the remainder with the sign of the dividend."""
    return _numeric(a, b, _fmod)


def negate(value: object) -> object:
    """Turn a number or a duration around."""
    if isinstance(value, Duration):
        return times(value, -1)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BasesError(f"Invalid operator on {type_name(value)}")
    return -value


OPERATORS: dict[str, Operator] = {"+": add, "-": subtract, "*": multiply, "/": divide, "%": remainder}


def tidy(number: float) -> float:
    """Keep whole numbers within what a JavaScript number holds exactly."""
    return number if type(number) is float or -_EXACT < number < _EXACT else float(number)


def _numeric(a: object, b: object, operation: Callable[[Any, Any], float]) -> object:
    if type(a) in _NUMBERS and type(b) in _NUMBERS:
        try:
            return tidy(operation(a, b))
        except OverflowError:
            return math.inf
    # A missing property makes an empty cell, as a missing member does, not an error in every row.
    if a is None or b is None:
        return None
    raise BasesError(f"Invalid operator between {type_name(a)} and {type_name(b)}")


def _concatenated(a: object, b: object, run: Run) -> str:
    one, other = text(a, run.budget), text(b, run.budget)
    run.budget.check_length(len(one) + len(other))
    return one + other


def _length(value: object) -> Duration | None:
    if isinstance(value, str):
        return read_duration(value)
    return value if isinstance(value, Duration) else None


def _finite(number: Any) -> float:
    if not math.isfinite(number):
        raise BasesError("A duration cannot be multiplied by an infinite number")
    return float(number)


def _quotient(a: float, b: float) -> float:
    if b:
        result = a / b
        return int(result) if result.is_integer() and abs(result) < _EXACT else result
    return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def _fmod(a: float, b: float) -> float:
    if not b or math.isinf(a):
        return math.nan
    result = math.fmod(a, b)
    return int(result) if type(a) is int and type(b) is int else result
