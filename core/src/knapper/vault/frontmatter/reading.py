"""Frontmatter as Obsidian sees it: names to values."""

from typing import Any

import msgspec

from knapper.vault.frontmatter import plain
from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.nodes import MAX_DEPTH, Node, compose, value


def load(block: str) -> dict[str, Any] | None:
    """The properties in the text between the `---` lines; None where there are none.

    Malformed YAML raises FrontmatterError, whose line counts from the block's first.
    """
    values = plain.read(block)
    if values is None:
        values = _parsed(block)
    return values or None


def _parsed(block: str) -> dict[str, Any]:
    try:
        root = compose(block)
    except FrontmatterError as error:
        return _json(block, error)
    return {} if root is None else mapping(root)


def mapping(root: Node) -> dict[str, Any]:
    """The values of a root node, which must be a mapping or null."""
    values = value(root)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise FrontmatterError("not a mapping of names to values", 1)
    return values


def _json(block: str, error: FrontmatterError) -> dict[str, Any]:
    # JSON escapes characters past U+FFFF as surrogate pairs, which YAML does not know.
    try:
        values = msgspec.json.decode(block) if block.lstrip().startswith("{") else None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise error from None
    if not isinstance(values, dict) or _depth(values) > MAX_DEPTH:
        raise error
    return values


def _depth(node: object) -> int:
    if isinstance(node, dict):
        return 1 + max(map(_depth, node.values()), default=0)
    if isinstance(node, list):
        return 1 + max(map(_depth, node), default=0)
    return 0
