"""The list functions whose argument is an expression: `filter`, `map` and `reduce`."""

from collections.abc import Callable
from typing import NamedTuple

from knapper_bases.engine.arguments import check_count
from knapper_bases.engine.compare import truthy
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.nodes import Call, Node
from knapper_bases.engine.row import Evaluate, Row
from knapper_bases.engine.values import type_name


class ListExpression(NamedTuple):
    """Which variables the expression sees, and how many arguments there may be."""

    variables: frozenset[str]
    most: int


LIST_EXPRESSIONS = {
    "filter": ListExpression(frozenset(("value", "index")), 1),
    "map": ListExpression(frozenset(("value", "index")), 1),
    "reduce": ListExpression(frozenset(("value", "index", "acc")), 2),
}


def compile_list_expression(
    node: Call, outer: Callable[[Node], Evaluate], inner: Callable[[Node], Evaluate]
) -> Evaluate:
    """Compile a call; the first argument sees the variables, the receiver and the start value do not."""
    name, count = node.name, len(node.arguments)
    if not 1 <= count <= LIST_EXPRESSIONS[name].most:
        return lambda row: check_count(name, count, 1, LIST_EXPRESSIONS[name].most)
    of = outer(node.of) if node.of else _nothing
    each = inner(node.arguments[0])
    start = outer(node.arguments[1]) if count == 2 else _nothing
    work = {"filter": _filter, "map": _map, "reduce": _reduce}[name]

    def evaluate(row: Row) -> object:
        items = of(row)
        if items is None:
            return None
        if not isinstance(items, list):
            raise BasesError(f'Cannot find function "{name}" on type {type_name(items)}')
        row.run.budget.spend(2 * len(items) + 1)
        outside = row.value, row.index, row.acc
        try:
            return work(row, items, each, start)
        finally:
            row.value, row.index, row.acc = outside

    return evaluate


def _nothing(row: Row) -> object:
    return None


def _filter(row: Row, items: list[object], each: Evaluate, start: Evaluate) -> list[object]:
    kept = []
    for row.index, row.value in enumerate(items):
        item = row.value
        if truthy(each(row)):
            kept.append(item)
    return kept


def _map(row: Row, items: list[object], each: Evaluate, start: Evaluate) -> list[object]:
    made = []
    for row.index, row.value in enumerate(items):
        made.append(each(row))
    return made


def _reduce(row: Row, items: list[object], each: Evaluate, start: Evaluate) -> object:
    row.acc = start(row)
    for row.index, row.value in enumerate(items):
        row.acc = each(row)
    return row.acc
