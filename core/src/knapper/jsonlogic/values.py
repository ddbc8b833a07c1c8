"""Values as JsonLogic's JavaScript sees them: truth, numbers, texts and comparisons."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_NUMBER = re.compile(r"[+-]?(?:Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII)
_RADIX = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+")
_EXACT = 2**53


def truthy(value: Any) -> bool:
    """Whether a value counts as true: an empty list does not, the text "0" does."""
    if isinstance(value, float) and math.isnan(value):
        return False
    return isinstance(value, Mapping) or bool(value)


def number(value: Any) -> float:
    """A value as a number; not-a-number where it is none."""
    if value is None:
        return 0.0
    if isinstance(value, (bool, int, float)):
        return _float(value)
    if isinstance(value, str):
        return _of_text(value.strip())
    return number(text(value)) if isinstance(value, list) else math.nan


def leading_number(value: Any) -> float:
    """The number that a value's text begins with: what sums and products are made of."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _float(value)
    found = _NUMBER.match(text(value).strip())
    return float(found[0]) if found else math.nan


def _of_text(written: str) -> float:
    if not written:
        return 0.0
    if _RADIX.fullmatch(written):
        return _float(int(written, 0))
    return float(written) if _NUMBER.fullmatch(written) else math.nan


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def plain(value: float) -> int | float:
    """A number as JSON writes it: whole ones without a point, as far as they are exact."""
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def text(value: Any) -> str:
    """A value as a text; nothing is the empty text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(plain(value))
    if isinstance(value, list):
        return ",".join(map(text, value))
    return "[object Object]" if isinstance(value, Mapping) else str(value)


def same(a: Any, b: Any) -> bool:
    """Equal and of one type; lists and objects are equal when what they hold is."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b)


def alike(a: Any, b: Any) -> bool:
    """Equal after the conversions of `==`: 1 and "1" are, null and 0 are not."""
    if a is None or b is None:
        return a is b
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        return same(a, b)
    if isinstance(a, list) and isinstance(b, list):
        return same(a, b)
    if isinstance(a, (str, list)) and isinstance(b, (str, list)):
        return text(a) == text(b)
    return number(a) == number(b)


def less(a: Any, b: Any, *, or_equal: bool = False) -> bool:
    """Whether a comes before b: two texts by their letters, all else as numbers."""
    if isinstance(a, str) and isinstance(b, str):
        return a <= b if or_equal else a < b
    one, other = number(a), number(b)
    return one <= other if or_equal else one < other
