"""The rows of a space: what its database has of each file, and what the notes themselves say of it."""

from __future__ import annotations

from typing import Any

from knapper import Context, ToolError
from knapper.index.queries.files import FileRow
from knapper.index.queries.whole import Narrowed
from knapper.vault import paths
from knapper_makemd.asked import Row
from knapper_makemd.database import Damaged, Table, opened
from knapper_makemd.spaces import FILES, PATH, Field, Space, fields, tag_of
from knapper_makemd.values import typed


def of(ctx: Context, space: Space) -> tuple[list[Row], list[str]]:
    """Every file of a space that the caller may read, with its cells, and the names of the columns."""
    known = {file.path: file for file in ctx.index.select()}
    table, columns = _table(ctx, space)
    kept = _kept(ctx, table, columns, known)
    for path in _members(ctx, space):
        if path in known:
            kept.setdefault(path, {field.name: None for field in columns})
    rows = [Row(path, _told(cells, known.get(path))) for path, cells in kept.items()]
    return rows, [field.name for field in columns]


def _table(ctx: Context, space: Space) -> tuple[Table | None, list[Field]]:
    with opened(ctx, f"{space.place}/context.mdb") as database:
        if database is None:
            return None, []
        table, columns = database.table(FILES), fields(database)
    if table is not None and PATH not in table.columns:
        raise Damaged(f"the table {FILES!r} has no column {PATH!r}")
    return table, [field for field in columns if field.name != PATH]


def _kept(
    ctx: Context, table: Table | None, columns: list[Field], known: dict[str, FileRow]
) -> dict[str, dict[str, Any]]:
    """The database's rows by path; one whose file is gone, or not for this caller, is as if it were not there."""
    found: dict[str, dict[str, Any]] = {}
    folders: set[str] | None = None
    for record in table.records() if table else ():
        path = _path(record[PATH])
        if path is not None and path not in known:
            folders = set(ctx.index.folders()) if folders is None else folders
        if path is not None and (path in known or path in (folders or ())):
            found[path] = {field.name: typed(field.type, record.get(field.name)) for field in columns}
    return found


def _members(ctx: Context, space: Space) -> list[str]:
    """What belongs to a space by itself: the files of its folder or with its tag, and those that are pinned to it."""
    tag = tag_of(ctx, space)
    if tag is not None:
        own = [file.path for file in ctx.index.select(Narrowed(tags=[[tag]]))]
    else:
        note = paths.join(space.path, f"{paths.name(space.path)}.md")
        files = ctx.index.select(Narrowed(folders=[space.path] if space.path else []))
        own = [file.path for file in files if file.folder == space.path and file.path != note]
    links = space.definition(ctx).get("links")
    pinned = [_path(link) for link in links] if isinstance(links, list) else []
    return own + [path for path in pinned if path is not None]


def _told(cells: dict[str, Any], file: FileRow | None) -> dict[str, Any]:
    """The cells, but for those that are properties of the note too: what the note says is newer."""
    properties = file.properties if file is not None and file.note else {}
    return {name: properties.get(name, value) for name, value in cells.items()}


def _path(value: Any) -> str | None:
    try:
        return paths.canonical(value) if isinstance(value, str) and value else None
    except ToolError:
        return None
