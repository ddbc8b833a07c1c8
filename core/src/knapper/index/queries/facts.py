"""Rows that domains derive from notes through their extractors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from knapper.index.queries.base import Questions, below
from knapper.index.schema import columns
from knapper.page import Page

Row = TypeVar("Row", bound=msgspec.Struct)
OPERATORS = frozenset({"=", "!=", "<", "<=", ">", ">=", "IN", "IS NULL", "IS NOT NULL", "LIKE"})


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
        return [(r[0], self._row(row, r[2:])) for r in self.rows(f"{sql} ORDER BY path, ord", parameters)]

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
        rows, total, last = self.paged(page, sql, parameters, ("path", "ord"))
        return [(r[0], self._row(row, r[2:])) for r in rows], total, last

    def _facts(
        self,
        row: type[msgspec.Struct],
        where: Sequence[tuple[str, str, Any]],
        root: str,
        paths: Sequence[str] | None,
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
            if operator == "IN":
                condition += f' AND x."{column}" IN ({", ".join("?" * len(value))})'
                parameters = [*parameters, *value]
            elif operator.startswith("IS"):
                condition += f' AND x."{column}" {operator}'
            else:
                condition += f' AND x."{column}" {operator} ?'
                parameters = [*parameters, value]
        cells = ", ".join(f'x."{name}"' for name in names)
        sql = f"SELECT f.path AS path, x.ord AS ord, {cells} FROM {table} x JOIN files f ON f.id = x.file WHERE {condition} AND {self.may('f.path')}"
        return sql, parameters

    def _table(self, row: type[msgspec.Struct]) -> str:
        for extractor in self._index.extractors:
            if extractor.row is row:
                return f"x_{extractor.name}"
        raise ValueError(f"no extractor makes {row.__name__}")

    def _row(self, row: type[Row], cells: Sequence[Any]) -> Row:
        values = {}
        for (name, kind), cell in zip(columns(row), cells, strict=True):
            values[name] = msgspec.json.decode(cell) if kind == "JSON" and isinstance(cell, str) else cell
        return msgspec.convert(values, row, strict=False)
