"""Numbers as JavaScript has them: doubles that print as integers where they are."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

_SAFE = 2**53


def bounded(number: float) -> float:
    """An integer past a double's precision becomes the double, so that no chain of products grows without end."""
    return number if type(number) is float or -_SAFE < number < _SAFE else to_double(number)


def to_double(number: float) -> float:
    """The nearest double, infinite where there is none."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def parse_number(text: str) -> float:
    """Read the digits of a number literal."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < _SAFE else value


def divide(first: float, second: float) -> float:
    """Divide; by zero gives infinity or NaN."""
    if second:
        return first / second
    if not first or first != first or second != second:
        return math.nan
    return math.copysign(math.inf, first) * math.copysign(1, second)


def remainder(first: float, second: float) -> float:
    """The remainder with the sign of the first number."""
    if not second or math.isinf(first):
        return math.nan
    found = math.fmod(first, second)
    return int(found) if isinstance(first, int) and isinstance(second, int) else found


def rounded(number: float) -> float:
    """Round half up, towards plus infinity."""
    if not math.isfinite(number):
        return number
    below = math.floor(number)
    return below if number - below < 0.5 else below + 1


def to_fixed(number: float, digits: int) -> float:
    """Round to this many digits, half away from zero, on the exact value of the double."""
    if not math.isfinite(number):
        return number
    return float(Decimal(number).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def number_text(number: float) -> str:
    """A number as JavaScript writes it."""
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    mantissa, _, exponent = repr(number).partition("e")
    if not exponent:
        return mantissa
    power = int(exponent)
    if -7 < power < 0:
        return f"{Decimal(repr(number)):f}"
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"
