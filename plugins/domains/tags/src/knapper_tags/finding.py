"""Tools that only look."""

from __future__ import annotations

from typing import Annotated, Literal

from knapper import Context, Doc, NotePath, Page, Record, ToolError
from knapper.index.rows import fold_tag
from knapper.vault.markdown import parse
from knapper_tags.domain import Source, tags


class TagCount(Record):
    tag: str
    count: int
    source: Source


@tags.tool("read:notes", words="labels hashtags categories used count often")
def list_tags(
    ctx: Context,
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    include_inline: bool = True,
    include_frontmatter: bool = True,
    sort: Literal["count", "name"] = "count",
    page: Page = Page(),
) -> Page.Of[TagCount]:
    """List every tag with the number of notes that have it."""
    rows, total, last = ctx.index.list_tags(
        page, root=root, inline=include_inline, frontmatter=include_frontmatter, by_count=sort == "count"
    )
    return page.of(
        [TagCount(tag=tag, count=count, source=source) for tag, count, source in rows], total, last
    )


class Position(Record):
    line: int
    col: int


class NoteTag(Record):
    tag: str
    source: Source
    positions: list[Position] | None = None


class NoteTags(Record):
    path: str
    tags: list[NoteTag]


@tags.tool("read:notes", words="labels hashtags categories")
def get_note_tags(ctx: Context, path: NotePath) -> NoteTags:
    """List a note's tags, with the line and column of each in the text."""
    parsed = parse(ctx.vault.read(path).text)
    found: dict[str, NoteTag] = {}
    for tag in parsed.frontmatter_tags:
        found.setdefault(fold_tag(tag), NoteTag(tag=tag.lstrip("#"), source="frontmatter"))
    for one in parsed.tags:
        entry = found.setdefault(fold_tag(one.tag), NoteTag(tag=one.tag.lstrip("#"), source="inline"))
        entry.source = "inline" if entry.source == "inline" else "both"
        line, col = parsed.line_col(one.start)
        entry.positions = [*(entry.positions or []), Position(line=line + 1, col=col + 1)]
    return NoteTags(path=path, tags=list(found.values()))


class Tagged(Record):
    path: str
    matched_tags: list[str]
    source: Source


@tags.tool("read:notes", words="labelled labeled tagged hashtag category everything")
def find_notes_by_tag(
    ctx: Context,
    tag: str | None = None,
    tags: Annotated[list[str] | None, Doc("Several tags.")] = None,
    require_all: Annotated[bool, Doc("All of them, not any.")] = False,
    hierarchical: Annotated[bool, Doc("A tag stands for its children too.")] = True,
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    page: Page = Page(),
) -> Page.Of[Tagged]:
    """Find the notes that have a tag, or any or all of several."""
    wanted = [*([tag] if tag else []), *(tags or [])]
    if not wanted:
        raise ToolError("invalid_input", "give tag or tags")
    rows, total, last = ctx.index.notes_by_tag(
        page, wanted, every=require_all, hierarchical=hierarchical, root=root
    )
    return page.of(
        [Tagged(path=path, matched_tags=found, source=source) for path, found, source in rows], total, last
    )
