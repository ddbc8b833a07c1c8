"""Tags: list them, find notes by them, add and remove them."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from knapper import Context, Doc, Domain, NotePath, Page, Record, ToolError, WritePath, hookimpl
from knapper.vault import frontmatter
from knapper.vault.insert import insert
from knapper.vault.markdown import Parsed, parse

tags = Domain("tags", summary="List tags, find notes by tag, add and remove tags.", group="metadata")

Source = Literal["inline", "frontmatter", "both"]
Hash = Annotated[str | None, Doc("Only if the note still has this content_hash.")]


class TagCount(Record):
    tag: str
    count: int
    source: Source


@tags.tool("read:notes")
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


@tags.tool("read:notes")
def get_note_tags(ctx: Context, path: NotePath) -> NoteTags:
    """List a note's tags, with the line and column of each in the text."""
    parsed = parse(ctx.vault.read(path).text)
    found: dict[str, NoteTag] = {}
    for tag in parsed.frontmatter_tags:
        found.setdefault(tag.casefold(), NoteTag(tag=tag.lstrip("#"), source="frontmatter"))
    for one in parsed.tags:
        entry = found.setdefault(one.tag.casefold(), NoteTag(tag=one.tag.lstrip("#"), source="inline"))
        entry.source = "inline" if entry.source == "inline" else "both"
        line, col = parsed.line_col(one.start)
        entry.positions = [*(entry.positions or []), Position(line=line + 1, col=col + 1)]
    return NoteTags(path=path, tags=list(found.values()))


class Added(Record):
    path: str
    added: bool
    content_hash: str
    updated_at: str


@tags.tool("write:notes")
def add_tag(
    ctx: Context,
    path: WritePath,
    tag: str,
    location: Annotated[
        Literal["frontmatter", "inline-end"], Doc("In the properties, or as a last line.")
    ] = "frontmatter",
    prev_hash: Hash = None,
) -> Added:
    """Add a tag to a note, unless it has it already."""
    name = _checked(tag)

    def change(text: str) -> str:
        if name.casefold() in _all(parse(text)):
            return text
        if location == "frontmatter":
            return frontmatter.add_to_list(text, "tags", name)
        return insert(text, f"#{name}\n", at_start=False, after_frontmatter=True, own_line=True)

    done = ctx.vault.edit(path, change, prev_hash=prev_hash)
    return Added(
        path=done.path, added=done.hash != done.prev_hash, content_hash=done.hash, updated_at=done.at
    )


class RemovedTag(Record):
    path: str
    removed_from: list[Literal["frontmatter", "inline"]]
    content_hash: str
    updated_at: str


@tags.tool("write:notes")
def remove_tag(
    ctx: Context,
    path: WritePath,
    tag: str,
    from_: Annotated[Literal["frontmatter", "inline", "all"], Doc("Where to remove it.")] = "all",
    prev_hash: Hash = None,
) -> RemovedTag:
    """Remove exactly this tag from a note; its child tags stay."""
    name = _checked(tag).casefold()
    places: list[Literal["frontmatter", "inline"]] = []

    def change(text: str) -> str:
        places.clear()
        if from_ != "inline":
            listed = [t.lstrip("#") for t in parse(text).frontmatter_tags if t.lstrip("#").casefold() == name]
            if listed:
                places.append("frontmatter")
                text = frontmatter.remove_from_list(text, "tags", *listed, *(f"#{t}" for t in listed))
        if from_ != "frontmatter" and (found := _inline(parse(text), name)):
            places.append("inline")
            for start, end in reversed(found):
                text = _cut(text, start, end)
        return text

    done = ctx.vault.edit(path, change, prev_hash=prev_hash)
    return RemovedTag(path=done.path, removed_from=places, content_hash=done.hash, updated_at=done.at)


class Tagged(Record):
    path: str
    matched_tags: list[str]
    source: Source


@tags.tool("read:notes")
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


def _checked(tag: str) -> str:
    """A tag that Obsidian would read as one, without its hash."""
    name = tag.strip().removeprefix("#")
    found = parse(f"#{name}").tags
    if len(found) != 1 or found[0].tag != f"#{name}":
        raise ToolError(
            "invalid_input", f"{tag!r} is not a tag: letters, digits, _ - / and at least one that is no digit"
        )
    return name


def _all(parsed: Parsed) -> set[str]:
    return {tag.lstrip("#").casefold() for tag in parsed.all_tags}


def _inline(parsed: Parsed, name: str) -> list[tuple[int, int]]:
    return [(t.start, t.end) for t in parsed.tags if t.tag.lstrip("#").casefold() == name]


def _cut(text: str, start: int, end: int) -> str:
    """Take a tag out with the blank before it; a line that held nothing else goes whole."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    if not text[line_start:start].strip() and not text[end:line_end].strip():
        return text[:line_start] + text[min(line_end + 1, len(text)) :]
    if start > line_start and text[start - 1] in " \t":
        return text[: start - 1] + text[end:]
    return text[:start] + re.sub(r"\A[ \t]", "", text[end:])


@hookimpl
def knapper_domains() -> Domain:
    return tags
