"""Where the parts of a YAML block end: the node tree's marks, made exact."""

import re
from dataclasses import dataclass

from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.nodes import Node, value
from knapper.vault.frontmatter.scalars import key_text
from knapper.vault.lines import line_start

_COLON = re.compile(r"\s*:")
_DASH = re.compile(r"^( *)-(?=\s)", re.MULTILINE)
_KEEPS_BREAKS = re.compile(r"[|>][0-9]?\+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One key and its value in a mapping."""

    key: Node
    value: Node


def entries(node: Node, name: str) -> list[Entry]:
    """The entries of a mapping that carry a name, in order; the last is the one that counts."""
    pairs = zip(node.keys, node.items, strict=True)
    return [Entry(key, item) for key, item in pairs if key_text(value(key)) == name]


def tail(text: str, node: Node) -> int:
    """The offset just past a node's last character of its own."""
    if node.kind in ("sequence", "mapping") and node.style == "block":
        return tail(text, node.items[-1])
    if node.style in ("|", ">"):
        return _block_scalar_tail(text, node)
    return node.end


def _block_scalar_tail(text: str, node: Node) -> int:
    own = text[node.start : node.end]
    header = own[own.index(node.style) :]
    if _KEEPS_BREAKS.match(header):
        return node.start + len(own.removesuffix("\n").removesuffix("\r"))
    return node.start + len(own.rstrip(" \t\r\n"))


def after_colon(text: str, entry: Entry) -> int:
    """The offset just past the colon of an entry."""
    found = _COLON.match(text, entry.key.end)
    if found is None:
        raise FrontmatterError("cannot edit safely")
    return found.end()


def owns_its_line(text: str, entry: Entry) -> bool:
    """Whether nothing but indentation stands before a key."""
    return not text[line_start(text, entry.key.start) : entry.key.start].strip(" ")


def dashes(text: str, node: Node) -> list[int]:
    """The line starts of a block sequence's items."""
    starts: list[int] = []
    pattern, position = _DASH, line_start(text, node.start)
    for item in node.items:
        found = pattern.search(text, position)
        if found is None or found.start() > item.start:
            raise FrontmatterError("cannot edit safely")
        starts.append(found.start())
        pattern, position = re.compile(f"^({found[1]})-(?=\\s)", re.MULTILINE), tail(text, item)
    return starts
