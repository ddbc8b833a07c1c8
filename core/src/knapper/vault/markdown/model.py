"""What a parsed note holds. Offsets count code points from the start of the text; lines and columns count from 0."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from knapper.vault.markdown.tags import frontmatter_tags


class Heading(Struct, array_like=True, gc=False):
    """A heading of the note's top level; `text` keeps its markup."""

    level: int
    text: str
    line: int
    start: int
    end: int


class Section(Struct, array_like=True, gc=False):
    """A block of the note's top level: yaml, heading, paragraph, list, code, callout and so on."""

    type: str
    start: int
    end: int
    id: str | None = None


class ListItem(Struct, array_like=True, gc=False):
    """A list item without its child items.

    `parent` is the line of the parent item; of an item without one it is minus the first line of its list (-1 for
    line 0). `task` is the character in the checkbox. `start` is where the item's indentation begins, not its marker.
    """

    start: int
    end: int
    line: int
    col: int
    parent: int
    task: str | None
    id: str | None
    text: str


class Block(Struct, array_like=True, gc=False):
    """What a block id names; the id as written, while `Parsed.blocks` is keyed by it in lower case."""

    id: str
    start: int
    end: int


class Tag(Struct, array_like=True, gc=False):
    """A tag in the body, with its `#`."""

    tag: str
    start: int
    end: int


class Footnote(Struct, array_like=True, gc=False):
    """A footnote's definition or one of its references."""

    id: str
    start: int
    end: int


class Range(Struct, array_like=True, gc=False):
    """A stretch of code (fenced, indented, inline), comment (obsidian, html) or maths (block, inline)."""

    kind: str
    start: int
    end: int
    info: str = ""


class Link(Struct, array_like=True, gc=False):
    """A link or embed.

    `target` is as written; `path` and `subpath` (with its `#`) are what it names, percent-decoded in Markdown links.
    A frontmatter link has the `key` it stands under, and `start` -1 where YAML wrote it other than verbatim.
    """

    kind: str
    embed: bool
    target: str
    path: str
    subpath: str
    display: str
    original: str
    start: int
    end: int
    line: int
    col: int
    in_frontmatter: bool = False
    key: str | None = None

    @property
    def link(self) -> str:
        """The link text as Obsidian's cache has it."""
        return self.path + self.subpath


class Parsed(Struct):
    """Everything the parser found in one note."""

    length: int
    line_starts: list[int]
    astral: list[int]
    frontmatter: dict[str, Any] | None = None
    frontmatter_error: str | None = None
    frontmatter_span: tuple[int, int] | None = None
    body: int = 0
    headings: list[Heading] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    list_items: list[ListItem] = field(default_factory=list)
    blocks: dict[str, Block] = field(default_factory=dict)
    tags: list[Tag] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    footnotes: list[Footnote] = field(default_factory=list)
    footnote_refs: list[Footnote] = field(default_factory=list)
    code: list[Range] = field(default_factory=list)
    comments: list[Range] = field(default_factory=list)
    maths: list[Range] = field(default_factory=list)

    @property
    def all_tags(self) -> list[str]:
        """All tags with their `#`, those of the frontmatter first; duplicates stay."""
        return self.frontmatter_tags + [tag.tag for tag in self.tags]

    @property
    def frontmatter_tags(self) -> list[str]:
        """The valid tags of the `tags` property, with their `#`."""
        return frontmatter_tags(self.frontmatter)

    def add_block(self, id: str, start: int, end: int) -> None:
        """Name a block; of two blocks with one id the first keeps it."""
        self.blocks.setdefault(id.lower(), Block(id, start, end))

    def line(self, offset: int) -> int:
        """The line an offset is on."""
        return bisect_right(self.line_starts, offset) - 1

    def line_col(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset."""
        line = bisect_right(self.line_starts, offset) - 1
        return line, offset - self.line_starts[line]

    def utf16(self, offset: int) -> int:
        """The offset as Obsidian counts, in UTF-16 code units."""
        return offset + bisect_left(self.astral, offset)

    def in_code(self, offset: int) -> bool:
        """Whether an offset is inside code."""
        at = bisect_right(self.code, offset, key=_start) - 1
        return at >= 0 and offset < self.code[at].end

    def tasks(self) -> Iterator[ListItem]:
        """The list items with a checkbox."""
        return (item for item in self.list_items if item.task is not None)


def _start(span: Range) -> int:
    return span.start
