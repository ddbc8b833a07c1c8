"""History: the copies kept from before each change, to look at, to bring back, and to undo a session with."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal

from knapper import Context, Doc, Domain, Page, ReadPath, Record, ToolError, WritePath, hookimpl
from knapper.index.rows import is_note
from knapper.store.snapshots import Snapshot, Snapshots
from knapper.vault.diff import diff
from knapper.vault.paths import hidden
from knapper_history.undo import Step, plan, uncertain

history = Domain(
    "history",
    summary="Look at earlier versions of notes, restore them, undo a session.",
    group="notes",
    # A session is undone whole, with what it did to these; nothing else here reads or writes them.
    exempt=(".obsidian/bookmarks.json", ".obsidian/workspaces.json"),
)

Id = Annotated[int, Doc("From list_snapshots.", ge=1)]


class Taken(Record):
    snapshot_id: int
    path: str
    content_hash: str
    created_at: str


@history.tool("write:notes", words="backup version checkpoint save")
def snapshot_note(ctx: Context, path: WritePath) -> Taken:
    """Keep a copy of a note as it is now."""
    file = ctx.vault.read(path)
    kept = _snapshots(ctx)
    number = kept.take(ctx.vault.vault, file.path, file.data, "snapshot", ctx.session, "snapshot_note")
    kept.landed([number], [file.hash])
    return Taken(snapshot_id=number, path=file.path, content_hash=file.hash, created_at=ctx.stamp())


class Version(Record):
    snapshot_id: int
    path: str
    op: str
    created_at: str
    content_hash: str | None = None
    size: int | None = None
    tool: str | None = None
    session: str | None = None
    moved_to: str | None = None


@history.tool("read:notes", words="history versions revisions earlier previous backups changes")
def list_snapshots(
    ctx: Context,
    path: Annotated[ReadPath | None, Doc("Only of this note, also where it is gone.")] = None,
    page: Page = Page(),
) -> Page.Of[Version]:
    """List the versions that were kept from before changes, newest first."""
    kept, allow = _snapshots(ctx), partial(_shown, ctx)
    rows = kept.list(ctx.vault.vault, path, limit=page.limit + 1, before=page.after, allow=allow)
    total = kept.count(ctx.vault.vault, path, allow=allow)
    more = len(rows) > page.limit
    items = [_version(row) for row in rows[: page.limit]]
    return page.of(items, total, items[-1].snapshot_id if more else None)


class VersionText(Record):
    snapshot_id: int
    path: str
    created_at: str
    existed: bool
    content: str | None = None
    content_hash: str | None = None


@history.tool(
    "read:notes",
    reach="the stored versions of a file, and no file itself",
    words="history version revision earlier previous old before",
)
def read_snapshot(ctx: Context, snapshot_id: Id) -> VersionText:
    """Read what a note held before a change."""
    found = _permitted(ctx, snapshot_id, "read")
    data = _snapshots(ctx).read(ctx.vault.vault, snapshot_id)
    return VersionText(
        snapshot_id=found.id,
        path=found.path,
        created_at=_iso(found.created_at),
        existed=data is not None,
        content=None if data is None else _text(data, found.path),
        content_hash=found.hash,
    )


class Restored(Record):
    path: str
    snapshot_id: int
    content_hash: str
    updated_at: str
    prev_hash: str | None = None


def _may_restore(ctx: Context, args: Any) -> None:
    """Before a confirmation is used up: the snapshot must be there, and its path the caller's to write."""
    _permitted(ctx, args.snapshot_id, "write")


def _comes_back(ctx: Context, args: Any) -> tuple[dict[str, Any], str]:
    """The note, and what restoring would change in it as it is now."""
    path = _permitted(ctx, args.snapshot_id, "write").path
    old = ctx.vault.read(path).data if ctx.vault.exists(path) == "file" else b""
    new = _snapshots(ctx).read(ctx.vault.vault, args.snapshot_id) or b""
    shown = diff(path, old.decode(errors="replace"), new.decode(errors="replace"))
    return {"path": path, "replaces": ctx.vault.known_hash(path)}, shown


@history.tool(
    "write:notes",
    destructive=True,
    precheck=_may_restore,
    preview=_comes_back,
    reach="the note that the snapshot was taken of",
    words="revert rollback recover undelete undo earlier previous version",
)
def restore_note(
    ctx: Context,
    snapshot_id: Id,
    prev_hash: Annotated[str | None, Doc("Only if the note still has this content_hash.")] = None,
) -> Restored:
    """Bring a note back to what it was before a change. A person confirms it; what is there now is kept too."""
    found = _permitted(ctx, snapshot_id, "write")
    data = _snapshots(ctx).read(ctx.vault.vault, snapshot_id)
    if data is None:
        raise ToolError(
            "invalid_input",
            f"before this change {found.path!r} did not exist; delete it instead",
            path=found.path,
        )
    done = ctx.vault.write(found.path, data, mode="upsert", prev_hash=prev_hash)
    return Restored(
        path=done.path,
        snapshot_id=snapshot_id,
        content_hash=done.hash,
        updated_at=done.at,
        prev_hash=done.prev_hash,
    )


