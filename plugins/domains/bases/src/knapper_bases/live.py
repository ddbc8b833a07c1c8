"""The live engine: Bases itself, inside a running Obsidian, behind a bridge.

It is for functions that a newer Obsidian has and the native engine does not know yet. An expression may look at any
file, and Obsidian knows no folder rules: under such rules it is refused.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context, ToolError
from knapper.bridge import answer_as, refuse_restricted
from knapper_bases.engine import Base, FilterTree, UnknownFunction, base_problems, filter_problems

KEY = "bases"


class LiveBases(Protocol):
    """What a bridge with the key `bases` connects to; a base that is wrong is a ToolError bases_syntax_error."""

    def query(self, path: str, view: str | None, filters: Any, *, limit: int, cursor: str | None) -> Any:
        """An object with items[{note_path, columns}], view_used, and cursor and total_count where they are known."""


class LiveRow(msgspec.Struct):
    note_path: str
    columns: dict[str, Any]


class LiveRows(msgspec.Struct):
    items: list[LiveRow]
    view_used: str
    cursor: str | None = None
    total_count: int | None = None


def wanted(ctx: Context, base: Base, filters: FilterTree | None) -> bool:
    """Whether the base calls functions that only Obsidian may know, and Obsidian can be asked."""
    faults = [*base_problems(base), *filter_problems(filters)]
    if not any(isinstance(fault, UnknownFunction) for fault in faults):
        return False
    try:
        ctx.bridge(KEY)
    except ToolError:
        return False
    return True


def rows(ctx: Context, path: str, view: str | None, filters: Any, limit: int, cursor: str | None) -> LiveRows:
    refuse_restricted(ctx, KEY, "a view")
    engine: LiveBases = ctx.bridge(KEY)
    return answer_as(engine.query(path, view, filters, limit=limit, cursor=cursor), LiveRows, KEY)
