"""Capture: an inbox of thoughts that become notes later."""

from __future__ import annotations

from secrets import token_hex
from typing import Annotated, Any

from pydantic import Field

from knapper import Context, Doc, Domain, Migration, Page, Record, Section, ToolError, WritePath, hookimpl
from knapper.vault import frontmatter

TABLE = """
CREATE TABLE capture_queue (
    vault_id TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT,
    content TEXT NOT NULL,
    tags TEXT NOT NULL,
    source TEXT,
    target_path_hint TEXT,
    captured_at REAL NOT NULL,
    committed_at REAL,
    committed_path TEXT,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX capture_queue_by_time ON capture_queue (vault_id, captured_at, id);
"""
PREVIEW = 200


class CaptureSettings(Section):
    """Where captures may become notes without a person's confirmation."""

    folders: list[str] = Field(default=["Inbox"])


capture = Domain(
    "capture",
    summary="An inbox: capture now, make a note of it later.",
    group="knowledge",
    settings=CaptureSettings,
    tables=[Migration("20260101_001", TABLE)],
)


class Captured(Record):
    capture_id: str
    captured_at: str
    vault: str


@capture.tool(
    "write:capture",
    repeat="keyed",
    reach="the capture queue, no file",
    words="jot quick idea thought reminder later store",
)
def enqueue_capture(
    ctx: Context,
    content: Annotated[str, Doc("What to keep.", min_length=1, max_length=200_000)],
    title: str | None = None,
    tags: list[str] | None = None,
    source: Annotated[str | None, Doc("Where it comes from.")] = None,
    target_path_hint: Annotated[str | None, Doc("Where it might go.")] = None,
) -> Captured:
    """Put something into the inbox, to be made a note of later."""
    number, now = f"cap_{token_hex(12)}", ctx.now()
    row = (ctx.vault.vault, number, title, content, ",".join(tags or []), source, target_path_hint, now)
    with ctx.store.write() as conn:
        conn.exec_driver_sql(
            "INSERT INTO capture_queue (vault_id, id, title, content, tags, source, target_path_hint, captured_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    return Captured(capture_id=number, captured_at=ctx.stamp(), vault=ctx.vault.vault)


class Queued(Record):
    capture_id: str
    content_preview: str
    tags: list[str]
    captured_at: str
    title: str | None = None
    source: str | None = None
    target_path_hint: str | None = None
    committed_at: str | None = None


@capture.tool("read:capture", words="inbox waiting ideas thoughts unprocessed")
def list_capture_queue(
    ctx: Context,
    committed: Annotated[bool, Doc("Those that have become notes, instead of those that wait.")] = False,
    source: Annotated[str | None, Doc("Only from this source.")] = None,
    page: Page = Page(),
) -> Page.Of[Queued]:
    """List what is in the inbox, oldest first."""
    where = f"vault_id = ? AND committed_at IS {'NOT ' if committed else ''}NULL"
    values: list[Any] = [ctx.vault.vault]
    if source is not None:
        where, values = f"{where} AND source = ?", [*values, source]
    after = page.after
    later, bound = ("", []) if after is None else (" AND (captured_at, id) > (?, ?)", list(after))
    with ctx.store.read() as conn:
        total = conn.exec_driver_sql(
            f"SELECT count(*) FROM capture_queue WHERE {where}", tuple(values)
        ).scalar_one()
        rows = conn.exec_driver_sql(
            "SELECT id, content, tags, captured_at, title, source, target_path_hint, committed_at FROM capture_queue "
            f"WHERE {where}{later} ORDER BY captured_at, id LIMIT ?",
            (*values, *bound, page.limit + 1),
        ).all()
    shown = rows[: page.limit]
    items = [
        Queued(
            capture_id=row.id,
            content_preview=row.content[:PREVIEW],
            tags=[tag for tag in row.tags.split(",") if tag],
            captured_at=ctx.stamp(row.captured_at),
            title=row.title,
            source=row.source,
            target_path_hint=row.target_path_hint,
            committed_at=None if row.committed_at is None else ctx.stamp(row.committed_at),
        )
        for row in shown
    ]
    return page.of(items, total, [shown[-1].captured_at, shown[-1].id] if len(rows) > page.limit else None)


class Committed(Record):
    capture_id: str
    target_path: str
    committed_at: str
    content_hash: str


@capture.tool(
    "write:capture",
    "write:notes",
    confirm="a target outside the vault's capture folders",
    words="inbox process file turn convert",
)
def commit_capture(
    ctx: Context,
    capture_id: str,
    target_path: WritePath,
    frontmatter_overrides: Annotated[dict[str, Any] | None, Doc("Properties of the note.")] = None,
    delete_from_queue: bool = True,
) -> Committed:
    """Make a note of something in the inbox."""
    row = _waiting(ctx, capture_id)
    ctx.confirm(
        not _inside(target_path, ctx.settings.folders), {"capture_id": capture_id, "target_path": target_path}
    )
    done = ctx.vault.write(target_path, _note(row, frontmatter_overrides), mode="create")
    with ctx.store.write() as conn:
        if delete_from_queue:
            conn.exec_driver_sql(
                "DELETE FROM capture_queue WHERE vault_id = ? AND id = ?", (ctx.vault.vault, capture_id)
            )
        else:
            conn.exec_driver_sql(
                "UPDATE capture_queue SET committed_at = ?, committed_path = ? WHERE vault_id = ? AND id = ?",
                (ctx.now(), done.path, ctx.vault.vault, capture_id),
            )
    return Committed(
        capture_id=capture_id, target_path=done.path, committed_at=done.at, content_hash=done.hash
    )


@capture.gauge
def capture_queue_depth(store: Any, vault: str) -> float:
    """Captures that wait to become notes."""
    with store.read() as conn:
        waiting = "SELECT count(*) FROM capture_queue WHERE vault_id = ? AND committed_at IS NULL"
        return float(conn.exec_driver_sql(waiting, (vault,)).scalar_one())


def _waiting(ctx: Context, number: str) -> Any:
    with ctx.store.read() as conn:
        row = conn.exec_driver_sql(
            "SELECT * FROM capture_queue WHERE vault_id = ? AND id = ? AND committed_at IS NULL",
            (ctx.vault.vault, number),
        ).one_or_none()
    if row is None:
        raise ToolError("invalid_input", f"nothing waits in the inbox under {number!r}", capture_id=number)
    return row


def _note(row: Any, overrides: dict[str, Any] | None) -> str:
    tags = [tag for tag in row.tags.split(",") if tag]
    properties = {"title": row.title, "tags": tags or None, "source": row.source, **(overrides or {})}
    kept = {name: value for name, value in properties.items() if value is not None}
    text = row.content if row.content.endswith("\n") else row.content + "\n"
    return frontmatter.merge(text, kept) if kept else text


def _inside(path: str, folders: list[str]) -> bool:
    return any(path.startswith(f"{folder.strip('/')}/") for folder in folders)


@hookimpl
def knapper_domains() -> Domain:
    return capture
