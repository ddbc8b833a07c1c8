"""The note parser: what a Markdown text holds, as Obsidian's metadata cache sees it."""

from knapper.vault.markdown.model import (
    Block,
    Footnote,
    Heading,
    Link,
    ListItem,
    Parsed,
    Range,
    Section,
    Tag,
)
from knapper.vault.markdown.parsing import parse

__all__ = [
    "Block",
    "Footnote",
    "Heading",
    "Link",
    "ListItem",
    "Parsed",
    "Range",
    "Section",
    "Tag",
    "parse",
]
