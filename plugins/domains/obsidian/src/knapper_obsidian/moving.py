"""Tools that give a note another path; every link to it is rewritten."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, DeleteNotePath, Doc, Record, ToolError
from knapper.index.rows import is_note
from knapper.vault import paths
from knapper.vault.moves import move_files
from knapper_obsidian.domain import Done, done, obsidian
from knapper_obsidian.naming import EXACTLY, File, as_note, chosen, present

REACH = "the note that file names, its new path, and notes and canvases that link to it"


class Moved(Record):
    """A note at its new path, and how many links now lead there."""

    path: str
    from_: str
    links_updated: int


@obsidian.tool(
    "write:notes", "delete:notes", rate="write", confirm="crossing a top-level folder", reach=REACH
)
def obsidian_move_note(
    ctx: Context,
    to: Annotated[
        str, Doc("A folder, / for the vault's root; or the new path, which ends in .md.", min_length=1)
    ],
    file: File = None,
    path: Annotated[DeleteNotePath | None, Doc(EXACTLY)] = None,
) -> Done[Moved]:
    """Move a note to another folder or path; every link to it is rewritten, all files or none."""
    found = chosen(ctx, file, path)
    target = "" if to == "/" else paths.canonical(to)
    if not is_note(target):
        target = paths.join(target, paths.name(found))
    return _move(ctx, found, target)


@obsidian.tool("write:notes", "delete:notes", rate="write", reach=REACH, words="title name")
def obsidian_rename_note(
    ctx: Context,
    name: Annotated[str, Doc("Its new name, with or without .md.", min_length=1, max_length=255)],
    file: File = None,
    path: Annotated[DeleteNotePath | None, Doc(EXACTLY)] = None,
) -> Done[Moved]:
    """Give a note another name in its folder; every link to it is rewritten, all files or none."""
    if "/" in name or "\\" in name:
        raise ToolError("invalid_input", "a name has no folders: use obsidian_move_note", field="name")
    found = chosen(ctx, file, path)
    return _move(ctx, found, paths.join(paths.parent(found), paths.canonical(as_note(name))))


def _move(ctx: Context, path: str, target: str) -> Done[Moved]:
    source = ctx.vault.authorise("delete", present(ctx, path))
    target = _free(ctx, source, target)
    if _top(source) != _top(target):
        ctx.confirm(True, {"from": source, "to": target})
    moved = move_files(ctx.vault, ctx.index, {source: target})
    return done(Moved(path=target, from_=source, links_updated=moved.links))


def _free(ctx: Context, source: str, target: str) -> str:
    """The target, if a note can be there; another spelling of the same file is its new name."""
    located = ctx.vault.authorise("write", target)
    if located == source and target != source:
        return target
    if located == source:
        raise ToolError("invalid_input", f"{source!r} is there already", path=source)
    if ctx.vault.exists(located) is not None:
        raise ToolError("note_exists", f"{located!r} is taken", path=located)
    return located


def _top(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""
