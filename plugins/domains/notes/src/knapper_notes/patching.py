"""The tool that changes a part of a note."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from knapper import Context, Doc, Record, ToolError, WriteNotePath
from knapper.vault.diff import diff
from knapper.vault.edit import Anchor, Operation, edit_anchor, replace_string
from knapper.vault.files import Written
from knapper.vault.markdown import parse
from knapper_notes.domain import Hash, explained, notes

MOST_LINES_UNASKED = 20


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
    "write:notes",
    confirm="a heading replace that drops more than 20 lines and over half of the body",
    words="edit replace fix sentence paragraph section correct rewrite swap",
)
def patch_note(
    ctx: Context,
    path: WriteNotePath,
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


def _patch_string(
    ctx: Context, path: str, old: str, new: str | None, expected: int, prev_hash: str | None
) -> Patched:
    if new is None:
        raise ToolError("invalid_input", "old_string needs a new_string; an empty one deletes")
    with explained(path):
        done = ctx.vault.edit(
            path, lambda text: replace_string(text, old, new, expected).text, prev_hash=prev_hash
        )
    _check_changed(done)
    return Patched(path=done.path, content_hash=done.hash, updated_at=done.at, occurrences_replaced=expected)


def _patch_anchor(
    ctx: Context,
    path: str,
    anchor: Anchor,
    operation: Operation,
    content: str,
    prev_hash: str | None,
) -> Patched:
    used = ""

    def change(text: str) -> str:
        nonlocal used
        planned = edit_anchor(text, parse(text), anchor, operation, content)
        used = planned.anchor
        return planned.text

    with explained(path):
        if anchor.type == "heading" and operation == "replace":
            prev_hash = _confirm_drop(ctx, path, anchor, content, prev_hash)
        done = ctx.vault.edit(path, change, prev_hash=prev_hash)
    _check_changed(done)
    return Patched(path=done.path, content_hash=done.hash, updated_at=done.at, anchor_used=used)


def _confirm_drop(ctx: Context, path: str, anchor: Anchor, content: str, prev_hash: str | None) -> str | None:
    """Ask before most of a note goes; what is then replaced is what was looked at."""
    file = ctx.vault.read(path)
    parsed = parse(file.text)
    planned = edit_anchor(file.text, parsed, anchor, "replace", content)
    body = sum(1 for line in file.text[parsed.body :].splitlines() if line.strip())
    if planned.dropped > MOST_LINES_UNASKED and planned.dropped * 2 > body:
        change = {"path": path, "lines_dropped": planned.dropped}
        ctx.confirm(True, change, diff=diff(path, file.text, planned.text))
    return prev_hash or file.hash


def _check_changed(done: Written) -> None:
    if done.hash == done.prev_hash:
        raise ToolError(
            "invalid_input", "the note already has this text there: nothing was changed", path=done.path
        )
