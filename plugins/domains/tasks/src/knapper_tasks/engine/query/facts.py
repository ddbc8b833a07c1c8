"""Facts: what every task that a query finds must fulfil, so that an index can leave the others out."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from knapper_tasks.engine.statuses import TYPES

_T = TypeVar("_T")
ALL_TYPES = frozenset(TYPES)
Bounds = tuple[str | None, str | None]


class Facts(msgspec.Struct, frozen=True):
    """Conditions that are necessary, never sufficient: the query still has to run over what is left.

    `status_types` and `priorities` list the values that are possible, None standing for all. `dates` gives
    the bounds, both included, of date fields that must be there. `path_parts` are texts in small ASCII
    letters that the path must contain, whatever its case. `tagged` asks for a tag or for none. Where
    `every_task` is set, some filter looks at tasks other than the one it judges: hand the whole set to `run`.
    """

    status_types: frozenset[str] | None = None
    priorities: frozenset[int] | None = None
    dates: dict[str, Bounds] = {}
    path_parts: frozenset[str] = frozenset()
    recurring: bool | None = None
    tagged: bool | None = None
    every_task: bool = False


NOTHING = Facts()


def both(facts: Iterable[Facts]) -> Facts:
    """What holds where all of the facts hold."""
    known = NOTHING
    for fact in facts:
        known = Facts(
            status_types=_meet(known.status_types, fact.status_types),
            priorities=_meet(known.priorities, fact.priorities),
            dates=_narrowed(known.dates, fact.dates),
            path_parts=known.path_parts | fact.path_parts,
            recurring=fact.recurring if known.recurring is None else known.recurring,
            tagged=fact.tagged if known.tagged is None else known.tagged,
            every_task=known.every_task or fact.every_task,
        )
    return known


def either(one: Facts, other: Facts) -> Facts:
    """What holds where at least one of the facts holds."""
    return Facts(
        status_types=_join(one.status_types, other.status_types),
        priorities=_join(one.priorities, other.priorities),
        dates={
            field: _hull(one.dates[field], other.dates[field]) for field in one.dates.keys() & other.dates
        },
        path_parts=one.path_parts & other.path_parts,
        recurring=one.recurring if one.recurring == other.recurring else None,
        tagged=one.tagged if one.tagged == other.tagged else None,
        every_task=one.every_task or other.every_task,
    )


def unknown(*facts: Facts) -> Facts:
    """What is left of facts under NOT and XOR: nothing but whether other tasks are looked at."""
    return Facts(every_task=any(fact.every_task for fact in facts))


def _meet(one: frozenset[_T] | None, other: frozenset[_T] | None) -> frozenset[_T] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _join(one: frozenset[_T] | None, other: frozenset[_T] | None) -> frozenset[_T] | None:
    return None if one is None or other is None else one | other


def _narrowed(one: dict[str, Bounds], other: dict[str, Bounds]) -> dict[str, Bounds]:
    narrowed = dict(one)
    for field, (low, high) in other.items():
        known_low, known_high = narrowed.get(field, (None, None))
        lows = [bound for bound in (low, known_low) if bound is not None]
        highs = [bound for bound in (high, known_high) if bound is not None]
        narrowed[field] = (max(lows, default=None), min(highs, default=None))
    return narrowed


def _hull(one: Bounds, other: Bounds) -> Bounds:
    low = None if one[0] is None or other[0] is None else min(one[0], other[0])
    high = None if one[1] is None or other[1] is None else max(one[1], other[1])
    return low, high
