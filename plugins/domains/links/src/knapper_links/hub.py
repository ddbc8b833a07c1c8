"""A hub note: its links, each with the list item or paragraph it stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from knapper.vault.markdown import Link, ListItem, Parsed, Section, parse

_MARKER = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_NOT_PROSE = " \t\r\n-–—:;,.·•|*_~=#>()[]!?/&+"


@dataclass(frozen=True, slots=True)
class Placed:
    """A link of the hub's body and what stands around it."""

    link: Link
    line: int
    col: int
    prose: str  # of the item or paragraph, without its links
    item: ListItem | None = None
    item_text: str = ""


class Hub:
    """A note's text with its links to other files; links in its properties and to itself are not among them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parsed: Parsed = parse(text)

    @cached_property
    def links(self) -> list[Placed]:
        return [
            self._placed(link)
            for link in self.parsed.links
            if link.path and not link.in_frontmatter and link.start >= 0
        ]

    def _placed(self, link: Link) -> Placed:
        item = self.item_of(link)
        section = self.section_of(link)
        start, end = (item.start, item.end) if item else (section.start, section.end)
        if item is None:
            return Placed(link, link.line + 1, link.col + 1, self.prose(start, end))
        written = _MARKER.sub("", self.text[start:end], count=1)
        return Placed(link, link.line + 1, link.col + 1, self.prose(start, end), item, written.rstrip())

    def item_of(self, link: Link) -> ListItem | None:
        """The innermost list item around a link."""
        around = [item for item in self.parsed.list_items if item.start <= link.start < item.end]
        return max(around, key=lambda item: item.start, default=None)

    def section_of(self, link: Link) -> Section:
        """The block of the note's top level around a link."""
        around = (section for section in self.parsed.sections if section.start <= link.start < section.end)
        return next(around, Section("paragraph", link.start, link.end))

    def prose(self, start: int, end: int) -> str:
        """What a stretch of the note says beside its links and marks."""
        parts, at = [], start
        for link in self.parsed.links:
            if start <= link.start and link.end <= end and not link.in_frontmatter:
                parts.append(self.text[at : link.start])
                at = link.end
        plain = " ".join([*parts, self.text[at:end]])
        plain = _QUOTE.sub("", _MARKER.sub("", plain, count=1))
        return " ".join(plain.split()).strip(_NOT_PROSE)
