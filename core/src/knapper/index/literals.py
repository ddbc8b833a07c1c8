"""What every match of a pattern must contain, so that the word index can leave out notes that cannot match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

try:
    from re import _constants as sre  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # another Python's re: nothing is narrowed, and everything is still found
    sre = parser = None

Clause = list[str]
MOST_ALTERNATIVES = 16
# Sets in sets, and their differences: Python warns that it may read these otherwise one day, into a log that the
# pattern's author does not see.
DOUBTFUL = re.compile(r"\[\^?\]?[^\]]*(?:\[|--|&&|~~|\|\|)")


def required(pattern: str, flags: int) -> list[Clause]:
    """Clauses that all hold for every match; a clause is a list of strings of which one occurs, in any case."""
    if parser is None or DOUBTFUL.search(pattern):
        return []
    try:
        parsed = parser.parse(pattern, flags)
    except (re.error, RecursionError, OverflowError):
        return []
    if parsed.state.flags & re.VERBOSE:
        return []
    try:
        return _sequence(parsed)
    except RecursionError:
        return []


def _sequence(items: Iterable[tuple[Any, Any]]) -> list[Clause]:
    """The clauses of things that follow each other; letters next to each other are one string."""
    found: list[Clause] = []
    run: list[str] = []
    for op, value in _flat(items):
        if op is sre.LITERAL:
            run.append(chr(value))
            continue
        found += _run(run)
        run = []
        if op is sre.BRANCH:
            found += _branch(value[1])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, _POSSESSIVE) and value[0] >= 1:
            found += _sequence(value[2])
        elif op is sre.ASSERT:
            found += _sequence(value[1])
    return found + _run(run)


def _flat(items: Iterable[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    """Groups opened up, since what stands in one stands next to what is around it."""
    for op, value in items:
        if op is sre.SUBPATTERN:
            yield from _flat(value[3])
        elif op is _ATOMIC:
            yield from _flat(value)
        elif op is sre.AT:
            continue  # a position takes no letters
        else:
            yield op, value


def _run(run: Sequence[str]) -> list[Clause]:
    return [["".join(run)]] if run else []


def _branch(branches: Sequence[Any]) -> list[Clause]:
    """One clause: of each branch its longest string; none where a branch needs nothing."""
    best: Clause = []
    for branch in branches:
        clauses = [c for c in _sequence(branch) if len(c) == 1]
        if not clauses:
            return []
        best.append(max((c[0] for c in clauses), key=len))
    return [best] if len(best) <= MOST_ALTERNATIVES else []


_POSSESSIVE = getattr(sre, "POSSESSIVE_REPEAT", None)
_ATOMIC = getattr(sre, "ATOMIC_GROUP", None)
