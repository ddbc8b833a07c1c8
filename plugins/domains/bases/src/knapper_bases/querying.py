"""The tool that runs a view."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from knapper import Context, Doc, Page, ReadPath, Record, ToolError
from knapper.bridge import EngineName
from knapper.collector import collector_paused
from knapper_bases import live
from knapper_bases.domain import bases, read_base_text, wrong
from knapper_bases.engine import (
    BasesError,
    BasesSyntaxError,
    Budget,
    BudgetExceeded,
    Group,
    Result,
    plain,
    query,
    read_filters,
)
from knapper_bases.vault import IndexedVault

SECONDS = 5.0


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


@bases.tool("read:bases", "read:notes", rate="bulk")
def query_base(
    ctx: Context,
    path: ReadPath,
    view: Annotated[str | None, Doc("The view's name; the first one if absent.")] = None,
    override_filters: Annotated[Any, Doc("Filters to use instead of the base's and the view's own.")] = None,
    engine: EngineName = "auto",
    page: Page = Page(),
) -> BaseRows:
    """Run a view of a base over the notes you may read, with its own filters, formulas, sorting and grouping."""
    base = read_base_text(ctx.vault.read(path).text, path)
    try:
        filters = None if override_filters is None else read_filters(override_filters)
        if engine == "obsidian" or (engine == "auto" and live.wanted(ctx, base, filters)):
            return _live(ctx, path, view, override_filters, page)
        now, budget = datetime.fromtimestamp(ctx.now()), Budget(seconds=SECONDS)
        with collector_paused():
            found = query(base, IndexedVault(ctx), view, filters=filters, this=path, now=now, budget=budget)
            return _answer(found, page, budget)
    except BudgetExceeded as error:
        raise ToolError("compute_budget_exceeded", f"the view takes too long: {error}", path=path) from None
    except BasesSyntaxError as error:
        raise wrong(error, path) from None
    except BasesError as error:
        raise ToolError("bases_syntax_error", str(error), path=path, expression=error.expression) from None


def _live(ctx: Context, path: str, view: str | None, filters: Any, page: Page) -> BaseRows:
    found = live.rows(ctx, path, view, filters, page.limit, page.after)
    cut = page.of(found.items, found.total_count, found.cursor)
    return BaseRows(
        items=[BaseRow(note_path=row.note_path, columns=row.columns) for row in found.items],
        cursor=cut.cursor,
        total_count=cut.total_count,
        view_used=found.view_used,
        engine="obsidian",
    )


def _answer(found: Result, page: Page, budget: Budget) -> BaseRows:
    """One page of the rows, by their place in the view's own order and their path."""
    after = page.after
    start = 0 if after is None else _place(found, after)
    rows = found.rows[start : start + page.limit]
    more = start + page.limit < len(found.rows)
    items = [BaseRow(note_path=row.file.path, columns=found.plain_cells(row)) for row in rows]
    cut = page.of(items, len(found.rows), [start + len(rows), rows[-1].file.path] if more else None)
    return BaseRows(
        items=items,
        cursor=cut.cursor,
        total_count=cut.total_count,
        view_used=found.view.name,
        engine="native",
        groups=None if found.groups is None else [_group(g, budget) for g in found.groups],
        summaries=_plain(found.summaries, budget),
        faults=[BaseFault(message=str(f.error), path=f.path, count=f.count) for f in found.faults] or None,
    )


def _place(found: Result, after: Any) -> int:
    """Where the next page begins: behind the last row shown, wherever that is now."""
    count, path = after
    for number, row in enumerate(found.rows):
        if row.file.path == path:
            return number + 1
    return min(int(count), len(found.rows))


def _group(group: Group, budget: Budget) -> BaseGroup:
    summaries = _plain(group.summaries, budget)
    return BaseGroup(key=plain(group.key, budget), count=len(group.rows), summaries=summaries)


def _plain(summaries: dict[str, object], budget: Budget) -> dict[str, Any] | None:
    return {name: plain(value, budget) for name, value in summaries.items()} or None
