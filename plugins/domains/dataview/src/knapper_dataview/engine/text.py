"""Strings as JavaScript counts them: in UTF-16 units, two for an emoji."""

from __future__ import annotations

import math

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.errors import EvaluationError


def units(text: str) -> str:
    """The same text with every character past the first plane as its two halves."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    return "".join(_halves(char) for char in text)


def _halves(char: str) -> str:
    code = ord(char) - 0x10000
    return char if code < 0 else chr(0xD800 + (code >> 10)) + chr(0xDC00 + (code & 0x3FF))


def joined(text: str) -> str:
    """Halves that belong together made whole again; a half alone stays out as the replacement character."""
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def length(text: str) -> int:
    """The length in UTF-16 units."""
    return len(text) if text.isascii() else len(units(text))


def index_of(number: float) -> int:
    """A number as a position: truncated, NaN as zero, infinity as far away as it gets."""
    if number != number:
        return 0
    return math.trunc(max(-(2**53), min(2**53, number)))


def substring(text: str, start: float, end: float | None = None) -> str:
    """Between two positions in whichever order, clamped to the text."""
    counted = units(text)
    first, second = (
        min(max(index_of(at), 0), len(counted)) for at in (start, len(counted) if end is None else end)
    )
    return joined(counted[min(first, second) : max(first, second)])


def repeat(text: str, times: float, budget: Budget) -> str:
    """The text so many times, none for less than zero."""
    if math.isinf(times) and times > 0:
        raise EvaluationError("a text cannot be repeated without end")
    count = max(index_of(times), 0)
    budget.grow(len(text) * count)
    return text * count


def padding(text: str, width: float, fill: str, budget: Budget) -> str:
    """What is missing to a width, made of the fill."""
    missing = index_of(width) - length(text)
    if missing <= 0 or not fill:
        return ""
    budget.grow(missing)
    counted = units(fill)
    return joined((counted * (missing // len(counted) + 1))[:missing])
