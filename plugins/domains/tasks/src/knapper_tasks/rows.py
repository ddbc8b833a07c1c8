"""The vault's tasks under its own settings: from the index by SQL where that can be, by reading lines anew where not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from knapper import Context
from knapper_tasks.engine import Facts, Settings, TaskRow, parse_line
from knapper_tasks.engine.fallback import date_of_name
from knapper_tasks.engine.settings import DATAVIEW

Where = Sequence[tuple[str, str, Any]]


def reads_alike(settings: Settings) -> bool:
    """Whether lines mean under these settings what the index has read in them, statuses aside."""
    return settings.task_format != DATAVIEW and not settings.filename_as_scheduled


def load(ctx: Context, settings: Settings, where: Where = (), *, root: str = "") -> list[TaskRow]:
    """Tasks that meet the conditions, in the order of the notes; the conditions hold for what the index has read."""
    exact = where if reads_alike(settings) else ()
    conditions = [*exact, *_global(settings)]
    rows = [row for _, row in ctx.index.facts(TaskRow, conditions, root=root)]
    return list(adapted(rows, settings))


def adapted(rows: Iterable[TaskRow], settings: Settings) -> Iterable[TaskRow]:
    """Rows of the index as the vault's settings read them."""
    if not reads_alike(settings):
        for row in rows:
            fallback = date_of_name(row.path, settings)
            again = parse_line(
                row.raw, settings, path=row.path, line=row.line, heading=row.heading, fallback=fallback
            )
            if again is not None:
                yield again
        return
    known: dict[str, tuple[str, str]] = {}
    for row in rows:
        if row.symbol not in known:
            status = settings.statuses.get(row.symbol)
            known[row.symbol] = (status.type, status.name)
        kind, name = known[row.symbol]
        yield (
            row
            if (kind, name) == (row.status_type, row.status_name)
            else replace(row, status_type=kind, status_name=name)
        )


def of_types(settings: Settings, types: Iterable[str]) -> Where:
    """The condition that a task's status is of one of these types; a symbol nobody registered is a todo."""
    wanted = set(types)
    others = [status.symbol for status in settings.statuses if status.type not in wanted]
    if "TODO" in wanted:
        return [("symbol", "NOT IN", others)] if others else []
    return [("symbol", "IN", [status.symbol for status in settings.statuses if status.type in wanted])]


def of_facts(facts: Facts, settings: Settings) -> Where:
    """What a query implies, as conditions for the index."""
    where: list[tuple[str, str, Any]] = []
    if facts.status_types is not None:
        where += of_types(settings, facts.status_types)
    if facts.priorities is not None:
        where.append(("priority", "IN", sorted(facts.priorities)))
    for name, (low, high) in facts.dates.items():
        where.append((name, "IS NOT NULL", None))
        if low is not None:
            where.append((name, ">=", low))
        if high is not None:
            where.append((name, "<=", high))
    if facts.recurring is not None:
        where.append(("recurrence", "IS NOT NULL" if facts.recurring else "IS NULL", None))
    return where


def _global(settings: Settings) -> Where:
    return [("raw", "HAS", settings.global_filter)] if settings.global_filter else []
