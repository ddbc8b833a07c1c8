"""Where the spaces are: folders with a hidden folder in which make.md keeps what it knows of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from knapper import Context, ToolError
from knapper.vault import paths
from knapper_makemd.database import Damaged, Database, opened

FOLDER = ".space"
MAY_READ = rf"(?:[^/.][^/]*/)*{re.escape(FOLDER)}/(?:def\.json|(?:context|views)\.mdb(?:-wal|-journal)?)"
FILES = "files"
PATH = "File"
UNKNOWN = "unknown"
_YES = ("true", "1", 1)


class Field(NamedTuple):
    """A column as make.md describes it; one that it does not describe is of an unknown type."""

    name: str
    type: str
    hidden: bool = False
    value: Any = None


class Space(NamedTuple):
    """One space: the folder it is for, which is the empty path for the vault, and where it is kept."""

    path: str
    place: str

    @property
    def id(self) -> str:
        return self.path or "/"

    def definition(self, ctx: Context) -> dict[str, Any]:
        """What def.json says; Damaged where it is not JSON."""
        path = f"{self.place}/def.json"
        if ctx.vault.exists(path) != "file":
            return {}
        try:
            found = json.loads(ctx.vault.read(path).text)
        except (ValueError, RecursionError, ToolError) as error:
            raise Damaged(f"def.json: {error}") from None
        return found if isinstance(found, dict) else {}

    def look(self, ctx: Context) -> tuple[list[Field] | None, int]:
        """The columns, where it has any, and how many views."""
        with (
            opened(ctx, f"{self.place}/context.mdb") as context,
            opened(ctx, f"{self.place}/views.mdb") as views,
        ):
            count = sum(_views(database) for database in (context, views) if database is not None)
            return None if context is None else fields(context), count


def every(ctx: Context) -> Iterator[Space]:
    """The spaces that this caller may see, the vault's own first."""
    name = _folder_name(ctx)
    for folder in ("", *(entry.path for entry in ctx.vault.walk(folders=True) if entry.kind == "folder")):
        ctx.check_cancelled()
        space = Space(folder, paths.join(folder, name))
        if _is_kept(ctx, space):
            yield space


def find(ctx: Context, id: str) -> Space:
    """The space with this id, or invalid_input."""
    folder = paths.canonical(id.strip("/"))
    space = Space(folder, paths.join(folder, _folder_name(ctx)))
    if not _is_kept(ctx, space):
        message = f"there is no space {id!r}; makemd_list_spaces has their ids"
        raise ToolError("invalid_input", message, field="space_id")
    return space


def tag_of(ctx: Context, space: Space) -> str | None:
    """The tag that a space is for, where it is for one."""
    above = str(_settings(ctx).get("spacesFolder") or "Tags")
    leaf = paths.name(space.path).lstrip("#")
    return leaf if leaf and paths.parent(space.path) == above else None


def fields(database: Database) -> list[Field]:
    """The columns of the table of files: those that are described, in their order, and then the others."""
    table = database.table(FILES)
    described = [
        Field(
            str(row.get("name")), str(row.get("type")), row.get("hidden") in _YES, _decoded(row.get("value"))
        )
        for row in database.records("m_fields")
        if row.get("schemaId") == FILES
    ]
    known = {field.name for field in described}
    return described + [
        Field(name, UNKNOWN) for name in (table.columns if table else ()) if name not in known
    ]


def _views(database: Database) -> int:
    return sum(row.get("type") == "view" for row in database.records("m_schema"))


def _is_kept(ctx: Context, space: Space) -> bool:
    """Whether something of it is there; what the folder rules keep from this caller is not."""
    try:
        return any(
            ctx.vault.exists(f"{space.place}/{name}") == "file"
            for name in ("def.json", "context.mdb", "views.mdb")
        )
    except ToolError as error:
        if error.code != "acl_denied":
            raise
        return False


def _folder_name(ctx: Context) -> str:
    name = str(_settings(ctx).get("spaceSubFolder") or FOLDER)
    if name != FOLDER and paths.hidden(name):
        message = f"make.md is set to keep spaces in hidden folders {name!r}; only {FOLDER!r} is ever opened"
        raise ToolError("acl_denied", message, op="read")
    return name


def _settings(ctx: Context) -> dict[str, Any]:
    return ctx.vault.settings("plugins/make-md/data")


def _decoded(value: Any) -> Any:
    try:
        return json.loads(value) if value else None
    except (ValueError, TypeError, RecursionError):
        return value
