"""A view run by one of the engines: a page of its rows, with groups, summaries and what went wrong on the way."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from knapper import Context, Page, ToolError
from knapper.bridge import EngineName
from knapper.collector import collector_paused
from knapper_bases import live, texts
from knapper_bases.engine import BasesError, Budget, BudgetExceeded, Group, Result, plain, query, read_filters
from knapper_bases.querying import BaseFault, BaseGroup, BaseRow, BaseRows
from knapper_bases.vault import IndexedVault

SECONDS = 5.0


def rows(
    ctx: Context, path: str, view: str | None, override: Any, engine: EngineName, page: Page
) -> BaseRows:
    """One page of a view; `override` stands for the base's and the view's own filters."""
    base = texts.read(ctx.vault.read(path).text, path)
    try:
        with texts.faults(path):
            filters = None if override is None else read_filters(override)
            if engine == "obsidian" or (engine == "auto" and live.wanted(ctx, base, filters)):
                return _live(ctx, path, view, override, page)
            now, budget = datetime.fromtimestamp(ctx.now()), Budget(seconds=SECONDS, look=ctx.check_cancelled)
            with collector_paused():
                vault = IndexedVault(ctx)
                found = query(base, vault, view, filters=filters, this=path, now=now, budget=budget)
                return _answer(found, page, budget)
    except BudgetExceeded as error:
        raise ToolError("compute_budget_exceeded", f"the view takes too long: {error}", path=path) from None
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
