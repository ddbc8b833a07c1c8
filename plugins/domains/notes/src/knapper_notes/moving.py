"""Tools that give a note another path."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, DeleteNotePath, Doc, NotePath, Record, ToolError, WriteNotePath
from knapper.vault.files import BOM
from knapper.vault.markdown import parse
from knapper.vault.moves import move_files, rehomed
from knapper_notes.domain import notes


class MovedNote(Record):
    from_: str
    to: str
    moved_at: str
    backlinks_updated: int
    files_touched: list[str]
    new_hash: str


@notes.tool(
    "write:notes",
    "delete:notes",
    rate="write",
    confirm="crossing a top-level folder, or overwrite_target",
    reach="notes and canvases that link to it",
    words="rename relocate archive folder file",
)
def move_note(
    ctx: Context,
    from_: Annotated[DeleteNotePath, Doc("Where it is.")],
    to: Annotated[WriteNotePath, Doc("Where it shall be.")],
    update_backlinks: Annotated[bool, Doc("Rewrite every link to it, and its own relative links.")] = True,
    overwrite_target: bool = False,
) -> MovedNote:
    """Move or rename a note; every link to it is rewritten, all files or none."""
    if from_ == to:
        raise ToolError("invalid_input", "from and to are the same path", path=to)
    if ctx.vault.exists(from_) != "file":
        raise ToolError(
            "note_not_found", f"there is no note {from_!r}", path=from_, suggestions=ctx.index.nearest(from_)
        )
    taken = ctx.vault.exists(to) is not None
    if taken and not overwrite_target:
        raise ToolError("note_exists", f"{to!r} is taken", path=to)
    ctx.confirm(overwrite_target or _top(from_) != _top(to), {"from": from_, "to": to, "overwrites": taken})
    done = move_files(
        ctx.vault, ctx.index, {from_: to}, update_links=update_backlinks, overwrite=overwrite_target
    )
    return MovedNote(
        from_=from_,
        to=to,
        moved_at=ctx.stamp(),
        backlinks_updated=done.links,
        files_touched=sorted(done.files),
        new_hash=done.hashes[to],
    )


class CopiedNote(Record):
    from_: str
    to: str
    created_at: str
    content_hash: str
    links_rewritten: int


@notes.tool(
    "read:notes",
    "write:notes",
    repeat="keyed",
    confirm="a target outside the source's folder",
    words="duplicate clone",
)
def copy_note(
    ctx: Context,
    from_: Annotated[NotePath, Doc("A path, or a note's name or alias.")],
    to: WriteNotePath,
    rewrite_internal_links: Annotated[bool, Doc("Keep relative links in the copy right.")] = True,
) -> CopiedNote:
    """Copy a note to a free path; its relative links are adapted, nobody else's links change."""
    source = ctx.vault.read(from_)
    if ctx.vault.exists(to) is not None:
        raise ToolError("note_exists", f"{to!r} is taken", path=to)
    ctx.confirm(_folder(from_) != _folder(to), {"from": from_, "to": to})
    text, count = source.text, 0
    if rewrite_internal_links:
        text, count = rehomed(ctx.index, text, parse(text).links, from_, to)
    mark = BOM if source.data.startswith(BOM) else b""
    done = ctx.vault.write(to, mark + text.encode() if count else source.data, mode="create")
    return CopiedNote(
        from_=from_, to=done.path, created_at=done.at, content_hash=done.hash, links_rewritten=count
    )


def _top(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
