"""What answers consist of: results, how fresh they are, and what the caller should know."""

from __future__ import annotations

import time
from typing import Any, Literal

import msgspec

from knapper import Context, Record, ToolError
from knapper.index.ids import note_id
from knapper.index.queries.files import FileRow

State = Literal["fresh", "pending", "updating", "stale", "incompatible", "unknown"]
EmbeddingState = Literal["disabled", "ready", "unavailable", "stale", "incompatible"]


class Warning_(Record):  # noqa: N801 - Warning is Python's own
    code: str
    message: str


class Freshness(Record):
    state: State
    last_successful_update_at: str | None
    indexed: int
    total: int
    embedding_state: EmbeddingState


class Metadata(Record, omit_defaults=False):
    aliases: list[str]
    tags: list[str]
    date: str | None
    created: str | None
    updated: str | None
    attachment_count: int


class Result(Record, omit_defaults=False):
    id: str
    type: Literal["note", "chunk"]
    note_id: str
    chunk_index: int | None
    path: str
    title: str | None
    heading: str | None
    heading_path: list[str]
    snippet: str
    score: float
    reason: str
    metadata: Metadata
    page: int | msgspec.UnsetType = msgspec.UNSET  # of an attachment whose text was read


def freshness(ctx: Context) -> Freshness:
    """How far what is indexed agrees with the files."""
    status = ctx.index.status()
    state: State = "fresh"
    if status.state == "degraded":
        state = "stale"
    elif status.reconciled_at is None or not status.notes_ready:
        state = "updating" if status.state == "indexing" else "unknown"
    elif status.state == "indexing":
        state = "updating"
    return Freshness(
        state=state,
        last_successful_update_at=stamp(status.reconciled_at),
        indexed=status.indexed,
        total=status.total,
        embedding_state=embedding_state(ctx),
    )


def must_exist(ctx: Context) -> None:
    """INDEX_NOT_FOUND where the index does not know a single file yet, which an empty answer would hide."""
    status = ctx.index.status()
    if status.reconciled_at is None and not status.total:
        raise ToolError("INDEX_NOT_FOUND", "the vault is not indexed yet", state=status.state)


def stamp(seconds: float | None) -> str | None:
    """A moment as ISO 8601 in UTC."""
    return None if seconds is None else time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))


def embedding_state(ctx: Context) -> EmbeddingState:
    index = ctx.index
    if not index.has_embedder:
        return "disabled"
    if index.embedding_problem:
        return "unavailable"
    return "ready" if index.vectors_ready else "stale"


def about(fresh: Freshness) -> list[Warning_]:
    """What a caller should know about an index that is not fresh."""
    if fresh.state == "fresh":
        return []
    code = f"INDEX_{fresh.state.upper()}"
    text = (
        f"the index is {fresh.state}: {fresh.indexed} of {fresh.total} files; answers come from what it has"
    )
    return [Warning_(code=code, message=text)]


def metadata(ctx: Context, row: FileRow) -> Metadata:
    """The properties of a note that are handed out; all others stay in the note."""
    properties = row.properties
    return Metadata(
        aliases=_texts(properties.get("aliases")),
        tags=[tag for tag, _ in ctx.index.tags_of(row.path)],
        date=_text(properties.get("date")),
        created=_text(properties.get("created")),
        updated=_text(properties.get("updated")),
        attachment_count=ctx.index.attachment_count(row.path),
    )


def note_result(ctx: Context, row: FileRow, score: float, reason: str) -> Result:
    """A note that has no passages, as a result of its own."""
    return Result(
        id=note_id(row.path),
        type="note",
        note_id=note_id(row.path),
        chunk_index=None,
        path=row.path,
        title=row.title,
        heading=None,
        heading_path=[],
        snippet="",
        score=score,
        reason=reason,
        metadata=metadata(ctx, row),
    )


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
