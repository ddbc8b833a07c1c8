"""Operators: JavaScript's unary and binary operators, and how strongly they bind."""

import math
from collections.abc import Callable

from knapper.script.errors import ScriptRefused
from knapper.script.values import (
    Host,
    Value,
    alike,
    checked,
    nullish,
    same,
    to_number,
    to_text,
    truthy,
    type_name,
)

POWER = {
    "??": 1,
    "||": 2,
    "&&": 3,
    "===": 7,
    "!==": 7,
    "==": 7,
    "!=": 7,
    "<": 8,
    ">": 8,
    "<=": 8,
    ">=": 8,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "%": 11,
    "**": 12,
}

# Whether the right side is looked at, given the left one.
LOGICAL: dict[str, Callable[[Value], bool]] = {
    "??": nullish,
    "||": lambda value: not truthy(value),
    "&&": truthy,
}


def _add(left: Value, right: Value) -> Value:
    if any(isinstance(value, (str, list, Host)) for value in (left, right)):
        return checked(to_text(left) + to_text(right))
    return _whole(float(to_number(left)) + float(to_number(right)))


def _divide(left: Value, right: Value) -> Value:
    top, bottom = to_number(left), to_number(right)
    if bottom == 0:
        return math.nan if top == 0 or math.isnan(top) else math.copysign(math.inf, top)
    return _whole(top / bottom)


def _remainder(left: Value, right: Value) -> Value:
    top, bottom = to_number(left), to_number(right)
    return math.nan if bottom == 0 or math.isinf(top) else _whole(math.fmod(top, bottom))


def _power(left: Value, right: Value) -> Value:
    try:
        return _whole(math.pow(to_number(left), to_number(right)))
    except (OverflowError, ValueError):
        return math.nan


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _compared(apply: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    def run(left: Value, right: Value) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            return apply(left, right)
        return apply(float(to_number(left)), float(to_number(right)))

    return run


def _multiply(left: Value, right: Value) -> Value:
    product = float(to_number(left)) * float(to_number(right))
    return _whole(product)


BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "===": same,
    "!==": lambda left, right: not same(left, right),
    "==": alike,
    "!=": lambda left, right: not alike(left, right),
    "<": _compared(lambda left, right: left < right),
    ">": _compared(lambda left, right: left > right),
    "<=": _compared(lambda left, right: left <= right),
    ">=": _compared(lambda left, right: left >= right),
    "+": _add,
    "-": lambda left, right: _whole(float(to_number(left)) - float(to_number(right))),
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
    "**": _power,
}


def _bitwise(value: Value) -> Value:
    raise ScriptRefused("bitwise operator (~)")


UNARY: dict[str, Callable[[Value], Value]] = {
    "!": lambda value: not truthy(value),
    "-": lambda value: -to_number(value),
    "+": to_number,
    "~": _bitwise,
    "typeof": type_name,
}
