"""Filters as predicates over rows."""

from collections.abc import Callable
from typing import TypeAlias

from knapper_bases.engine.check import filter_problems
from knapper_bases.engine.compare import truthy
from knapper_bases.engine.compiler import compile_expression
from knapper_bases.engine.plan import And, FilterTree, Or
from knapper_bases.engine.row import Row
from knapper_bases.engine.run import Run

Predicate: TypeAlias = Callable[[Row], bool]


def compile_filter(tree: FilterTree | None, run: Run) -> Predicate:
    """Compile a filter; one that no file could ever satisfy, because it is wrong in itself, is refused."""
    for wrong in filter_problems(tree):
        raise wrong
    return _compiled(tree, run)


def both(one: FilterTree | None, other: FilterTree | None) -> FilterTree | None:
    """Join two filters, either of which may be missing."""
    if one is None or other is None:
        return one if other is None else other
    return And((one, other))


def _compiled(tree: FilterTree | None, run: Run) -> Predicate:
    if tree is None:
        return _always
    if isinstance(tree, str):
        return _expression(tree, run)
    parts = [_compiled(part, run) for part in tree.parts]
    if isinstance(tree, And):
        return _all(parts)
    if isinstance(tree, Or):
        return _any(parts)
    return lambda row: not any(part(row) for part in parts)


def _all(parts: list[Predicate]) -> Predicate:
    if len(parts) == 2:  # most have one or two, and a generator for each row would cost more than they do
        one, other = parts
        return lambda row: one(row) and other(row)
    return parts[0] if len(parts) == 1 else lambda row: all(part(row) for part in parts)


def _any(parts: list[Predicate]) -> Predicate:
    if len(parts) == 2:
        one, other = parts
        return lambda row: one(row) or other(row)
    return (lambda row: any(part(row) for part in parts)) if parts else _always


def _expression(text: str, run: Run) -> Predicate:
    evaluate = compile_expression(text, run)

    def holds(row: Row) -> bool:
        value = evaluate(row)
        return value if type(value) is bool else truthy(value)

    return holds


def _always(row: Row) -> bool:
    return True
