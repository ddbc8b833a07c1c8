"""Functions over numbers, and those that fold a list into one value."""

from __future__ import annotations

import math
from functools import reduce

from knapper_dataview.engine.context import Context
from knapper_dataview.engine.errors import EvaluationError
from knapper_dataview.engine.functions.dispatch import Builtin, builtins, null
from knapper_dataview.engine.numbers import rounded, to_fixed
from knapper_dataview.engine.operators import operate
from knapper_dataview.engine.values import Function


def _round_to(context: Context, number: float, digits: float) -> float:
    if digits <= 0 or digits != digits:
        return rounded(number)
    if digits > 100:
        raise EvaluationError("round() takes at most 100 digits")
    return to_fixed(number, int(digits))


def _floor(context: Context, number: float) -> float:
    return math.floor(number) if math.isfinite(number) else number


def _ceil(context: Context, number: float) -> float:
    return math.ceil(number) if math.isfinite(number) else number


def _trunc(context: Context, number: float) -> float:
    return math.trunc(number) if math.isfinite(number) else number


def _extreme(name: str, sign: int) -> Builtin:
    """`min` or `max`: by the order of all values, nulls left out."""

    def better(context: Context, first: object, second: object) -> object:
        if first is None or second is None:
            return second if first is None else first
        order = context.compare(first, second) * sign
        # Of two equals min() keeps the first and max() the second.
        return first if order < 0 or (order == 0 and sign > 0) else second

    def of_all(context: Context, *values: object) -> object:
        context.budget.spend(len(values))
        return reduce(lambda best, value: better(context, best, value), values) if values else None

    def of_list(context: Context, values: list[object]) -> object:
        # A list in a list is taken apart in turn, because one argument that is a list stands for its elements.
        return extreme(context, *values)

    extreme = Builtin(name, {"* *": better, "array": of_list, "...": of_all})
    return extreme


def _extreme_by(name: str, sign: int) -> Builtin:
    """`minby` or `maxby`: by what a function answers, nulls left out; all null gives the first element."""

    def of_list(context: Context, values: list[object], key: Function) -> object:
        keyed = [(key(value), value) for value in values]
        known = [pair for pair in keyed if pair[0] is not None]
        if not known:
            return values[0] if values else None
        best = known[0]
        for pair in known[1:]:
            order = context.compare(best[0], pair[0]) * sign
            if not (order < 0 or (order == 0 and sign > 0)):
                best = pair
        return best[1]

    return Builtin(name, {"array function": of_list, "null function": null})


def fold(context: Context, values: list[object], op: str) -> object:
    """Join the elements with an operator."""
    if not values:
        return None
    if op not in ("+", "-", "*", "/", "&", "|"):
        raise EvaluationError("reduce(array, op) supports '+', '-', '/', '*', '&', and '|'")
    context.budget.spend(len(values))
    return reduce(lambda total, value: operate(op, total, value, context), values)


def _fold_with(context: Context, values: list[object], function: Function) -> object:
    if not values:
        return None
    total = values[0]
    for value in values[1:]:
        if value is not None:
            total = function(total, value)
    return total


def _average(context: Context, values: list[object]) -> object:
    total = fold(context, values, "+")
    return None if total is None else operate("/", total, len(values), context)


def _same(context: Context, value: object) -> object:
    return value


NUMERIC = builtins(
    Builtin(
        "round",
        {
            "number": lambda _, number: rounded(number),
            "null": null,
            "number number": _round_to,
            "number null": lambda _, number, __: rounded(number),
            "null *": null,
        },
        {1: (0,), 2: (0,)},
    ),
    Builtin("trunc", {"number": _trunc, "null": null}, {1: (0,)}),
    Builtin("floor", {"number": _floor, "null": null}, {1: (0,)}),
    Builtin("ceil", {"number": _ceil, "null": null}, {1: (0,)}),
    _extreme("min", 1),
    _extreme("max", -1),
    _extreme_by("minby", 1),
    _extreme_by("maxby", -1),
    Builtin("sum", {"array": lambda context, values: fold(context, values, "+"), "*": _same}),
    Builtin("product", {"array": lambda context, values: fold(context, values, "*"), "*": _same}),
    Builtin("average", {"array": _average, "*": _same}),
    Builtin(
        "reduce",
        {"array string": fold, "array function": _fold_with, "null *": null, "* null": null},
        {2: (1,)},
    ),
)
