"""Changing texts wherever they stand in frontmatter, each in the quotes it has."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from knapper.vault.frontmatter.block import find
from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.nested import same
from knapper.vault.frontmatter.nodes import Node, compose, value
from knapper.vault.frontmatter.reading import load
from knapper.vault.frontmatter.splicing import Splice, apply
from knapper.vault.frontmatter.writing import Style, flow

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")


def replace_strings(text: str, new: Mapping[str, str]) -> str:
    """Replace every text value of a note's frontmatter that equals a key of `new`; names stay."""
    block = find(text)
    if block is None:
        return text
    inner = text[block.start : block.end]
    root = compose(inner)
    if root is None:
        return text
    found = [node for node in _texts(root) if value(node) in new]
    changed = apply(inner, *(_replacement(inner, node, new[value(node)]) for node in found))
    if not same(load(changed), _mapped(load(inner), new)):
        raise FrontmatterError("cannot edit safely")
    return text[: block.start] + changed + text[block.end :]


def _texts(node: Node) -> Iterator[Node]:
    if node.kind == "scalar" and isinstance(value(node), str):
        yield node
    for item in node.items:
        yield from _texts(item)


def _replacement(inner: str, node: Node, new: str) -> Splice:
    start = _PROPERTIES.match(inner, node.start, node.end)
    begin = start.end() if start else node.start
    if node.style in ("|", ">"):
        return Splice(begin, node.end, inner[begin : node.end].replace(node.text.strip(), new.strip(), 1))
    return Splice(begin, node.end, flow(new, Style(), node.style or "plain"))


def _mapped(item: Any, new: Mapping[str, str]) -> Any:
    if isinstance(item, dict):
        return {key: _mapped(inner, new) for key, inner in item.items()}
    if isinstance(item, list):
        return [_mapped(inner, new) for inner in item]
    return new.get(item, item) if isinstance(item, str) else item
