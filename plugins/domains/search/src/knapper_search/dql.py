"""By Dataview query, through whichever domain offers that engine."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from knapper import Context, Doc, Record
from knapper.bridge import EngineName
from knapper_search.domain import search

Format = Literal["table", "list", "task", "calendar"]


class QueryResult(Record):
    rows: list[list[Any]]
    note_paths: list[str]
    engine: Literal["native", "obsidian"]
    headers: list[str] | None = None
    incomplete: str | None = None


@search.tool("read:notes", "read:dataview", words="dataview table list query")
def search_dql(
    ctx: Context,
    dql: Annotated[str, Doc("A Dataview query.", min_length=1, max_length=10_000)],
    format: Annotated[Format | None, Doc("Refuse a query of another kind.")] = None,
    engine: EngineName = "auto",
) -> QueryResult:
    """Find notes by a Dataview query (DQL)."""
    return run(ctx, dql, format, engine)


def run(ctx: Context, dql: str, format: Format | None = None, engine: EngineName = "auto") -> QueryResult:
    """What the Dataview engine answers; plugin_missing where there is none."""
    found = ctx.service("dql")(ctx, dql, format, engine)
    headers = found.headers
    return QueryResult(
        headers=None if headers is None else list(headers),
        rows=[list(row) for row in found.rows],
        note_paths=list(found.note_paths),
        engine=found.engine,
    )
