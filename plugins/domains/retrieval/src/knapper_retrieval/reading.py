"""get_note and get_chunk: what an id stands for."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from knapper import Alias, Context, Doc, Record, ToolError
from knapper.index.ids import chunk_id, note_id
from knapper.index.queries.files import FileRow
from knapper.index.queries.ranked import ChunkRow
from knapper_retrieval import answers, checks
from knapper_retrieval.answers import Freshness, Metadata, Warning_
from knapper_retrieval.domain import retrieval
from knapper_retrieval.finding import NoteId

MARKDOWN: Literal["text/markdown; charset=utf-8"] = "text/markdown; charset=utf-8"
PLAIN: Literal["text/plain; charset=utf-8"] = "text/plain; charset=utf-8"
MOST_BYTES = 204_800


class Linked(Record, omit_defaults=False):
    target: str
    path: str | None
    note_id: str | None


class Links(Record, omit_defaults=False):
    resolved: list[Linked]
    unresolved: list[str]


class Note(Record):
    id: str
    path: str
    title: str
    metadata: Metadata
    content: str
    content_type: str
    size: int
    freshness: Freshness
    warnings: list[Warning_]
    links: Links | None = None
    attachments: list[str] | None = None


@retrieval.tool("read:notes")
def get_note(
    ctx: Context,
    note_id: NoteId,
    allow_large: Annotated[bool, Doc("Also a note over 200 KiB."), Alias("allowLarge")] = False,
) -> Note:
    """Read a whole note by its id, with its links and attachments."""
    path = _path(ctx, note_id)
    row = ctx.index.file(path)
    if row is None:
        raise _no_note()
    content, size = _content(ctx, row)
    if size > MOST_BYTES and not allow_large:
        raise ToolError(
            "QUERY_TOO_LARGE", f"the note is larger than {MOST_BYTES} bytes", size=size, limit=MOST_BYTES
        )
    links, attachments = _links(ctx, path)
    fresh = answers.freshness(ctx)
    return Note(
        id=note_id,
        path=path,
        title=row.title or row.name,
        metadata=answers.metadata(ctx, row),
        content=content,
        content_type=MARKDOWN if row.note else PLAIN,
        size=size,
        freshness=fresh,
        warnings=answers.about(fresh),
        links=links if links.resolved or links.unresolved else None,
        attachments=attachments or None,
    )


def _content(ctx: Context, row: FileRow) -> tuple[str, int]:
    """A note's text as it is now, and its bytes; of an attachment what was read of it."""
    if not row.note:
        text = ctx.index.text(row.path) or ""
        return text, len(text.encode())
    try:
        file = ctx.vault.read(row.path)
        return file.text, len(file.data)
    except ToolError as error:
        if error.code in ("note_not_found", "acl_denied"):
            raise _no_note() from None
        raise


class Chunk(Record, omit_defaults=False):
    id: str
    note_id: str
    chunk_index: int
    path: str
    title: str
    heading: str | None
    heading_path: list[str]
    metadata: Metadata
    content: str
    content_type: str
    size: int
    freshness: Freshness
    warnings: list[Warning_]
    page: int | msgspec.UnsetType = msgspec.UNSET


@retrieval.tool("read:notes")
def get_chunk(
    ctx: Context,
    note_id: NoteId,
    chunk_index: Annotated[int, Doc("The passage's place in its note, from 0."), Alias("chunkIndex")],
) -> Chunk:
    """Read one passage by its note's id and its place."""
    if chunk_index < 0:
        raise ToolError("INVALID_PARAMETER", "chunk_index is negative", field="chunk_index")
    row = find_chunk(ctx, checks.note_id(note_id), chunk_index)
    file = ctx.index.file(row.path)
    if file is None:
        raise _no_chunk()
    fresh = answers.freshness(ctx)
    return Chunk(
        id=row.id,
        note_id=row.note_id,
        chunk_index=row.number,
        path=row.path,
        title=row.title,
        heading=row.headings[-1] if row.headings else None,
        heading_path=list(row.headings),
        metadata=answers.metadata(ctx, file),
        content=row.text,
        content_type=MARKDOWN if file.note else PLAIN,
        size=len(row.text.encode()),
        freshness=fresh,
        warnings=answers.about(fresh),
        page=msgspec.UNSET if row.page is None else row.page,
    )


def find_chunk(ctx: Context, note: str, number: int) -> ChunkRow:
    """The passage an id stands for, or CHUNK_NOT_FOUND."""
    path = ctx.index.note_of(note)
    rows = ctx.index.chunks_of(path) if path is not None else []
    found = next((row for row in rows if row.number == number), None)
    if found is None or found.id != chunk_id(found.path, number):
        raise _no_chunk()
    return found


def find_note(ctx: Context, note: str) -> str:
    """The path an id stands for, or NOTE_NOT_FOUND."""
    return _path(ctx, note)


def _path(ctx: Context, note: str) -> str:
    path = ctx.index.note_of(checks.note_id(note))
    if path is None:
        raise _no_note()
    return path


def _links(ctx: Context, path: str) -> tuple[Links, list[str]]:
    resolved: dict[str, Linked] = {}
    unresolved: dict[str, None] = {}
    attachments: dict[str, None] = {}
    for link in ctx.index.outgoing(path):
        if link.target is None:
            if link.path:
                unresolved[link.path] = None
        elif link.target.lower().endswith((".md", ".markdown")):
            if link.target != path:
                entry = Linked(target=link.path, path=link.target, note_id=note_id(link.target))
                resolved.setdefault(link.target, entry)
        else:
            attachments[link.target] = None
    return Links(resolved=list(resolved.values()), unresolved=list(unresolved)), list(attachments)


def _no_note() -> ToolError:
    return ToolError("NOTE_NOT_FOUND", "no note has this id")


def _no_chunk() -> ToolError:
    return ToolError("CHUNK_NOT_FOUND", "no passage has this id")
