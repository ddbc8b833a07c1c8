"""Which file a call is about: `file` by its name, as a link would name it, or `path`, exactly where it is."""

from __future__ import annotations

from typing import Annotated

from knapper import Context, Doc, ToolError
from knapper.index.rows import is_note
from knapper.vault import paths
from knapper.vault.resolve import file_keys, normal

File = Annotated[str | None, Doc("The note's name, without .md; folders before it narrow it down.")]
BY_NAME = "the note that file names"
EXACTLY = "Its exact path from the vault's root, instead of file."


def chosen(ctx: Context, file: str | None, path: str | None, *, any_kind: bool = False) -> str:
    """The path of the file meant. Nothing is ever assumed where neither is given."""
    if file is not None and path is None:
        return named(ctx, file, any_kind=any_kind)
    if path is None or file is not None:
        raise ToolError(
            "invalid_input", "give either file, the note's name, or path, where it is", field="file"
        )
    return path


def named(ctx: Context, given: str, *, any_kind: bool = False) -> str:
    """The only file of a name; a name that several have is an error that lists them, be one of them at the root."""
    wanted = normal(paths.canonical(given))
    ctx.index.level()  # a name must not seem to be the only one because another is not indexed yet
    found = [
        path
        for path in ctx.index.named(file_keys(wanted))
        if (any_kind or is_note(path)) and _fits(normal(path), wanted) and ctx.index.readable(path)
    ]
    if len(found) > 1:
        message = f"{given!r} is the name of {len(found)} files; use one of their paths"
        raise ToolError("path_ambiguous", message, candidates=sorted(found)[:20])
    if not found:
        raise ToolError("note_not_found", f"there is no file named {given!r}", path=given)
    return found[0]


def as_note(name: str) -> str:
    """A name as the path of a note."""
    return name if is_note(name) else f"{name}.md"


def present(ctx: Context, path: str) -> str:
    """The path, if there is a file."""
    if ctx.vault.exists(path) != "file":
        raise ToolError("note_not_found", f"there is no file at {path!r}", path=path)
    return path


def _fits(path: str, wanted: str) -> bool:
    return any(path == one or path.endswith(f"/{one}") for one in (wanted, f"{wanted}.md"))
