"""Tools that add and remove tags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from knapper import Context, Doc, Record, ToolError, WriteNotePath
from knapper.index.rows import fold_tag
from knapper.vault import frontmatter
from knapper.vault.frontmatter import FrontmatterError
from knapper.vault.insert import insert
from knapper.vault.lines import line_end, line_start, next_line
from knapper.vault.markdown import Parsed, parse
from knapper.vault.markdown.tags import frontmatter_tags
from knapper_tags.domain import tags

Hash = Annotated[str | None, Doc("Only if the note still has this content_hash.")]
Place = Literal["frontmatter", "inline"]


class Added(Record):
    path: str
    added: bool
    content_hash: str
    updated_at: str


@tags.tool("write:notes", words="label mark hashtag categorise")
def add_tag(
    ctx: Context,
    path: WriteNotePath,
    tag: str,
    location: Annotated[
        Literal["frontmatter", "inline-end"], Doc("In the properties, or as a last line.")
    ] = "frontmatter",
    prev_hash: Hash = None,
) -> Added:
    """Add a tag to a note, unless it has it already."""
    name = _checked(tag)

    def change(text: str) -> str:
        if _has(text, name):
            return text
        if location == "frontmatter":
            return frontmatter.add_to_list(text, _key(text), name)
        return insert(text, f"#{name}", at_start=False, after_frontmatter=True, own_line=True)

    def checked(text: str) -> str:
        changed = change(text)
        if not _has(changed, name):  # below an open code block or comment, or in a property that is no list
            raise ToolError("invalid_input", f"at this place of {path!r} a tag would not be one", path=path)
        return changed

    with _explained(path):
        done = ctx.vault.edit(path, checked, prev_hash=prev_hash)
    return Added(
        path=done.path, added=done.hash != done.prev_hash, content_hash=done.hash, updated_at=done.at
    )


class RemovedTag(Record):
    path: str
    removed_from: list[Place]
    content_hash: str
    updated_at: str


@tags.tool("write:notes", words="label unmark untag hashtag delete")
def remove_tag(
    ctx: Context,
    path: WriteNotePath,
    tag: str,
    from_: Annotated[Literal["frontmatter", "inline", "all"], Doc("Where to remove it.")] = "all",
    prev_hash: Hash = None,
) -> RemovedTag:
    """Remove exactly this tag from a note; its child tags stay."""
    key = fold_tag(_checked(tag))
    places: list[Place] = []

    def change(text: str) -> str:
        places.clear()
        if from_ != "inline" and (items := _listed(text, key)):
            places.append("frontmatter")
            text = frontmatter.remove_from_list(text, _key(text), *items)
        if from_ != "frontmatter" and (found := _inline(parse(text), key)):
            places.append("inline")
            for start, end in reversed(found):
                text = _cut(text, start, end)
        return text

    with _explained(path):
        done = ctx.vault.edit(path, change, prev_hash=prev_hash)
    return RemovedTag(path=done.path, removed_from=places, content_hash=done.hash, updated_at=done.at)


@contextmanager
def _explained(path: str) -> Iterator[None]:
    try:
        yield
    except FrontmatterError as error:
        message = f"the properties of {path!r} cannot be changed: {error}"
        raise ToolError("invalid_input", message, path=path) from None


def _checked(tag: str) -> str:
    """A tag that Obsidian would read as one, without its hash."""
    name = tag.strip().removeprefix("#")
    found = parse(f"#{name}").tags
    if len(found) != 1 or found[0].tag != f"#{name}":
        raise ToolError(
            "invalid_input", f"{tag!r} is not a tag: letters, digits, _ - / and at least one that is no digit"
        )
    return name


def _has(text: str, name: str) -> bool:
    return fold_tag(name) in map(fold_tag, parse(text).all_tags)


def _key(text: str) -> str:
    """The property that holds the tags, as this note spells it."""
    names = frontmatter.read(text) or {}
    return "tags" if "tags" in names else next((name for name in names if name.lower() == "tags"), "tags")


def _listed(text: str, key: str) -> list[Any]:
    """The elements of the property, as written, that are this tag."""
    value = (frontmatter.read(text) or {}).get(_key(text))
    items = value if isinstance(value, list) else [value]
    return [item for item in items if [fold_tag(tag) for tag in frontmatter_tags({"tags": item})] == [key]]


def _inline(parsed: Parsed, key: str) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in parsed.tags if fold_tag(one.tag) == key]


def _cut(text: str, start: int, end: int) -> str:
    """Take a tag out with the blank before it; a line that held nothing else goes whole."""
    first, last = line_start(text, start), line_end(text, end)
    if not text[first:start].strip() and not text[end:last].strip():
        rest = text[next_line(text, end) :]
        return text[:first] + rest if rest or text.endswith("\n") else text[:first].removesuffix("\n")
    if start > first and text[start - 1] in " \t":
        return text[: start - 1] + text[end:]
    return text[:start] + text[end + (text[end : end + 1] in (" ", "\t")) :]
