"""What `+ - * / %` mean for each pair of types; comparison and logic work on everything."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from datetime import datetime

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.dates import add, difference
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.numbers import bounded, divide, remainder
from knapper_dataview.engine.rendering import text_of
from knapper_dataview.engine.text import repeat
from knapper_dataview.engine.values import entries, truthy, type_of

Operator = Callable[[object, object, Context], object]


def operate(op: str, left: object, right: object, context: Context) -> object:
    """Apply any binary operator."""
    comparison = COMPARISONS.get(op)
    if comparison is not None:
        return comparison(context.compare(left, right), 0)
    if op == "&":
        return truthy(left) and truthy(right)
    if op == "|":
        return truthy(left) or truthy(right)
    return calculate(op, left, right, context)


# Each asked of an order and 0, or of two integers themselves.
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def calculate(op: str, left: object, right: object, context: Context) -> object:
    """Apply an arithmetic operator, or say which types it does not know."""
    first, second = type_of(left), type_of(right)
    calculation = _CALCULATIONS.get((first, op, second))
    if calculation is not None:
        return calculation(left, right, context)
    if op == "+" and "string" in (first, second):
        context.budget.grow(len(left) if isinstance(left, str) else 0)
        return text_of(left, context.settings) + text_of(right, context.settings)
    raise EvaluationError(f"no implementation of {first} {op} {second}")


def _null(left: object, right: object, context: Context) -> object:
    return None


def _repeat(text: str, times: float, context: Context) -> str:
    return repeat(text, times, context.budget)


def _divided(duration: Duration, by: float, context: Context) -> Duration:
    if not by or by != by:
        raise EvaluationError("a duration cannot be divided by zero")
    return Duration(amount / by for amount in duration.amounts).normalized()


def _scaled(duration: Duration, by: float, context: Context) -> Duration:
    if not math.isfinite(by):
        raise EvaluationError("a duration cannot be infinite")
    return duration.times(by).normalized()


def _joined(left: list[object], right: list[object], context: Context) -> list[object]:
    context.budget.grow(len(left) + len(right))
    return left + right


def _minus(moment: datetime, duration: Duration, context: Context) -> datetime:
    return add(moment, duration.times(-1))


_CALCULATIONS: dict[tuple[str, str, str], Callable[..., object]] = {
    ("number", "+", "number"): lambda a, b, _: bounded(a + b),
    ("number", "-", "number"): lambda a, b, _: bounded(a - b),
    ("number", "*", "number"): lambda a, b, _: bounded(a * b),
    ("number", "/", "number"): lambda a, b, _: divide(a, b),
    ("number", "%", "number"): lambda a, b, _: remainder(a, b),
    ("string", "*", "number"): _repeat,
    ("number", "*", "string"): lambda times, text, context: _repeat(text, times, context),
    ("date", "-", "date"): lambda a, b, _: difference(a, b).normalized(),
    ("date", "-", "duration"): _minus,
    ("date", "+", "duration"): lambda moment, duration, _: add(moment, duration),
    ("duration", "+", "date"): lambda duration, moment, _: add(moment, duration),
    ("duration", "+", "duration"): lambda a, b, _: a.plus(b).normalized(),
    ("duration", "-", "duration"): lambda a, b, _: a.plus(b.times(-1)).normalized(),
    ("duration", "/", "number"): _divided,
    ("duration", "*", "number"): _scaled,
    ("number", "*", "duration"): lambda by, duration, context: _scaled(duration, by, context),
    ("array", "+", "array"): _joined,
    ("object", "+", "object"): lambda a, b, _: {**entries(a), **entries(b)},
    **{("null", op, "null"): _null for op in "+-*/%"},
    **{("date", op, "null"): _null for op in "+-"},
    **{("null", op, "date"): _null for op in "+-"},
}
