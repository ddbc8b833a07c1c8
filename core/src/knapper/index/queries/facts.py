"""Rows that domains derive from notes through their extractors."""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from knapper import typed
from knapper.index.queries.base import Questions, below
from knapper.index.schema import columns
from knapper.page import Page

Row = TypeVar("Row", bound=msgspec.Struct)
OPERATORS = frozenset(
    {"=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN", "IS NULL", "IS NOT NULL", "CONTAINS", "HAS", "HAS ANY"}
)


class Facts(Questions):
    """What extractors found, with the path of the note it was found in."""

    def facts(
        self,
        row: type[Row],
        where: Sequence[tuple[str, str, Any]] = (),
        *,
        root: str = "",
        paths: Sequence[str] | None = None,
    ) -> list[tuple[str, Row]]:
        """Every (path, row) that meets the conditions, in the order of paths and of the note."""
        sql, parameters = self._facts(row, where, root, paths)
        read = reader(row)
        return [(r[0], read(r[2:])) for r in self.rows(f"{sql} ORDER BY path, ord", parameters)]

    def facts_page(
        self,
        page: Page,
        row: type[Row],
        where: Sequence[tuple[str, str, Any]] = (),
        *,
        root: str = "",
        paths: Sequence[str] | None = None,
    ) -> tuple[list[tuple[str, Row]], int | None, Any]:
        """A page of (path, row), in the order of paths and of the note."""
        sql, parameters = self._facts(row, where, root, paths)
        searched = paths is not None or any(column in getattr(row, "indexed", ()) for column, _, _ in where)
        # Read in the order of paths, a page is found without sorting all rows; a search by an index is faster still.
        in_order = sql if searched else self._facts(row, where, root, paths, "CROSS JOIN")[0]
        rows, _, last = self.paged(page, in_order, parameters, ("path", "ord"), total=False)
        total = self.count(sql, parameters)
        read = reader(row)
        return [(r[0], read(r[2:])) for r in rows], total, last

    def _facts(
        self,
        row: type[msgspec.Struct],
        where: Sequence[tuple[str, str, Any]],
        root: str,
        paths: Sequence[str] | None,
        join: str = "JOIN",
    ) -> tuple[str, list[Any]]:
        table = self._table(row)
        names = [name for name, _ in columns(row)]
        condition, parameters = below("f.path", root)
        if paths is not None:
            condition += f" AND f.path IN ({', '.join('?' * len(paths))})"
            parameters = [*parameters, *paths]
        for column, operator, value in where:
            if column not in names or operator not in OPERATORS:
                raise ValueError(f"{row.__name__} cannot be asked for {column!r} {operator!r}")
            test, given = _condition(column, operator, value)
            condition += f" AND {test}"
            parameters = [*parameters, *given]
        cells = ", ".join(f'x."{name}" AS "c_{name}"' for name in names)
        sql = f"SELECT f.path AS path, x.ord AS ord, {cells} FROM files f {join} {table} x ON f.id = x.file WHERE {condition} AND {self.may('f.path')}"
        return sql, parameters

    def _table(self, row: type[msgspec.Struct]) -> str:
        for extractor in self._index.extractors:
            if extractor.row is row:
                return f"x_{extractor.name}"
        raise ValueError(f"no extractor makes {row.__name__}")


@cache
def reader(row: type[Row]) -> Callable[[Sequence[Any]], Row]:
    """A function from a database row to an extractor's row; only what SQLite cannot hold as such is converted."""
    hints = typing.get_type_hints(row)
    convert: list[tuple[int, Callable[[Any], Any]]] = []
    for place, (name, kind) in enumerate(columns(row)):
        if kind == "JSON":
            convert.append((place, typed.decoder(hints[name]).decode))
        elif hints[name] is bool:
            convert.append((place, bool))

    def read(cells: Sequence[Any]) -> Row:
        values = list(cells)
        for place, change in convert:
            if values[place] is not None:
                values[place] = change(values[place])
        return row(*values)

    return read


def _condition(column: str, operator: str, value: Any) -> tuple[str, list[Any]]:
    name = f'x."{column}"'
    if operator in ("IN", "NOT IN"):
        return f"{name} {operator} ({', '.join('?' * len(value))})", list(value)
    if operator.startswith("IS"):
        return f"{name} {operator}", []
    if operator == "CONTAINS":  # a part of a text, letter by letter
        return f"instr({name}, ?) > 0", [value]
    if operator == "HAS":  # a part of a text, whatever its case
        return f"instr(lower({name}), lower(?)) > 0", [value]
    if operator == "HAS ANY":  # an element of a list, whatever its case
        marks = ", ".join("lower(?)" for _ in value)
        return f"EXISTS (SELECT 1 FROM json_each({name}) WHERE lower(json_each.value) IN ({marks}))", list(
            value
        )
    return f"{name} {operator} ?", [value]
