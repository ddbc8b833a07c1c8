"""Tools that write a whole note, add to it, or delete it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from knapper import Context, DeleteNotePath, Doc, Record, ToolError, WriteNotePath
from knapper.vault import frontmatter as properties
from knapper.vault.diff import diff
from knapper.vault.files import Written as Stored
from knapper.vault.insert import insert
from knapper_notes.domain import Hash, explained, notes

Mode = Literal["create", "overwrite", "upsert"]


class Written(Record):
    path: str
    mode_used: Literal["create", "overwrite"]
    was_created: bool
    content_hash: str
    prev_hash: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


@notes.tool(
    "write:notes",
    repeat="keyed",
    confirm="overwriting a non-empty note without its prev_hash",
    words="create new save draft compose page",
)
def write_note(
    ctx: Context,
    path: WriteNotePath,
    content: str,
    frontmatter: Annotated[dict[str, Any] | None, Doc("Properties to set in the content.")] = None,
    mode: Annotated[Mode, Doc("create never overwrites, overwrite never creates.")] = "create",
    prev_hash: Hash = None,
    create_dirs: bool = True,
) -> Written:
    """Write a whole note. Overwriting text that was not read before (no prev_hash) needs a person's confirmation."""
    with explained(path):
        text = properties.merge(content, frontmatter) if frontmatter else content
    base = prev_hash if mode == "create" else _based_on(ctx, path, text, prev_hash)
    if mode == "upsert" and base is None:
        mode = "create"  # nothing was there to be confirmed, so nothing may be overwritten
    done = ctx.vault.write(path, text, mode=mode, prev_hash=base, create_dirs=create_dirs)
    return Written(
        path=done.path,
        mode_used="create" if done.created else "overwrite",
        was_created=done.created,
        content_hash=done.hash,
        prev_hash=done.prev_hash,
        created_at=done.at if done.created else None,
        updated_at=None if done.created else done.at,
    )


class Appended(Record):
    path: str
    position_used: Literal["end", "start"]
    inserted_bytes: int
    content_hash: str
    updated_at: str


@notes.tool("write:notes", repeat="keyed", words="insert bullet line bottom continue log")
def append_note(
    ctx: Context,
    path: WriteNotePath,
    content: str,
    position: Literal["end", "start"] = "end",
    after_frontmatter: Annotated[bool, Doc("With position=start: below the properties.")] = True,
    ensure_newline: Annotated[bool, Doc("Keep the text on lines of its own.")] = True,
    create_if_missing: bool = False,
    prev_hash: Hash = None,
) -> Appended:
    """Add text at the end or the start of a note, without touching what is there."""
    crlf, added = False, 0

    def change(text: str) -> str:
        nonlocal added
        one_kind = "\n" in text and "\r" not in text
        new = insert(
            text,
            content.replace("\r\n", "\n") if one_kind else content,
            at_start=position == "start",
            after_frontmatter=after_frontmatter,
            own_line=ensure_newline,
        )
        added = len(new.encode()) - len(text.encode()) + crlf * (new.count("\n") - text.count("\n"))
        return new

    done = _created(ctx, path, change) if create_if_missing and prev_hash is None else None
    if done is None:
        before = ctx.vault.read(path).text
        _require_hash(ctx, path, prev_hash)
        crlf = before.count("\r\n") == before.count("\n") == before.count("\r") > 0
        done = ctx.vault.edit(path, change, prev_hash=prev_hash)
    return Appended(
        path=done.path,
        position_used=position,
        inserted_bytes=added,
        content_hash=done.hash,
        updated_at=done.at,
    )


def _created(ctx: Context, path: str, change: Callable[[str], str]) -> Stored | None:
    """Begin a note with the text; None where there is one, or somebody else was faster."""
    if ctx.vault.exists(path) is not None:
        return None
    try:
        return ctx.vault.write(path, change(""), mode="create")
    except ToolError as error:
        if error.code != "note_exists":
            raise
        return None


class Removed(Record):
    path: str
    deleted_at: str
    recoverable: bool
    trash_path: str | None = None


def _is_there(ctx: Context, args: Any) -> None:
    """Nobody is asked to confirm the deletion of nothing."""
    if ctx.index.readable(args.path) and ctx.vault.exists(args.path) != "file":
        near = ctx.index.nearest(args.path)
        raise ToolError("note_not_found", f"there is no note {args.path!r}", path=args.path, suggestions=near)


def _goes(ctx: Context, args: Any) -> tuple[dict[str, Any], str]:
    """The text that would be gone, where the caller may read it."""
    if not ctx.index.readable(args.path):
        return {}, ""
    old = ctx.vault.read(args.path)
    return {"deletes_bytes": len(old.data)}, diff(args.path, old.data.decode(errors="replace"), "")


@notes.tool(
    "delete:notes",
    destructive=True,
    precheck=_is_there,
    preview=_goes,
    words="remove erase discard trash throw",
)
def delete_note(
    ctx: Context,
    path: DeleteNotePath,
    hard: Annotated[bool, Doc("Do not keep it in the trash.")] = False,
) -> Removed:
    """Delete a note: into the vault's trash, or for good. A person confirms it."""
    done = ctx.vault.delete(path, hard=hard)
    return Removed(
        path=done.path,
        deleted_at=done.at,
        recoverable=done.trash_path is not None,
        trash_path=done.trash_path,
    )


def _based_on(ctx: Context, path: str, text: str, prev_hash: str | None) -> str | None:
    """The content that may be overwritten: what the caller has read, or what a person has just been shown."""
    if prev_hash is not None or ctx.vault.exists(path) != "file":
        return prev_hash
    _require_hash(ctx, path, prev_hash)
    old = ctx.vault.read(path)
    if old.data.strip():
        change = {"path": path, "overwrites_bytes": len(old.data)}
        ctx.confirm(True, change, diff=diff(path, old.data.decode(errors="replace"), text))
    return old.hash


def _require_hash(ctx: Context, path: str, prev_hash: str | None) -> None:
    if ctx.server.settings.writes.require_cas and prev_hash is None:
        raise ToolError("invalid_input", f"changing {path!r} needs its prev_hash here", path=path)
