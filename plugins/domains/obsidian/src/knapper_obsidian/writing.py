"""Tools that write a note, add to it, or delete it."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, DeleteNotePath, Doc, NotePath, Record, ToolError, WriteNotePath
from knapper.vault.diff import diff
from knapper.vault.insert import insert
from knapper_obsidian.domain import Done, done, obsidian
from knapper_obsidian.naming import BY_NAME, EXACTLY, File, as_note, chosen, present
from knapper_obsidian.templates import expand

Inline = Annotated[bool, Doc("Without a line break between the two.")]


class Created(Record):
    """A new note, or one that took the place of another."""

    path: str
    created: bool
    overwritten: bool = False


@obsidian.tool(
    "write:notes",
    repeat="keyed",
    confirm="overwriting a note that is not empty",
    reach="the note of that name",
)
def obsidian_create_note(
    ctx: Context,
    name: Annotated[
        str,
        Doc("Its name or path from the vault's root, with or without .md.", min_length=1, max_length=1024),
    ],
    content: str = "",
    overwrite: Annotated[bool, Doc("Replace a note that is there; a person confirms it.")] = False,
    template: Annotated[NotePath | None, Doc("A template's name or path; content follows its text.")] = None,
) -> Done[Created]:
    """Create a note, and the folders on the way to it."""
    path = ctx.vault.authorise("write", as_note(name))
    text = content
    if template is not None:
        start = expand(ctx, template, path)
        text = insert(start, content, at_start=False, after_frontmatter=False, own_line=True)
    base = _replaced(ctx, path, text) if overwrite else None
    made = ctx.vault.write(path, text, mode="overwrite" if base else "create", prev_hash=base)
    return done(Created(path=made.path, created=True, overwritten=not made.created))


class Changed(Record):
    """A note that was added to."""

    path: str


@obsidian.tool("write:notes", repeat="keyed", reach=BY_NAME)
def obsidian_append_note(
    ctx: Context,
    content: str,
    file: File = None,
    path: Annotated[WriteNotePath | None, Doc(EXACTLY)] = None,
    inline: Inline = False,
) -> Done[Changed]:
    """Add text at the end of a note."""
    return _insert(ctx, chosen(ctx, file, path), content, at_start=False, inline=inline)


@obsidian.tool("write:notes", repeat="keyed", reach=BY_NAME, words="beginning top insert heading")
def obsidian_prepend_note(
    ctx: Context,
    content: str,
    file: File = None,
    path: Annotated[WriteNotePath | None, Doc(EXACTLY)] = None,
    inline: Inline = False,
) -> Done[Changed]:
    """Add text at the start of a note, below its properties."""
    return _insert(ctx, chosen(ctx, file, path), content, at_start=True, inline=inline)


class Deleted(Record):
    """A note that is gone, and where it can be found again."""

    path: str
    deleted: bool
    trash_path: str | None = None


@obsidian.tool("delete:notes", confirm="on every call", reach=BY_NAME)
def obsidian_delete_note(
    ctx: Context,
    file: File = None,
    path: Annotated[DeleteNotePath | None, Doc(EXACTLY)] = None,
    permanent: Annotated[bool, Doc("Do not keep it in the trash.")] = False,
) -> Done[Deleted]:
    """Delete a note: into the vault's trash, or for good. A person confirms it."""
    found = present(ctx, chosen(ctx, file, path))
    ctx.vault.authorise("delete", found)  # nobody is asked about what will be refused
    ctx.confirm(True, {"path": found, "permanent": permanent})
    gone = ctx.vault.delete(found, hard=permanent)
    return done(Deleted(path=gone.path, deleted=True, trash_path=gone.trash_path))


def _insert(ctx: Context, path: str, content: str, *, at_start: bool, inline: bool) -> Done[Changed]:
    _refuse_unread(ctx, path)
    added = content.replace("\r\n", "\n")  # the door gives a note of CRLF lines its own ends back

    def change(text: str) -> str:
        return insert(text, added, at_start=at_start, after_frontmatter=True, own_line=not inline)

    return done(Changed(path=ctx.vault.edit(path, change).path))


def _replaced(ctx: Context, path: str, text: str) -> str | None:
    """The content that a person agreed to replace; None where nothing is there."""
    if ctx.vault.exists(path) != "file":
        return None
    _refuse_unread(ctx, path)
    old = ctx.vault.read(path)
    shown = diff(path, old.data.decode(errors="replace"), text)
    ctx.confirm(bool(old.data.strip()), {"path": path, "overwrites_bytes": len(old.data)}, diff=shown)
    return old.hash


def _refuse_unread(ctx: Context, path: str) -> None:
    """Where changes have to name what they are based on, this contract has no way to."""
    if ctx.server.settings.writes.require_cas:
        message = f"changing {path!r} needs its hash here, which this tool does not take: use write_note or patch_note"
        raise ToolError("forbidden", message, path=path)
