"""YAML as a tree of nodes that know where they stand in the text: what both reading and splicing work on."""

from dataclasses import dataclass, field
from typing import Any

from knapper.vault.frontmatter.scalars import key_text, resolve

MAX_DEPTH = 64

_TYPED_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))


@dataclass(slots=True, eq=False)
class Node:
    """One YAML node; `end` is where its text ends, but of a block collection or scalar only where the next begins."""

    kind: str  # scalar, sequence, mapping, alias
    start: int
    end: int
    style: str = ""  # scalars: "", ' " | >; collections: "flow" or "block"
    text: str = ""
    tag: str | None = None
    anchor: str | None = None
    items: list["Node"] = field(default_factory=list)
    keys: list["Node"] = field(default_factory=list)
    target: "Node | None" = None
    weight: int = 1


def compose(block: str) -> Node | None:
    """Parse a frontmatter block into its root node; None where it holds nothing."""
    from knapper.vault.frontmatter.composing import composed  # a YAML library, where `plain` cannot read

    return composed(block)


def value(node: Node) -> Any:
    """The Python value of a node: only None, bool, int, float, str, list and dict."""
    if node.kind == "scalar":
        return _scalar(node)
    if node.kind == "sequence":
        return [value(item) for item in node.items]
    if node.kind == "mapping":
        pairs = zip(node.keys, node.items, strict=True)
        return {key_text(value(key)): value(item) for key, item in pairs}
    assert node.target is not None
    return value(node.target)


def _scalar(node: Node) -> Any:
    if node.tag is None:
        return resolve(node.text) if node.style == "" else node.text
    if node.tag in _TYPED_TAGS:
        return resolve(node.text)
    return node.text
