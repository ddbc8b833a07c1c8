"""The one order over all values, which `=`, `<`, SORT, GROUP BY and min/max share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cmp_to_key
from typing import TYPE_CHECKING

from knapper_dataview.engine.collation import collation_key, compare_text
from knapper_dataview.engine.dates import same_zone
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.values import Link, entries, type_of

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

Normalize = Callable[[str], str]


def _unchanged(path: str) -> str:
    return path


def compare(first: object, second: object, normalize: Normalize = _unchanged) -> int:
    """Less than, equal to or greater than zero; null is least, different types go by their names."""
    if first is None or second is None:
        return (second is None) - (first is None)
    kind = type_of(first)
    other = type_of(second)
    if kind != other:
        return -1 if kind < other else 1
    if first is second:
        return 0
    comparison = _COMPARISONS.get(kind)
    return comparison(first, second, normalize) if comparison else 0


def equal(first: object, second: object, normalize: Normalize = _unchanged) -> bool:
    """Whether two values are the same to the language."""
    return compare(first, second, normalize) == 0


def _order(first: float, second: float) -> int:
    return -1 if first < second else 0 if first == second else 1


def _text(first: str, second: str, normalize: Normalize) -> int:
    return compare_text(first, second)


def _number(first: float, second: float, normalize: Normalize) -> int:
    return _order(first, second)


def _date(first: datetime, second: datetime, normalize: Normalize) -> int:
    if first < second:
        return -1
    return 0 if first == second and same_zone(first, second) else 1


def _duration(first: Duration, second: Duration, normalize: Normalize) -> int:
    if first.milliseconds < second.milliseconds:
        return -1
    return 0 if first == second else 1


def _link(first: Link, second: Link, normalize: Normalize) -> int:
    if first.path != second.path:
        by_path = compare_text(normalize(first.path), normalize(second.path))
        if by_path:
            return by_path
    if first.type != second.type:
        return -1 if first.type < second.type else 1
    return compare_text(first.subpath or "", second.subpath or "")


def _array(first: list[object], second: list[object], normalize: Normalize) -> int:
    for one, other in zip(first, second, strict=False):
        # Links inside lists and objects are compared as they are written: Dataview resolves only at the top.
        found = compare(one, other)
        if found:
            return found
    return len(first) - len(second)


def _object(first: dict[str, object], second: dict[str, object], normalize: Normalize) -> int:
    one, other = entries(first), entries(second)
    names: list[object] = [*sorted(one)]
    found = _array(names, [*sorted(other)], normalize)
    if found:
        return found
    return next((by_value for name in sorted(one) if (by_value := compare(one[name], other[name]))), 0)


_COMPARISONS: dict[str, Callable[..., int]] = {
    "string": _text,
    "number": _number,
    "boolean": _number,
    "date": _date,
    "duration": _duration,
    "link": _link,
    "array": _array,
    "object": _object,
}


def ranked(
    values: Iterable[object], normalize: Normalize = _unchanged, descending: bool = False
) -> list[int]:
    """The positions of these values in ascending or descending order, equal ones as they came."""
    given = list(values)
    keys = _keys(given, normalize)
    if keys is None:
        ordering = cmp_to_key(lambda a, b: compare(a, b, normalize))
        keys = [ordering(value) for value in given]
    return sorted(range(len(given)), key=keys.__getitem__, reverse=descending)


def _keys(values: list[object], normalize: Normalize) -> list[SupportsRichComparison] | None:
    """Keys that Python orders by itself, as all but objects and NaN have; comparing is ten times as slow."""
    kinds = set(map(type, values))
    if kinds <= {int} or kinds <= {datetime}:
        return [*values]  # type: ignore[list-item]
    if kinds <= {str}:
        return [collation_key(value) for value in values if isinstance(value, str)]
    try:
        return [_key(value, normalize) for value in values]
    except _NoKey:
        return None


class _NoKey(Exception):
    """A value whose place only comparing can tell."""


def _key(value: object, normalize: Normalize) -> tuple[SupportsRichComparison, ...]:
    if value is None:
        return ("",)
    kind = type_of(value)
    if isinstance(value, str):
        return kind, collation_key(value)
    if isinstance(value, (bool, int, float)):
        if value != value:
            raise _NoKey
        return kind, value
    if isinstance(value, datetime):
        return kind, value
    if isinstance(value, Duration):
        return kind, value.milliseconds
    if isinstance(value, Link):
        return kind, collation_key(normalize(value.path)), value.type, collation_key(value.subpath or "")
    if isinstance(value, list):
        return kind, *(_key(element, _unchanged) for element in value)
    raise _NoKey
