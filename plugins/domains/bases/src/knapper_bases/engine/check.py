"""What can be known to be wrong with an expression before any file is looked at."""

from collections.abc import Iterator

from knapper_bases.engine.arguments import check_count
from knapper_bases.engine.base import Base
from knapper_bases.engine.errors import BasesError, UnknownFunction
from knapper_bases.engine.functions import FUNCTIONS
from knapper_bases.engine.jsregex import compiled
from knapper_bases.engine.members import METHOD_NAMES
from knapper_bases.engine.nodes import Call, Node, Pattern, children
from knapper_bases.engine.parser import parse
from knapper_bases.engine.plan import FilterTree


def problems(expression: str) -> list[BasesError]:
    """Find what no file could make right: unreadable text, unknown functions, wrong numbers of arguments."""
    try:
        return [wrong.within(expression) for node in _walk(parse(expression)) for wrong in _faults(node)]
    except BasesError as wrong:
        return [wrong.within(expression)]


def base_problems(base: Base) -> list[BasesError]:
    """Find the problems of every expression of a base."""
    trees = [base.filters, *(view.filters for view in base.views)]
    formulas = [*base.formulas.values(), *base.summaries.values()]
    return [
        *(wrong for tree in trees for wrong in filter_problems(tree)),
        *(wrong for expression in formulas for wrong in problems(expression)),
    ]


def filter_problems(tree: FilterTree | None) -> list[BasesError]:
    """Find the problems of every expression of a filter."""
    return [wrong for expression in expressions(tree) for wrong in problems(expression)]


def expressions(tree: FilterTree | None) -> list[str]:
    """Give the expressions of a filter."""
    if tree is None or isinstance(tree, str):
        return [] if tree is None else [tree]
    return [expression for part in tree.parts for expression in expressions(part)]


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(children(node))


def _faults(node: Node) -> list[BasesError]:
    try:
        if isinstance(node, Call):
            _check_call(node)
        elif isinstance(node, Pattern):
            compiled(node.source, node.flags)
    except BasesError as wrong:
        wrong.position = node.position
        return [wrong]
    return []


def _check_call(node: Call) -> None:
    if node.of is not None:
        if node.name not in METHOD_NAMES:
            raise UnknownFunction(node.name)
    elif node.name == "if":
        check_count("if", len(node.arguments), 2, 3)
    elif node.name not in FUNCTIONS:
        raise UnknownFunction(node.name)
    else:
        _, least, most = FUNCTIONS[node.name]
        check_count(node.name, len(node.arguments), least, most)
