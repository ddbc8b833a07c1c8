"""The operators that take values, each with how many it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from knapper.jsonlogic.values import alike, leading_number, less, number, plain, same, text, truthy

ANY = 10_000
_FAR = 2.0**53


class Operator(NamedTuple):
    """A function of evaluated arguments, and the least and most of them."""

    least: int
    most: int
    fn: Callable[..., Any]


def look_up(data: Any, path: Any, default: Any = None) -> Any:
    """The value at a path with dots; the data itself for no path, the default where the path leads nowhere."""
    if path is None or path == "":
        return data
    for part in text(path).split("."):
        if isinstance(data, Mapping) and part in data:
            data = data[part]
        elif isinstance(data, list) and part.isdecimal() and int(part) < len(data):
            data = data[int(part)]
        else:
            return default
    return data


def missing(data: Any, *names: Any) -> list[Any]:
    """Which of the names lead to nothing, or to an empty text."""
    wanted = names[0] if names and isinstance(names[0], list) else list(names)
    return [name for name in wanted if look_up(data, name) in (None, "")]


def missing_some(data: Any, least: Any, names: Any) -> list[Any]:
    """The missing names, unless enough of them are there."""
    listed = names if isinstance(names, list) else [names]
    gone = missing(data, listed)
    return [] if len(listed) - len(gone) >= number(least) else gone


def _less(a: Any, b: Any, *c: Any) -> bool:
    return less(a, b) and all(less(b, one) for one in c)


def _less_or_equal(a: Any, b: Any, *c: Any) -> bool:
    return less(a, b, or_equal=True) and all(less(b, one, or_equal=True) for one in c)


def _inside(part: Any, whole: Any) -> bool:
    if isinstance(whole, str):
        return part is not None and text(part) in whole  # a property that is not there is in no text
    return isinstance(whole, list) and any(same(part, item) for item in whole)


def _sum(*values: Any) -> int | float:
    return plain(sum(map(leading_number, values)))


def _product(*values: Any) -> int | float:
    return plain(math.prod(map(leading_number, values)))


def _difference(a: Any, *b: Any) -> int | float:
    return plain(number(a) - number(b[0])) if b else plain(-number(a))


def _quotient(a: Any, b: Any) -> int | float:
    over, under = number(a), number(b)
    if under == 0:
        return math.nan if over == 0 or math.isnan(over) else math.copysign(math.inf, over)
    return plain(over / under)


def _remainder(a: Any, b: Any) -> int | float:
    over, under = number(a), number(b)
    return math.nan if under == 0 or math.isinf(over) else plain(math.fmod(over, under))


def _least(*values: Any) -> int | float:
    return _extreme(min, values)


def _most(*values: Any) -> int | float:
    return _extreme(max, values)


def _extreme(pick: Callable[[list[float]], float], values: tuple[Any, ...]) -> int | float:
    numbers = [number(value) for value in values]
    return math.nan if any(map(math.isnan, numbers)) else plain(pick(numbers))


def _part(source: Any, start: Any, *length: Any) -> str:
    whole = text(source)
    first = _whole(start)
    rest = whole[max(0, len(whole) + first) if first < 0 else first :]
    if not length:
        return rest
    count = _whole(length[0])
    return rest[: max(0, len(rest) + count)] if count < 0 else rest[:count]


def _whole(value: Any) -> int:
    """A number of characters, however it is written."""
    count = number(value)
    return 0 if math.isnan(count) else int(max(-_FAR, min(_FAR, count)))


def _merged(*values: Any) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _joined(*values: Any) -> str:
    return "".join(map(text, values))


VALUES: dict[str, Operator] = {
    "==": Operator(2, 2, alike),
    "!=": Operator(2, 2, lambda a, b: not alike(a, b)),
    "===": Operator(2, 2, same),
    "!==": Operator(2, 2, lambda a, b: not same(a, b)),
    "<": Operator(2, 3, _less),
    "<=": Operator(2, 3, _less_or_equal),
    ">": Operator(2, 2, lambda a, b: less(b, a)),
    ">=": Operator(2, 2, lambda a, b: less(b, a, or_equal=True)),
    "!": Operator(0, 1, lambda *a: not truthy(a[0] if a else None)),
    "!!": Operator(0, 1, lambda *a: truthy(a[0] if a else None)),
    "in": Operator(2, 2, _inside),
    "+": Operator(1, ANY, _sum),
    "*": Operator(1, ANY, _product),
    "-": Operator(1, 2, _difference),
    "/": Operator(2, 2, _quotient),
    "%": Operator(2, 2, _remainder),
    "min": Operator(1, ANY, _least),
    "max": Operator(1, ANY, _most),
    "substr": Operator(2, 3, _part),
    "cat": Operator(0, ANY, _joined),
    "merge": Operator(0, ANY, _merged),
}
DATA: dict[str, Operator] = {
    "var": Operator(0, 2, lambda data, path=None, default=None: look_up(data, path, default)),
    "missing": Operator(0, ANY, missing),
    "missing_some": Operator(2, 2, missing_some),
}
