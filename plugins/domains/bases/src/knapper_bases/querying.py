"""The tool that runs a view. The engine is imported by its first call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from knapper import Context, Doc, Page, ReadPath, Record
from knapper.bridge import EngineName
from knapper_bases.domain import bases


class BaseRow(Record):
    note_path: str
    columns: dict[str, Any]


class BaseGroup(Record):
    key: Any
    count: int
    summaries: dict[str, Any] | None = None


class BaseFault(Record):
    message: str
    path: str
    count: int


class BaseRows(Page.Of[BaseRow], kw_only=True):
    view_used: str
    engine: Literal["native", "obsidian"]
    groups: list[BaseGroup] | None = None
    summaries: dict[str, Any] | None = None
    faults: list[BaseFault] | None = None


@bases.tool("read:bases", "read:notes", rate="bulk", words="database rows table entries results show")
def query_base(
    ctx: Context,
    path: ReadPath,
    view: Annotated[str | None, Doc("The view's name; the first one if absent.")] = None,
    override_filters: Annotated[Any, Doc("Filters to use instead of the base's and the view's own.")] = None,
    engine: EngineName = "auto",
    page: Page = Page(),
) -> BaseRows:
    """Run a view of a base over the notes you may read, with its own filters, formulas, sorting and grouping."""
    from knapper_bases import running

    return running.rows(ctx, path, view, override_filters, engine, page)
