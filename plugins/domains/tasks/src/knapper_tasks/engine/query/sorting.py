"""Sorting: `sort by`, and the order that ties are left in."""

import re
from collections.abc import Callable
from typing import Any

from knapper.script import collate
from knapper_tasks.engine.days import ordinal
from knapper_tasks.engine.errors import QueryError
from knapper_tasks.engine.headings import TYPE_ORDER
from knapper_tasks.engine.settings import Settings
from knapper_tasks.engine.urgency import urgency
from knapper_tasks.row import TaskRow

from .context import Search
from .fields import DATES, DateGetter, described, filename_of, shown
from .functions import function_sorter
from .model import Sorter, naming

SortKey = Callable[[TaskRow], Any]

_TAG = re.compile(r"sort by tag( reverse)?\s*([0-9]{1,15})?", re.IGNORECASE)


def _by_date(getter: DateGetter) -> SortKey:
    def key(row: TaskRow) -> str:
        iso = getter(row)
        # Days that do not exist first, tasks without a date last.
        return "~" if iso is None else iso if ordinal(iso) else ""

    return key


def _by_tag(number: int) -> SortKey:
    def key(row: TaskRow) -> tuple[int, collate.Key]:
        if not row.tags:
            return 2, ("", "", "")
        if len(row.tags) < number or number < 1:
            return 1, ("", "", "")
        return 0, collate.key(row.tags[number - 1])

    return key


def _random(search: Search) -> SortKey:
    prefix = f"{search.today.isoformat()} "
    return lambda row: _hashed(prefix + row.description)


def _hashed(text: str) -> int:
    """The plugin's hash of the day and the description, on signed numbers of 32 bits."""
    units = text.encode("utf-16-le")
    value = 9
    for index in range(0, len(units), 2):
        value = ((value ^ int.from_bytes(units[index : index + 2], "little")) * 387420489) & 0xFFFFFFFF
    value ^= value >> 9
    return value - (1 << 32) if value & 0x80000000 else value


def _keys(settings: Settings) -> dict[str, Callable[[Search], SortKey]]:
    text = described(settings)

    def collated(getter: Callable[[TaskRow], str]) -> Callable[[Search], SortKey]:
        return lambda search: lambda row: collate.key(getter(row))

    def fixed(key: SortKey) -> Callable[[Search], SortKey]:
        return lambda search: key

    # In the plugin's order, because a name is taken where it only begins the rest of the line.
    return {
        "status.name": collated(lambda row: row.status_name),
        "status.type": fixed(lambda row: TYPE_ORDER[row.status_type]),
        "status": fixed(lambda row: row.closed),
        "recurring": fixed(lambda row: row.recurrence is None),
        "priority": fixed(lambda row: row.priority),
        **{name: fixed(_by_date(getter)) for name, getter in DATES.items()},
        "path": collated(lambda row: row.path),
        "description": collated(lambda row: shown(text(row))),
        "tag": fixed(_by_tag(1)),
        "heading": collated(lambda row: row.heading or ""),
        "filename": collated(lambda row: filename_of(row.path)),
        "urgency": lambda search: lambda row: -urgency(row, search.day),
        "id": collated(lambda row: row.id or ""),
        "random": _random,
    }


def parse_sorter(line: str, settings: Settings, functions: bool) -> Sorter:
    """Read a `sort by` line."""
    if (sorter := function_sorter(line, functions)) is not None:
        return sorter
    if found := _TAG.match(line):
        number = int(found[2]) if found[2] else 1
        return Sorter(line, lambda search: _by_tag(number), bool(found[1]))
    for name, bind in _keys(settings).items():
        if found := re.match(rf"sort by {re.escape(name)}( reverse)?", line, re.IGNORECASE):
            return Sorter(line, bind, bool(found[1]))
    raise QueryError("do not understand query")


def sort_rows(rows: list[TaskRow], sorters: list[Sorter], search: Search) -> list[TaskRow]:
    """The tasks in order: by each sorter in turn, then by the plugin's defaults."""
    ordered = sorted(rows, key=_default_key(search))
    # Sorting is stable, so the sorter that counts most goes last.
    for sorter in reversed(sorters):
        search.budget.look()
        with naming(sorter):
            ordered.sort(key=sorter.bind(search), reverse=sorter.reverse)
    return ordered


def _default_key(search: Search) -> SortKey:
    by_due, day = _by_date(lambda row: row.due), search.day

    def key(row: TaskRow) -> tuple[Any, ...]:
        return (
            TYPE_ORDER[row.status_type],
            -urgency(row, day),
            by_due(row),
            row.priority,
            collate.key(row.path),
        )

    return key
