"""Grouping: `group by`, and the groups with the headings that change from one to the next."""

import re
from collections.abc import Callable
from itertools import product

import msgspec

from knapper.script import collate
from knapper_tasks.engine.days import ordinal, titled
from knapper_tasks.engine.errors import QueryError
from knapper_tasks.engine.headings import priority_heading, status_type_heading
from knapper_tasks.engine.urgency import urgency
from knapper_tasks.row import TaskRow

from .context import Search
from .fields import DATES, DateGetter, folder_of, name_of, root_of, without_extension
from .functions import function_grouper
from .model import Grouper, naming

Names = Callable[[TaskRow], tuple[str, ...]]


class Heading(msgspec.Struct, frozen=True):
    """A heading to print above a group, `level` counting from 0."""

    level: int
    text: str


class Group(msgspec.Struct, frozen=True):
    """The tasks that share a name on each level."""

    names: tuple[str, ...]
    headings: tuple[Heading, ...]
    rows: list[TaskRow]


def parse_grouper(line: str, functions: bool) -> Grouper:
    """Read a `group by` line."""
    if (grouper := function_grouper(line, functions)) is not None:
        return grouper
    found = re.fullmatch(r"group by (\S+?)( reverse)?", line, re.IGNORECASE)
    names = None if found is None else _NAMES.get(found[1].lower())
    if found is None or names is None:
        raise QueryError("do not understand query")
    # Urgency is the one key whose groups come highest first.
    reverse = bool(found[2]) != (found[1].lower() == "urgency")
    return Grouper(line, names, reverse)


def group_rows(rows: list[TaskRow], groupers: list[Grouper], search: Search) -> list[Group]:
    """The groups in order; without groupers one group without names."""
    if not groupers or not rows:
        return [Group((), (), rows)]
    found = _gathered(rows, groupers, search)
    ordered = list(found)
    for level in reversed(range(len(groupers))):
        ordered.sort(key=lambda names: collate.key(names[level]), reverse=groupers[level].reverse)
    shown = [""] * len(groupers)
    return [Group(names, _headings(names, shown), found[names]) for names in ordered]


def _gathered(
    rows: list[TaskRow], groupers: list[Grouper], search: Search
) -> dict[tuple[str, ...], list[TaskRow]]:
    levels = [_named(rows, grouper, search) for grouper in groupers]
    found: dict[tuple[str, ...], list[TaskRow]] = {}
    for row, *names in zip(rows, *levels, strict=True):
        for path in product(*names):
            search.budget.spend()
            found.setdefault(path, []).append(row)
    return found


def _named(rows: list[TaskRow], grouper: Grouper, search: Search) -> list[tuple[str, ...]]:
    with naming(grouper):
        names = grouper.bind(search)
        return [tuple(dict.fromkeys(names(row))) or ("",) for row in rows]


def _headings(names: tuple[str, ...], shown: list[str]) -> tuple[Heading, ...]:
    """The headings that differ from those `shown` last, which are brought up to date."""
    headings: list[Heading] = []
    for level, name in enumerate(names):
        if name != shown[level]:
            headings.append(Heading(level, name))
            shown[level:] = [name] + [""] * (len(names) - level - 1)
    return tuple(headings)


def limited(groups: list[Group], limit: int) -> list[Group]:
    """The groups with no more than so many tasks each."""
    return [Group(group.names, group.headings, group.rows[:limit]) for group in groups]


def _fixed(name: Callable[[TaskRow], str]) -> Callable[[Search], Names]:
    return lambda search: lambda row: (name(row),)


def _dated(field: str, getter: DateGetter) -> Callable[[Search], Names]:
    def name(row: TaskRow) -> str:
        iso = getter(row)
        if iso is None:
            return f"No {field} date"
        return titled(iso) if ordinal(iso) else f"%%0%% Invalid {field} date"

    return _fixed(name)


def _backlink(row: TaskRow) -> str:
    name = name_of(row.path)
    if name is None:
        return "Unknown Location"
    if not row.heading or row.heading == name:
        return f"[[{name}]]"
    return f"[[{name}#{row.heading}|{name} > {row.heading}]]"


def _filename(row: TaskRow) -> str:
    name = name_of(row.path)
    return "Unknown Location" if name is None else f"[[{name}]]"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("_", "\\_")


_NAMES: dict[str, Callable[[Search], Names]] = {
    "status.name": _fixed(lambda row: row.status_name),
    "status.type": _fixed(status_type_heading),
    "status": _fixed(lambda row: "Done" if row.closed else "Todo"),
    "recurring": _fixed(lambda row: "Recurring" if row.recurrence else "Not Recurring"),
    "recurrence": _fixed(lambda row: row.recurrence or "None"),
    "priority": _fixed(priority_heading),
    **{field: _dated(field, getter) for field, getter in DATES.items()},
    "path": _fixed(lambda row: _escaped(without_extension(row.path))),
    "folder": _fixed(lambda row: _escaped(folder_of(row.path))),
    "root": _fixed(lambda row: _escaped(root_of(row.path))),
    "backlink": _fixed(_backlink),
    "tags": lambda search: lambda row: row.tags or ("(No tags)",),
    "heading": _fixed(lambda row: row.heading or "(No heading)"),
    "filename": _fixed(_filename),
    "urgency": lambda search: lambda row: (f"{urgency(row, search.day):.2f}",),
    "id": _fixed(lambda row: row.id or ""),
}
