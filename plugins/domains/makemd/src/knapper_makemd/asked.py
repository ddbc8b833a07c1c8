"""Filter and sort: which rows a caller wants, and in which order, from page to page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any, NamedTuple

import msgspec

from knapper import ToolError

NOTE = "note_path"


class Row(NamedTuple):
    """A file of a space, and its cells by column."""

    path: str
    columns: dict[str, Any]

    def cell(self, name: str) -> Any:
        return self.path if name == NOTE else self.columns.get(name)


Cell = tuple[int, int, float | str]
Place = tuple[list[Cell], str]


def _equal(value: Any, wanted: Any) -> bool:
    if isinstance(value, list) and not isinstance(wanted, list):
        return any(_equal(one, wanted) for one in value)
    if value is None or wanted is None or isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return value == wanted or str(value) == str(wanted)


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, list):
        return any(_equal(one, wanted) for one in value)
    return value is not None and str(wanted).casefold() in str(value).casefold()


def _compares(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(value: Any, wanted: Any) -> bool:
        (empty, kind, mine), (other_empty, other_kind, theirs) = _cell(value), _cell(wanted)
        return not empty and not other_empty and kind == other_kind and test(mine, theirs)

    return compare


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda value, wanted: not _equal(value, wanted),
    "in": lambda value, wanted: any(_equal(value, one) for one in wanted),
    "contains": _contains,
    "lt": _compares(lambda a, b: a < b),
    "lte": _compares(lambda a, b: a <= b),
    "gt": _compares(lambda a, b: a > b),
    "gte": _compares(lambda a, b: a >= b),
    "exists": lambda value, wanted: (value is not None) is bool(wanted),
}


def chosen(rows: Sequence[Row], filter: dict[str, Any] | None, columns: Sequence[str]) -> list[Row]:
    """The rows for which every condition of a filter holds."""
    tests = [test for name, asked in (filter or {}).items() for test in _tests(name, asked, columns)]
    return [row for row in rows if all(OPERATORS[op](row.cell(name), want) for name, op, want in tests)]


def _tests(name: str, asked: Any, columns: Sequence[str]) -> list[tuple[str, str, Any]]:
    _check_column(name, columns, "filter")
    if not isinstance(asked, dict):
        return [(name, "in" if isinstance(asked, list) else "eq", asked)]
    for operator, wanted in asked.items():
        if operator not in OPERATORS:
            known = ", ".join(OPERATORS)
            raise ToolError("invalid_input", f"filter has no {operator!r}; it has {known}", field="filter")
        if operator == "in" and not isinstance(wanted, list):
            raise ToolError("invalid_input", "filter: what 'in' is given is a list", field="filter")
    return [(name, operator, wanted) for operator, wanted in asked.items()]


def _check_column(name: str, columns: Sequence[str], field: str) -> None:
    if name != NOTE and name not in columns:
        known = ", ".join([NOTE, *columns])
        raise ToolError(
            "invalid_input", f"{field}: there is no column {name!r}; there are {known}", field=field
        )


class Order:
    """The order that `sort` asks for: by columns, empty cells last, and then by path."""

    def __init__(self, sort: Sequence[str], columns: Sequence[str]) -> None:
        self._names = [(name.removeprefix("-"), name.startswith("-")) for name in sort]
        for name, _ in self._names:
            _check_column(name, columns, "sort")

    def place(self, row: Row) -> Place:
        """Where a row stands, as a cursor can hold it."""
        return [_cell(row.cell(name)) for name, _ in self._names], row.path

    def sorted(self, rows: Sequence[Row]) -> list[Row]:
        places = sorted(((self.place(row), row) for row in rows), key=cmp_to_key(self._pairs))
        return [row for _, row in places]

    def behind(self, rows: Sequence[Row], after: Any) -> list[Row]:
        """What follows a place, whether or not its row is still there."""
        try:
            place = msgspec.convert(after, Place)
        except msgspec.ValidationError:
            place = ([], "")
        if len(place[0]) != len(self._names):
            raise ToolError("invalid_input", "cursor is not one of this server's", field="cursor")
        return [row for row in rows if self._compare(self.place(row), place) > 0]

    def _pairs(self, one: tuple[Place, Row], other: tuple[Place, Row]) -> int:
        return self._compare(one[0], other[0])

    def _compare(self, one: Place, other: Place) -> int:
        for (_, down), mine, theirs in zip(self._names, one[0], other[0], strict=True):
            if mine[0] != theirs[0]:
                return mine[0] - theirs[0]
            if mine != theirs:
                less = _less(mine, theirs)
                return -1 if less is not down else 1
        return (one[1] > other[1]) - (one[1] < other[1])


def _less(one: Cell, other: Cell) -> bool:
    if one[1] != other[1]:
        return one[1] < other[1]
    return bool(one[2] < other[2])  # type: ignore[operator]  # of one kind


def _cell(value: Any) -> Cell:
    """A cell for comparing: whether it is empty, a number or a text, and which."""
    if value is None or value == []:
        return (1, 0, 0.0)
    if isinstance(value, int | float) and abs(value) <= sys.float_info.max:
        return (0, 0, float(value))
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return (0, 1, text.casefold())
