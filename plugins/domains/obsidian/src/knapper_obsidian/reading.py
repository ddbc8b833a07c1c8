"""Tools that only read."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, Doc, ReadPath, Record, ToolError
from knapper.touches import Access
from knapper.vault import paths
from knapper_obsidian.domain import Done, done, obsidian
from knapper_obsidian.naming import BY_NAME, EXACTLY, File, chosen

ReadNotePath = Annotated[str, Access("read", note=True)]


class NoteText(Record):
    """A note and its text."""

    path: str
    content: str


@obsidian.tool("read:notes", reach=BY_NAME)
def obsidian_read_note(
    ctx: Context, file: File = None, path: Annotated[ReadNotePath | None, Doc(EXACTLY)] = None
) -> Done[NoteText]:
    """Read a note's text, by its name or its path."""
    found = ctx.vault.read(chosen(ctx, file, path))
    return done(NoteText(path=found.path, content=found.text))


class FileInfo(Record):
    """A file's facts; times are milliseconds since 1970."""

    path: str
    name: str
    extension: str
    size: int
    created: int
    modified: int


@obsidian.tool("read:notes", reach=BY_NAME, words="size date modified created metadata")
def obsidian_file_info(
    ctx: Context, file: File = None, path: Annotated[ReadPath | None, Doc(EXACTLY)] = None
) -> Done[FileInfo]:
    """Say how large a note or any other file is, and when it was created and changed."""
    found = chosen(ctx, file, path, any_kind=True)
    stat = ctx.vault.stat(found)
    if stat.kind != "file":
        raise ToolError("note_not_found", f"{found!r} is a folder", path=found)
    name, dot, extension = paths.name(found).rpartition(".")
    facts = FileInfo(
        path=found,
        name=name if dot else extension,
        extension=extension if dot else "",
        size=stat.size,
        created=stat.ctime_ns // 1_000_000,
        modified=stat.mtime_ns // 1_000_000,
    )
    return done(facts)
