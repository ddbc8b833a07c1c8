"""The vault's tasks under its own settings: from the index by SQL where that can be, by reading lines anew where not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from msgspec.structs import replace

from knapper import Context
from knapper.index.queries.kept import Stamp
from knapper_tasks.engine import Facts, Settings, parse_line, settings_from_data
from knapper_tasks.engine.fallback import date_of_name
from knapper_tasks.engine.settings import DATAVIEW
from knapper_tasks.row import TaskRow

Where = Sequence[tuple[str, str, Any]]


def settings_of(ctx: Context) -> Settings:
    """The vault's own settings of the Tasks plugin; its defaults where it is not installed."""
    return settings_from_data(ctx.vault.settings("plugins/obsidian-tasks-plugin/data"))


def reads_alike(settings: Settings) -> bool:
    """Whether lines mean under these settings what the index has read in them, statuses aside."""
    return settings.task_format != DATAVIEW and not settings.filename_as_scheduled


def load(ctx: Context, settings: Settings, where: Where = ()) -> list[TaskRow]:
    """Tasks in the order of the notes: all of them where they fit into memory, else those that meet the conditions.

    The conditions hold for what the index has read in the lines.
    """

    def read(stamp: Stamp, rows: list[TaskRow]) -> list[TaskRow]:
        return [*adapted(rows, settings)]

    held = ctx.index.made_of(TaskRow, read, settings)
    if len(held.things) == len(held.stamps):
        paths = [path for path in held.stamps if ctx.index.readable(path)]
        return [row for path in paths for row in held.things[path]]
    exact = where if reads_alike(settings) else ()
    return [*adapted((row for _, row in ctx.index.facts(TaskRow, exact)), settings)]


def adapted(rows: Iterable[TaskRow], settings: Settings) -> Iterable[TaskRow]:
    """Rows of the index as the vault's settings read them, without those that its global filter leaves out."""
    if not reads_alike(settings):
        yield from _read_again(rows, settings)
        return
    wanted, known = settings.global_filter, {status.symbol: status for status in settings.statuses}
    for row in rows:
        if wanted and wanted not in row.raw:
            continue
        status = known.get(row.symbol) or settings.statuses.get(row.symbol)
        if (status.type, status.name) != (row.status_type, row.status_name):
            row = replace(row, status_type=status.type, status_name=status.name)
        yield replace(row, tags=tuple(t for t in row.tags if t != wanted)) if wanted in row.tags else row


def _read_again(rows: Iterable[TaskRow], settings: Settings) -> Iterable[TaskRow]:
    fallback = cache(lambda path: date_of_name(path, settings))
    for row in rows:
        again = parse_line(
            row.raw, settings, path=row.path, line=row.line, heading=row.heading, fallback=fallback(row.path)
        )
        if again is not None:
            yield again


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
