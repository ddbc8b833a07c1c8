"""Tools that only read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from knapper import Context, Doc, NotePath, Page, ReadPath, Record, ToolError
from knapper.index.rows import is_note
from knapper.vault import frontmatter
from knapper.vault.files import Entry, File
from knapper_notes.domain import notes

Sort = Literal["path", "mtime", "size"]


class FileStats(Record):
    size: int
    mtime: str
    ctime: str


class Note(Record):
    path: str
    content_hash: str
    content: str | None = None
    frontmatter: dict[str, Any] | None = None
    stats: FileStats | None = None


@notes.tool("read:notes", words="open show view print display contents see")
def read_note(
    ctx: Context,
    path: Annotated[NotePath, Doc("A path, or a note's name or alias.")],
    include_frontmatter: bool = True,
    include_content: bool = True,
    include_stats: bool = False,
) -> Note:
    """Read a note: its text, its properties, and the hash that a later write can be bound to."""
    return _note(ctx.vault.read(path), include_frontmatter, include_content, include_stats)


class NoteResult(Record):
    path: str
    ok: bool
    note: Note | None = None
    error: dict[str, Any] | None = None


class NoteResults(Record):
    results: list[NoteResult]


@notes.tool(
    "read:notes",
    reach="each of paths, checked one by one",
    words="several multiple many open together call get load",
)
def read_notes(
    ctx: Context,
    paths: Annotated[list[str], Doc("Paths, names or aliases.", min_length=1, max_length=50)],
    include_frontmatter: bool = True,
    include_content: bool = True,
) -> NoteResults:
    """Read up to 50 notes at once; each has its own note or its own error."""
    results = []
    for path in paths:
        ctx.check_cancelled()
        try:
            note = _note(
                ctx.vault.read(_checked(ctx.find_note(path))), include_frontmatter, include_content, False
            )
            results.append(NoteResult(path=path, ok=True, note=note))
        except ToolError as error:
            results.append(NoteResult(path=path, ok=False, error=error.envelope()))
    return NoteResults(results=results)


class Listed(Record):
    path: str
    type: Literal["file", "folder"]
    size: int | None = None
    mtime: str | None = None


@notes.tool(
    "read:notes",
    reach="the folder root, and names below it",
    words="browse contents directory files folder recently edited modified",
)
def list_notes(
    ctx: Context,
    root: Annotated[str, Doc("Only below this folder.")] = "",
    recursive: bool = True,
    include_folders: bool = False,
    extensions: Annotated[tuple[str, ...], Doc("With their dots; empty for every file.")] = (".md",),
    sort: Sort = "path",
    page: Page = Page(),
) -> Page.Of[Listed]:
    """List notes, and with include_folders the folders too: by path, or newest or largest first."""
    root = ctx.vault.authorise("read", root) if root.strip("/") else ""
    if root and ctx.vault.exists(root) != "folder":
        raise ToolError("path_invalid", f"{root!r} is not a folder", path=root)
    if include_folders:
        return _with_folders(ctx, root, recursive, extensions, sort, page)
    rows, total, last = ctx.index.list_files(
        page, root=root, recursive=recursive, extensions=extensions, sort=sort
    )
    items = [Listed(path=path, type="file", size=size, mtime=_iso(mtime)) for path, size, mtime in rows]
    return page.of(items, total, last)


class Existence(Record):
    exists: bool
    type: Literal["file", "folder"] | None = None


@notes.tool("read:notes", words="check whether already there")
def note_exists(ctx: Context, path: ReadPath) -> Existence:
    """Say whether a path is a file, a folder, or nothing."""
    kind = ctx.vault.exists(path)
    return Existence(exists=kind is not None, type=kind)


def _note(file: File, properties: bool, content: bool, stats: bool) -> Note:
    note = Note(path=file.path, content_hash=file.hash)
    if content:
        note.content = file.text
    if properties:
        note.frontmatter = _properties(file.text)
    if stats:
        stat = file.stat
        note.stats = FileStats(size=stat.size, mtime=_iso(stat.mtime_ns), ctime=_iso(stat.ctime_ns))
    return note


def _properties(text: str) -> dict[str, Any] | None:
    """The properties alone: a note is read more often than anything else, and its body is not looked at."""
    try:
        return frontmatter.read(text) or None
    except frontmatter.FrontmatterError:
        return None


def _checked(path: str) -> str:
    if not is_note(path):
        raise ToolError("invalid_input", f"{path!r} is not a note: notes end in .md", path=path)
    return path


def _with_folders(
    ctx: Context, root: str, recursive: bool, extensions: tuple[str, ...], sort: Sort, page: Page
) -> Page.Of[Listed]:
    """Folders and files in one list; folders that hold nothing are on disk only, so the files are walked."""
    wanted = tuple(extension.lower() for extension in extensions)
    below = root.count("/") + 1 if root else 0
    found = [
        entry
        for entry in ctx.vault.walk(root, folders=True)
        if (recursive or entry.path.count("/") == below)
        and (entry.kind == "folder" or not wanted or entry.path.lower().endswith(wanted))
    ]
    cut = page.cut(sorted(found, key=ORDERS[sort]), key=ORDERS[sort])
    last = ORDERS[sort](cut.items[-1]) if cut.cursor else None
    return page.of([_listed(entry) for entry in cut.items], cut.total_count, last)


def _listed(entry: Entry) -> Listed:
    if entry.kind == "folder":
        return Listed(path=entry.path, type="folder")
    return Listed(path=entry.path, type="file", size=entry.size, mtime=_iso(entry.mtime_ns))


ORDERS: dict[Sort, Callable[[Entry], tuple[Any, ...]]] = {
    "path": lambda entry: (entry.path,),
    "mtime": lambda entry: (-entry.mtime_ns, entry.path),
    "size": lambda entry: (0 if entry.kind == "folder" else -entry.size, entry.path),
}


def _iso(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
