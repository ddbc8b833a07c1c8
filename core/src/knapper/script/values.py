"""Values: JavaScript's values and conversions on Python's types.

null is None, numbers are int or float, arrays are lists, functions are Python callables over a list of
arguments, and everything the host hands in is a Host.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from knapper.script.errors import ScriptFailed

if TYPE_CHECKING:
    from knapper.script.scope import Scope

# A JavaScript value: checked where it is used, as in JavaScript.
Value = Any
Function = Callable[[list[Value]], Value]

# No honest group name or filter builds a text of this length.
LONGEST_TEXT = 1_000_000


class Undefined:
    """The type of `undefined`."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined()


class Host:
    """An object of the host; `member` and `called` answer UNDEFINED for what it does not have."""

    kind = "Object"

    def member(self, name: str) -> Value:
        return UNDEFINED

    def called(self, name: str, arguments: list[Value], scope: Scope) -> Value:
        return UNDEFINED

    def number(self) -> float:
        return math.nan

    def text(self) -> str:
        return "[object Object]"


class Record(Host):
    """An object of fixed values."""

    def __init__(self, members: Mapping[str, Value]) -> None:
        self._members = members

    def member(self, name: str) -> Value:
        return self._members.get(name, UNDEFINED)


def from_data(value: Any) -> Value:
    """What YAML or JSON says, as a script sees it."""
    if isinstance(value, list):
        return [from_data(item) for item in value]
    if isinstance(value, Mapping):
        return Record({str(key): from_data(item) for key, item in value.items()})
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


def nullish(value: Value) -> bool:
    """Whether a value is null or undefined."""
    return value is None or value is UNDEFINED


def truthy(value: Value) -> bool:
    """A value as a condition."""
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value) if isinstance(value, (bool, int, float, str)) or nullish(value) else True


def to_number(value: Value) -> float | int:
    """Number(value)."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return value
    if value is None:
        return 0
    if isinstance(value, str):
        return _number_in(value.strip())
    if isinstance(value, list):
        return _number_in(to_text(value))
    return value.number() if isinstance(value, Host) else math.nan


def _number_in(text: str) -> float | int:
    if not text:
        return 0
    try:
        return int(text) if len(text) < 16 and re.fullmatch("[+-]?[0-9]+", text) else float(text)
    except ValueError:
        return math.nan


def to_whole(value: Value, default: int = 0) -> int:
    """A number cut down to a whole one that any text or array is long enough for."""
    number = to_number(value)
    return default if math.isnan(number) else int(min(max(number, -(2**53)), 2**53))


def to_text(value: Value) -> str:
    """String(value)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return checked(",".join("" if nullish(item) else to_text(item) for item in value))
    if isinstance(value, Host):
        return value.text()
    return "undefined" if value is UNDEFINED else "function"


def number_text(value: float | int) -> str:
    """A number as JavaScript prints it: the fewest digits that tell it, and no exponent between 1e-7 and 1e21."""
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        if value == 0:
            return "0"
        return ("-" if value < 0 else "") + _positional(*_digits(abs(value)))
    return repr(value)


def _digits(value: float) -> tuple[str, int]:
    """A number's digits, and where the point stands among them."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return digits.rstrip("0"), point


def _positional(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def checked(text: str) -> str:
    """The text, unless it is longer than any honest script makes it."""
    if len(text) > LONGEST_TEXT:
        raise ScriptFailed("Invalid string length")
    return text


def type_name(value: Value) -> str:
    """typeof value."""
    if value is UNDEFINED:
        return "undefined"
    for types, name in ((bool, "boolean"), ((int, float), "number"), (str, "string")):
        if isinstance(value, types):
            return name
    return "function" if callable(value) else "object"


def same(left: Value, right: Value) -> bool:
    """left === right."""
    if type_name(left) != type_name(right):
        return False
    if isinstance(left, (bool, int, float, str)):
        return bool(left == right)
    return left is right


def alike(left: Value, right: Value) -> bool:
    """left == right."""
    if nullish(left) or nullish(right):
        return nullish(left) and nullish(right)
    if type_name(left) == type_name(right):
        return same(left, right)
    if isinstance(left, (list, Host)) or isinstance(right, (list, Host)):
        return to_text(left) == to_text(right)
    return to_number(left) == to_number(right)