class Undone(Record):
    path: str
    action: Literal["restored", "removed"]


class UndoneSession(Record):
    session_id: str
    files: list[Undone]
    dry_run: bool
    undone_at: str | None = None


@history.tool(
    "write:notes",
    "delete:notes",
    rate="write",
    confirm="a real run",
    reach="every file that the session changed",
    words="revert rollback everything all changes",
)
def undo_session(
    ctx: Context,
    session_id: Annotated[
        str | None,
        Doc("This connection's, or one from start_session; yours if absent, another's needs admin:vault."),
    ] = None,
    dry_run: bool = True,
) -> UndoneSession:
    """Take back all that one session changed, or nothing where a file has been changed again since."""
    session = session_id or ctx.session or _asked(ctx, "sessions.current")
    if session is None:
        raise ToolError("invalid_input", "this connection has no session; name one")
    owner = _asked(ctx, "sessions.owner", session)
    yours = session == ctx.session or (owner is not None and owner == ctx.caller.name)
    if not yours and not ctx.caller.may("admin:vault"):
        raise ToolError(
            "forbidden", "another session's changes need the scope 'admin:vault'", required=["admin:vault"]
        )
    within = [] if owner else _asked(ctx, "sessions.within", session) or []
    changes = _snapshots(ctx).session_changes(ctx.vault.vault, session, *within)
    steps = plan(changes)
    for step in steps:
        ctx.vault.authorise("write" if step.before else "delete", step.path)
    _refuse(uncertain(changes, lambda path: _hash_now(ctx, path)))
    _refuse_moved_on(ctx, steps)
    if not dry_run:
        ctx.confirm(True, {"session": session, "files": [step.path for step in steps]})
        _apply(ctx, steps)
    return UndoneSession(
        session_id=session,
        files=[Undone(path=step.path, action="restored" if step.before else "removed") for step in steps],
        dry_run=dry_run,
        undone_at=None if dry_run else ctx.stamp(),
    )


def _asked(ctx: Context, service: str, *arguments: str) -> Any:
    """What the sessions domain knows; nothing where it is not installed, and nobody begins sessions."""
    try:
        ask = ctx.service(service)
    except ToolError:
        return None
    return ask(ctx, *arguments)


def _refuse_moved_on(ctx: Context, steps: list[Step]) -> None:
    """Somebody else's later change is not ours to undo."""
    _refuse([step.path for step in steps if _hash_now(ctx, step.path) != step.after])


def _refuse(later: list[str]) -> None:
    if later:
        raise ToolError(
            "concurrent_modification",
            f"{later[0]!r} is not as this session is known to have left it",
            paths=later,
        )


def _apply(ctx: Context, steps: list[Step]) -> None:
    kept, vault = _snapshots(ctx), ctx.vault.vault
    with ctx.vault.transaction():
        _refuse_moved_on(ctx, steps)  # again: a person may have taken minutes to confirm
        for step in steps:
            data = kept.read(vault, step.snapshot) if step.before else None
            if data is None:
                ctx.vault.delete(step.path, hard=True)
            else:
                ctx.vault.write(step.path, data, mode="upsert")


def _hash_now(ctx: Context, path: str) -> str | None:
    return ctx.vault.read(path).hash if ctx.vault.exists(path) == "file" else None


def _snapshots(ctx: Context) -> Snapshots:
    return ctx.server.snapshots()


def _permitted(ctx: Context, id: int, op: Literal["read", "write"]) -> Snapshot:
    """A snapshot of a path the caller has access to; another's is as if it were not there."""
    found = _snapshots(ctx).get(ctx.vault.vault, id)
    if not _shown(ctx, found.path):
        raise ToolError("invalid_input", f"there is no snapshot {id}", snapshot_id=id)
    ctx.vault.authorise(op, found.path)
    scope = f"{op}:{'notes' if is_note(found.path) else 'attachments'}"
    if not ctx.caller.may(scope):
        raise ToolError("forbidden", f"{found.path!r} needs the scope {scope!r}", required=[scope])
    return found


def _shown(ctx: Context, path: str) -> bool:
    """Whether a caller may know of a path; Obsidian's own files are nobody's here."""
    return not hidden(path) and ctx.index.readable(path)


def _version(row: Snapshot) -> Version:
    return Version(
        snapshot_id=row.id,
        path=row.path,
        op=row.op,
        created_at=_iso(row.created_at),
        content_hash=row.hash,
        size=row.size,
        tool=row.tool,
        session=row.session,
        moved_to=row.moved_to,
    )


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolError("invalid_input", f"{path!r} was not UTF-8 text", path=path) from None


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@hookimpl
def knapper_domains() -> Domain:
    return history
