"""A rule turned into functions once, so that a search can ask it of every note."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeAlias

from knapper.errors import ToolError
from knapper.jsonlogic.operators import ANY, DATA, VALUES, Operator
from knapper.jsonlogic.values import truthy

MAX_DEPTH = 64
MAX_OPS = 10_000
MAX_SIZE = 1_000_000  # characters and list items that one evaluation may make

BRANCHES: dict[str, tuple[int, int]] = {
    "if": (0, ANY),
    "?:": (0, ANY),
    "and": (1, ANY),
    "or": (1, ANY),
    "map": (2, 2),
    "filter": (2, 2),
    "all": (2, 2),
    "some": (2, 2),
    "none": (2, 2),
    "reduce": (2, 3),
}


class Run:
    """What one evaluation may still spend."""

    __slots__ = ("ops", "size")

    def __init__(self) -> None:
        self.ops = MAX_OPS
        self.size = MAX_SIZE

    def step(self) -> None:
        self.ops -= 1
        if self.ops < 0:
            raise ToolError("jsonlogic_error", f"the rule takes over {MAX_OPS} steps", max_ops=MAX_OPS)

    def made(self, value: Any) -> Any:
        if isinstance(value, (str, list)):
            self.size -= len(value)
            if self.size < 0:
                raise ToolError(
                    "jsonlogic_error",
                    f"the rule makes over {MAX_SIZE} characters or items",
                    max_size=MAX_SIZE,
                )
        return value


Node: TypeAlias = Callable[[Any, Run], Any]


class Rule:
    """A JsonLogic rule; jsonlogic_error where it is malformed, too deep or, when evaluated, too much work."""

    def __init__(self, logic: Any) -> None:
        self._node = _compiled(logic, 1)

    def __call__(self, data: Any) -> Any:
        """What the rule makes of some data."""
        return self._node(data, Run())

    def holds(self, data: Any) -> bool:
        """Whether what the rule makes of some data counts as true."""
        return truthy(self(data))


def _compiled(logic: Any, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise ToolError(
            "jsonlogic_error", f"the rule is nested over {MAX_DEPTH} levels deep", max_depth=MAX_DEPTH
        )
    if isinstance(logic, list):
        return _list([_compiled(item, depth + 1) for item in logic])
    if isinstance(logic, dict) and logic:
        return _operation(logic, depth)
    return _constant(logic)


def _operation(logic: dict[str, Any], depth: int) -> Node:
    if len(logic) > 1:
        raise ToolError(
            "jsonlogic_error", "an operation is an object with one key, its operator", keys=sorted(logic)
        )
    ((name, given),) = logic.items()
    nodes = [_compiled(item, depth + 1) for item in (given if isinstance(given, list) else [given])]
    least, most = _takes(name)
    if not least <= len(nodes) <= most:
        raise ToolError("jsonlogic_error", f"{name!r} does not take {len(nodes)} arguments", op=name)
    if name in VALUES:
        return _of_values(VALUES[name], nodes)
    if name in DATA:
        return _of_data(DATA[name], nodes)
    return _MAKERS[name](nodes)


def _takes(name: str) -> tuple[int, int]:
    if name in BRANCHES:
        return BRANCHES[name]
    operator = VALUES.get(name) or DATA.get(name)
    if operator is None:
        near = get_close_matches(name, [*VALUES, *DATA, *BRANCHES], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ToolError("jsonlogic_error", f"there is no operator {name!r}{hint}", op=name)
    return operator.least, operator.most


def _constant(value: Any) -> Node:
    def node(data: Any, run: Run) -> Any:
        run.step()
        return value

    return node


def _list(nodes: list[Node]) -> Node:
    def node(data: Any, run: Run) -> Any:
        run.step()
        return [one(data, run) for one in nodes]

    return node


def _of_values(operator: Operator, nodes: list[Node]) -> Node:
    def node(data: Any, run: Run) -> Any:
        run.step()
        return run.made(operator.fn(*[one(data, run) for one in nodes]))

    return node


def _of_data(operator: Operator, nodes: list[Node]) -> Node:
    def node(data: Any, run: Run) -> Any:
        run.step()
        return operator.fn(data, *[one(data, run) for one in nodes])

    return node


def _if(nodes: list[Node]) -> Node:
    """Conditions and values in turn; a last one without a condition is the answer where no condition holds."""

    def node(data: Any, run: Run) -> Any:
        run.step()
        for at in range(0, len(nodes) - 1, 2):
            if truthy(nodes[at](data, run)):
                return nodes[at + 1](data, run)
        return nodes[-1](data, run) if len(nodes) % 2 else None

    return node


def _first(wanted: bool) -> Callable[[list[Node]], Node]:
    """The first value that counts as wanted, else the last: `or` wants true, `and` wants false."""

    def make(nodes: list[Node]) -> Node:
        def node(data: Any, run: Run) -> Any:
            run.step()
            value = None
            for one in nodes:
                value = one(data, run)
                if truthy(value) == wanted:
                    break
            return value

        return node

    return make


def _map(nodes: list[Node]) -> Node:
    def node(data: Any, run: Run) -> Any:
        run.step()
        return run.made([nodes[1](item, run) for item in _items(nodes[0], data, run)])

    return node


def _filter(nodes: list[Node]) -> Node:
    def node(data: Any, run: Run) -> Any:
        run.step()
        return run.made([item for item in _items(nodes[0], data, run) if truthy(nodes[1](item, run))])

    return node


def _quantifier(decides: bool, then: bool, empty: bool) -> Callable[[list[Node]], Node]:
    """An answer that the first item whose test is `decides` settles; `not then` where none is."""

    def make(nodes: list[Node]) -> Node:
        def node(data: Any, run: Run) -> Any:
            run.step()
            items = _items(nodes[0], data, run)
            if not items:
                return empty
            settled = any(truthy(nodes[1](item, run)) == decides for item in items)
            return then if settled else not then

        return node

    return make


def _reduce(nodes: list[Node]) -> Node:
    def node(data: Any, run: Run) -> Any:
        run.step()
        value = nodes[2](data, run) if len(nodes) > 2 else None
        for item in _items(nodes[0], data, run):
            value = nodes[1]({"current": item, "accumulator": value}, run)
        return value

    return node


def _items(node: Node, data: Any, run: Run) -> list[Any]:
    found = node(data, run)
    return found if isinstance(found, list) else []


_MAKERS: dict[str, Callable[[list[Node]], Node]] = {
    "if": _if,
    "?:": _if,
    "and": _first(False),
    "or": _first(True),
    "map": _map,
    "filter": _filter,
    "reduce": _reduce,
    "all": _quantifier(False, False, False),
    "some": _quantifier(True, True, False),
    "none": _quantifier(True, False, True),
}
