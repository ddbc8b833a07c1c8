"""The syntax tree of an expression; every node knows the character that it is about."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, number, true, false or null."""

    value: str | int | float | bool | None
    position: int


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression between slashes."""

    source: str
    flags: str
    position: int


@dataclass(frozen=True, slots=True)
class Items:
    """A list in brackets."""

    items: tuple["Node", ...]
    position: int


@dataclass(frozen=True, slots=True)
class Name:
    """A bare name: a property, a variable, or one of note, file, formula, this."""

    name: str
    position: int


@dataclass(frozen=True, slots=True)
class Member:
    """A field by name, `a.b`."""

    of: "Node"
    name: str
    position: int


@dataclass(frozen=True, slots=True)
class Index:
    """An element by value, `a[b]`."""

    of: "Node"
    key: "Node"
    position: int


@dataclass(frozen=True, slots=True)
class Call:
    """A global function where `of` is None, otherwise a method."""

    of: "Node | None"
    name: str
    arguments: tuple["Node", ...]
    position: int


@dataclass(frozen=True, slots=True)
class Unary:
    """`!a` or `-a`."""

    operator: str
    operand: "Node"
    position: int


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator between two operands; `joined` is the property that `a-b` may also be the name of."""

    operator: str
    left: "Node"
    right: "Node"
    position: int
    joined: str | None = None


Node: TypeAlias = Literal | Pattern | Items | Name | Member | Index | Call | Unary | Binary


def children(node: Node) -> list[Node]:
    """Give the nodes directly inside a node, in reading order."""
    match node:
        case Items():
            return list(node.items)
        case Member():
            return [node.of]
        case Index():
            return [node.of, node.key]
        case Call():
            return [*([node.of] if node.of else []), *node.arguments]
        case Unary():
            return [node.operand]
        case Binary():
            return [node.left, node.right]
    return []
