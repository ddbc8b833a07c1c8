"""The live engine: make.md itself, inside a running Obsidian, behind a bridge.

Native reads everything that make.md keeps in files, so the live engine answers only where a caller asks for it. It
knows nothing of folder rules, and how many rows a space has may tell of any note: under such rules it is refused.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context
from knapper.bridge import answer_as, refuse_restricted

KEY = "makemd"


class LiveMakemd(Protocol):
    """What a bridge with the key `makemd` connects to; an unknown space is a ToolError invalid_input."""

    def spaces(self) -> Any:
        """An object with spaces[{id, name, path, schema?[{name, type?, hidden?, value?}], view_count?}]."""

    def query(self, space_id: str, filter: Any, sort: Any, *, limit: int, cursor: str | None) -> Any:
        """An object with items[{note_path, columns}], and cursor and total where they are known.

        Filter and sort are as makemd_query takes them: {column: value or {operator: value}} and ["column", "-column"].
        """


class LiveColumn(msgspec.Struct):
    name: str
    type: str = "unknown"
    hidden: bool = False
    value: Any = None


class LiveSpace(msgspec.Struct):
    id: str
    name: str
    path: str
    schema: list[LiveColumn] | None = None
    view_count: int = 0


class LiveSpaces(msgspec.Struct):
    spaces: list[LiveSpace]


class LiveRow(msgspec.Struct):
    note_path: str
    columns: dict[str, Any]


class LiveRows(msgspec.Struct):
    items: list[LiveRow]
    cursor: str | None = None
    total: int | None = None


def spaces(ctx: Context) -> list[LiveSpace]:
    refuse_restricted(ctx, KEY, "a list of spaces")
    engine: LiveMakemd = ctx.bridge(KEY)
    return answer_as(engine.spaces(), LiveSpaces, KEY).spaces


def rows(ctx: Context, space_id: str, filter: Any, sort: Any, limit: int, cursor: str | None) -> LiveRows:
    refuse_restricted(ctx, KEY, "a query")
    engine: LiveMakemd = ctx.bridge(KEY)
    return answer_as(engine.query(space_id, filter, sort, limit=limit, cursor=cursor), LiveRows, KEY)
