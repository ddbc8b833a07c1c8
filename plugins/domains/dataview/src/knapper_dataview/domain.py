"""The dataview domain itself, and what the index keeps of every note for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from knapper import Domain

if TYPE_CHECKING:
    from knapper.index.rows import Note

dataview = Domain("dataview", summary="Check and run Dataview queries and expressions.", group="structured")


class PageRow(msgspec.Struct):
    """A note's fields, lists and links, as one blob."""

    data: bytes


class TagRow(msgspec.Struct):
    """A tag of a note, in lower case and with its sign."""

    tag: str
    indexed: ClassVar[tuple[str, ...]] = ("tag",)


@dataview.extract(PageRow)
def pages(note: Note) -> list[PageRow]:
    """What queries may ask of a note."""
    from knapper_dataview.engine import encode_page, extract
    from knapper_dataview.outlining import outline_of

    parsed = note.parsed
    outline = outline_of(parsed, note.text.split("\n"))
    body = parsed.line(parsed.body) if parsed.body else 0
    return [PageRow(encode_page(extract(note.path, note.text, parsed.frontmatter, body, outline)))]


@dataview.extract(TagRow, version=2)
def tagged(note: Note) -> list[TagRow]:
    """The tags by which FROM finds a note."""
    from knapper_dataview.engine.extraction import tags_of

    parsed = note.parsed
    found = tags_of([tag.tag for tag in parsed.tags], parsed.frontmatter or {})
    return [TagRow(tag) for tag in dict.fromkeys(tag.lower() for tag in found)]
