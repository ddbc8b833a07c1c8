"""Tools that change a note's text."""

from __future__ import annotations

from difflib import unified_diff
from typing import Annotated, Any, Literal

import msgspec

from knapper import Context, DeletePath, Doc, Record, ToolError, WritePath
from knapper.vault import frontmatter as properties
from knapper.vault.edit import Anchor, EditError, Operation, edit_anchor, replace_string
from knapper.vault.insert import insert
from knapper.vault.markdown import parse
from knapper_notes.domain import notes

Hash = Annotated[str | None, Doc("Only if the note still has this content_hash.")]


class Written(Record):
    path: str
    mode_used: Literal["create", "overwrite"]
    was_created: bool
    content_hash: str
    prev_hash: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


@notes.tool("write:notes", repeat="keyed", confirm="overwriting a non-empty note without its prev_hash")
def write_note(
    ctx: Context,
    path: WritePath,
    content: str,
    frontmatter: Annotated[dict[str, Any] | None, Doc("Properties to set in the content.")] = None,
    mode: Literal["create", "overwrite", "upsert"] = "create",
    prev_hash: Hash = None,
    create_dirs: bool = True,
) -> Written:
    """Write a whole note. Overwriting text that was not read before (no prev_hash) needs a person's confirmation."""
    text = properties.merge(content, frontmatter) if frontmatter else content
    if mode != "create":
        _confirm_overwrite(ctx, path, text, prev_hash)
    done = ctx.vault.write(path, text, mode=mode, prev_hash=prev_hash, create_dirs=create_dirs)
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


@notes.tool("write:notes", repeat="keyed")
def append_note(
    ctx: Context,
    path: WritePath,
    content: str,
    position: Literal["end", "start"] = "end",
    after_frontmatter: Annotated[bool, Doc("With position=start: below the properties.")] = True,
    ensure_newline: Annotated[bool, Doc("Begin on a line of its own.")] = True,
    create_if_missing: bool = False,
) -> Appended:
    """Add text at the end or the start of a note, without touching what is there."""
    if ctx.vault.exists(path) is None and create_if_missing:
        done = ctx.vault.write(path, content, mode="create")
        return Appended(
            path=done.path,
            position_used=position,
            inserted_bytes=len(content.encode()),
            content_hash=done.hash,
            updated_at=done.at,
        )
    added = 0

    def change(text: str) -> str:
        nonlocal added
        new = insert(
            text,
            content,
            at_start=position == "start",
            after_frontmatter=after_frontmatter,
            own_line=ensure_newline,
        )
        added = len(new.encode()) - len(text.encode())
        return new

    done = ctx.vault.edit(path, change)
    return Appended(
        path=done.path,
        position_used=position,
        inserted_bytes=added,
        content_hash=done.hash,
        updated_at=done.at,
    )


class Where(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["heading", "block", "frontmatter", "line"]
    heading: str = ""
    block_id: str = ""
    line: int = 0

    def anchor(self) -> Anchor:
        return Anchor(self.type, self.heading, self.block_id, self.line)


class Patched(Record):
    path: str
    content_hash: str
    updated_at: str
    occurrences_replaced: int | None = None
    anchor_used: str | None = None


@notes.tool(
    "write:notes", confirm="a heading replace that drops more than 20 lines and over half of the body"
)
def patch_note(
    ctx: Context,
    path: WritePath,
    old_string: Annotated[str | None, Doc("Exact text to replace.")] = None,
    new_string: str | None = None,
    expected_occurrences: Annotated[int, Doc("How often old_string must be there.", ge=1)] = 1,
    anchor: Annotated[
        Where | None, Doc("Where: a heading (A::B for B below A), block, frontmatter or line.")
    ] = None,
    operation: Annotated[Operation | None, Doc("What to do at the anchor.")] = None,
    content: str | None = None,
    prev_hash: Hash = None,
) -> Patched:
    """Change a part of a note: an exact string, or what is under a heading, in a block, or on a line."""
    if (old_string is None) == (anchor is None):
        raise ToolError(
            "invalid_input", "give either old_string and new_string, or anchor, operation and content"
        )
    if old_string is not None:
        return _patch_string(ctx, path, old_string, new_string, expected_occurrences, prev_hash)
    if operation is None or content is None or anchor is None:
        raise ToolError("invalid_input", "an anchor needs operation and content")
    return _patch_anchor(ctx, path, anchor.anchor(), operation, content, prev_hash)


class Removed(Record):
    path: str
    deleted_at: str
    recoverable: bool
    trash_path: str | None = None


@notes.tool("delete:notes", destructive=True)
def delete_note(
    ctx: Context,
    path: DeletePath,
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


def _confirm_overwrite(ctx: Context, path: str, text: str, prev_hash: str | None) -> None:
    if ctx.vault.exists(path) != "file":
        return
    old = ctx.vault.read(path)
    if ctx.server.settings.writes.require_cas and prev_hash is None:
        raise ToolError("invalid_input", f"overwriting {path!r} needs its prev_hash here", path=path)
    unread = prev_hash is None or prev_hash != old.hash
    if unread and prev_hash is None and old.data.strip():
        ctx.confirm(True, {"path": path, "overwrites_bytes": len(old.data)}, diff=_diff(path, old.text, text))


def _patch_string(
    ctx: Context, path: str, old: str, new: str | None, expected: int, prev_hash: str | None
) -> Patched:
    if new is None:
        raise ToolError("invalid_input", "old_string needs a new_string; an empty one deletes")
    if old == new:
        raise ToolError("invalid_input", "old_string and new_string are the same: nothing would change")
    try:
        done = ctx.vault.edit(
            path, lambda text: replace_string(text, old, new, expected).text, prev_hash=prev_hash
        )
    except EditError as error:
        raise ToolError("invalid_input", str(error), path=path) from None
    return Patched(path=done.path, content_hash=done.hash, updated_at=done.at, occurrences_replaced=expected)


def _patch_anchor(
    ctx: Context,
    path: str,
    anchor: Anchor,
    operation: Operation,
    content: str,
    prev_hash: str | None,
) -> Patched:
    try:
        text = ctx.vault.read(path).text
        planned = edit_anchor(text, parse(text), anchor, operation, content)
        dropped, body = planned.dropped, text.count("\n") + 1
        if anchor.type == "heading" and dropped > 20 and dropped * 2 > body:
            ctx.confirm(True, {"path": path, "lines_dropped": dropped}, diff=_diff(path, text, planned.text))
        done = ctx.vault.edit(
            path,
            lambda now: edit_anchor(now, parse(now), anchor, operation, content).text,
            prev_hash=prev_hash,
        )
    except EditError as error:
        raise ToolError("invalid_input", str(error), path=path, candidates=error.candidates) from None
    if done.hash == done.prev_hash:
        raise ToolError(
            "invalid_input", "the note already has this text there: nothing was changed", path=path
        )
    return Patched(path=done.path, content_hash=done.hash, updated_at=done.at, anchor_used=planned.anchor)


def _diff(path: str, old: str, new: str) -> str:
    lines = unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=2)
    return "\n".join(list(lines)[:400])
