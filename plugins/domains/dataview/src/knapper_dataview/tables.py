"""A query's result as rows of JSON, whatever kind of query it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knapper_dataview.answers import DqlRows, Format
from knapper_dataview.engine import (
    Budget,
    CalendarResult,
    ListResult,
    QueryFailed,
    Result,
    TableResult,
    TaskEntry,
    TaskGroup,
    TaskResult,
    plain,
)
from knapper_dataview.engine.values import ListPair

TASK_HEADERS = ["text", "status", "path", "line"]


def rows_of(result: Result, format: Format | None, budget: Budget) -> DqlRows:
    """The rows, if the query is of the wanted kind; a list has no headers."""
    if format is not None and format != result.kind:
        raise QueryFailed(f"the query is a {result.kind.upper()}, not a {format.upper()}")
    headers: list[str] | None
    if isinstance(result, TaskResult):
        headers, cells = _task_headers(result.tasks), [*_task_rows(result.tasks, [], budget)]
    else:
        headers, rows = _table(result)
        cells = [[plain(cell, budget) for cell in row] for row in rows]
    return DqlRows(rows=cells, note_paths=result.paths, engine="native", headers=headers)


def _table(
    result: TableResult | CalendarResult | ListResult,
) -> tuple[list[str] | None, list[list[object]]]:
    if isinstance(result, TableResult):
        return result.headers, result.rows
    if isinstance(result, CalendarResult):
        return ["date", "note"], [[entry.date, entry.link] for entry in result.entries]
    return None, [[v.key, v.value] if isinstance(v, ListPair) else [v] for v in result.values]


def _task_headers(entries: list[TaskEntry]) -> list[str]:
    depth, first = 0, next(iter(entries), None)
    while isinstance(first, TaskGroup):
        depth, first = depth + 1, next(iter(first.rows), None)
    groups = ["group"] if depth == 1 else [f"group {number}" for number in range(1, depth + 1)]
    return [*groups, *TASK_HEADERS]


def _task_rows(entries: list[TaskEntry], keys: list[Any], budget: Budget) -> Iterator[list[Any]]:
    """The cells of every task, behind the keys of its groups; lines count from 1 as in every tool."""
    budget.spend(len(entries))
    for entry in entries:
        if isinstance(entry, TaskGroup):
            yield from _task_rows(entry.rows, [*keys, plain(entry.key, budget)], budget)
        else:
            item = entry.item
            yield [*keys, item.text, item.status, entry.page.path, item.line + 1]
