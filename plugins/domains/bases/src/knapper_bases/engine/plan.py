"""What a filter says about every file that it lets through, for an index to narrow by."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.nodes import Binary, Call, Index, Literal, Member, Name, Node
from knapper_bases.engine.parser import parse


@dataclass(frozen=True, slots=True)
class And:
    """All of these hold."""

    parts: tuple["FilterTree", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of these holds."""

    parts: tuple["FilterTree", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """None of these holds."""

    parts: tuple["FilterTree", ...]


FilterTree: TypeAlias = str | And | Or | Not


@dataclass(frozen=True, slots=True)
class PropertyEquals:
    """The property of this name, in any case of letters, is exactly this text, number or boolean."""

    name: str
    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class HasTag:
    """The file has one of these tags, or one nested in them, in any case of letters."""

    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InFolder:
    """The file lies in this folder or below it."""

    folder: str


@dataclass(frozen=True, slots=True)
class HasExtension:
    """The file has exactly this extension."""

    ext: str


@dataclass(frozen=True, slots=True)
class LinksTo:
    """The file has a link that leads to this path."""

    path: str


Fact: TypeAlias = PropertyEquals | HasTag | InFolder | HasExtension | LinksTo


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Facts that all hold for each matching file; without facts, any file may match."""

    facts: tuple[Fact, ...] = ()


def plan(tree: FilterTree | None, this: str | None = None) -> Narrowing:
    """Find the facts that a filter implies, given the path that `this` stands for."""
    return Narrowing(tuple(dict.fromkeys(_facts(tree, this)))) if tree is not None else Narrowing()


def _facts(tree: FilterTree, this: str | None) -> list[Fact]:
    if isinstance(tree, And):
        return [fact for part in tree.parts for fact in _facts(part, this)]
    if isinstance(tree, Or):
        return _any_of([_facts(part, this) for part in tree.parts])
    if not isinstance(tree, str):
        return []
    try:
        return _of_node(parse(tree), this)
    except BasesError:
        # The filter itself reports that it cannot be read.
        return []


def _any_of(choices: list[list[Fact]]) -> list[Fact]:
    """What holds whichever of the choices does: where each has a tag, one of these tags is there."""
    if len(choices) == 1:
        return choices[0]
    tags = [next((fact.tags for fact in facts if isinstance(fact, HasTag)), ()) for facts in choices]
    return [HasTag(tuple(dict.fromkeys(tag for some in tags for tag in some)))] if tags and all(tags) else []


def _of_node(node: Node, this: str | None) -> list[Fact]:
    if isinstance(node, Binary):
        if node.operator == "&&":
            return _of_node(node.left, this) + _of_node(node.right, this)
        if node.operator == "||":
            return _any_of([_of_node(node.left, this), _of_node(node.right, this)])
        return _of_equality(node) if node.operator == "==" else []
    if isinstance(node, Call) and node.of is not None and _is_file(node.of):
        return _of_call(node, this)
    return []


def _of_equality(node: Binary) -> list[Fact]:
    left, right = node.left, node.right
    if isinstance(left, Literal):
        left, right = right, left
    if not isinstance(right, Literal) or right.value is None:
        return []
    if isinstance(left, Member) and _is_file(left.of):
        return [HasExtension(right.value)] if left.name == "ext" and isinstance(right.value, str) else []
    name = _property_name(left)
    return [PropertyEquals(name, right.value)] if name is not None and _is_exact(name, right.value) else []


def _is_exact(name: str, value: object) -> bool:
    # A text that may be a date or a link, and a tag, equals other spellings too.
    return not isinstance(value, str) or (
        value.strip()[:1] not in "[0123456789" and name.casefold() != "tags"
    )


def _property_name(node: Node) -> str | None:
    if isinstance(node, Name):
        return None if node.name in ("file", "note", "formula", "this") else node.name
    if not isinstance(node, Member | Index) or not isinstance(node.of, Name) or node.of.name != "note":
        return None
    if isinstance(node, Member):
        return node.name
    return node.key.value if isinstance(node.key, Literal) and isinstance(node.key.value, str) else None


def _is_file(node: Node) -> bool:
    if isinstance(node, Member):
        return node.name == "file" and _is_file(node.of)
    return isinstance(node, Name) and node.name == "file"


def _of_call(node: Call, this: str | None) -> list[Fact]:
    fact = _CALLS.get(node.name)
    return fact(node.arguments, this) if fact and node.arguments else []


def _texts(arguments: tuple[Node, ...]) -> list[str] | None:
    values = [item.value for item in arguments if isinstance(item, Literal) and isinstance(item.value, str)]
    return values if len(values) == len(arguments) else None


def _tag_fact(arguments: tuple[Node, ...], this: str | None) -> list[Fact]:
    tags = _texts(arguments)
    return [HasTag(tuple(tag.removeprefix("#") for tag in tags))] if tags else []


def _folder_fact(arguments: tuple[Node, ...], this: str | None) -> list[Fact]:
    texts = _texts(arguments)
    folder = texts[0].strip("/") if texts else ""
    return [InFolder(folder)] if folder else []


def _link_fact(arguments: tuple[Node, ...], this: str | None) -> list[Fact]:
    wanted = arguments[0]
    if isinstance(wanted, Member) and wanted.name == "file":
        wanted = wanted.of
    return [LinksTo(this)] if this and isinstance(wanted, Name) and wanted.name == "this" else []


_CALLS: dict[str, Callable[[tuple[Node, ...], str | None], list[Fact]]] = {
    "hasTag": _tag_fact,
    "inFolder": _folder_fact,
    "hasLink": _link_fact,
}
