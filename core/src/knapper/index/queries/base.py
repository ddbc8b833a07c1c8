"""What every group of questions builds on: one caller's view of one vault's index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from knapper.index.database import Readable

if TYPE_CHECKING:
    from knapper.index.engine import Index
    from knapper.page import Page

LAST = "\U0010ffff"


class Questions:
    """Runs SQL in which `readable(path)` already means what this caller may read."""

    def __init__(self, index: Index, readable: Readable | None) -> None:
        self._index = index
        self._readable = readable

    def readable(self, path: str) -> bool:
        """Whether this caller may read a path."""
        return self._readable is None or self._readable(path)

    def may(self, column: str) -> str:
        """The condition that keeps rows of unreadable files out; free where the caller may read everything."""
        return "1" if self._readable is None else f"readable({column})"

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with self._index.db.read(self._readable) as conn:
            return conn.execute(sql, parameters).fetchall()

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def count(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        return int(self.one(f"SELECT count(*) FROM ({sql})", parameters)[0])

    def paged(
        self, page: Page, sql: str, parameters: Sequence[Any], order: Sequence[str], *, total: bool = True
    ) -> tuple[list[Any], int | None, Any]:
        """One page of a query whose first columns are its key: rows, exact total, and the key where more follow.

        `order` names the key columns, each with ` DESC` where it descends. The query may not have an ORDER BY.
        """
        after = page.after
        where = ""
        extra: list[Any] = []
        if after is not None:
            where, extra = _after(order, after)
        full = f"SELECT * FROM ({sql}) {where} ORDER BY {', '.join(order)} LIMIT ?"
        rows = self.rows(full, [*parameters, *extra, page.limit + 1])
        count = self.count(sql, parameters) if total else None
        if len(rows) > page.limit:
            rows = rows[: page.limit]
            return rows, count, list(rows[-1][: len(order)])
        return rows, count, None


def _after(order: Sequence[str], key: Sequence[Any]) -> tuple[str, list[Any]]:
    """The condition that a row comes after a key, columns ascending or descending as the order says."""
    clauses, parameters = [], []
    for position, column in enumerate(order):
        name, _, direction = column.partition(" ")
        equal = [order[n].partition(" ")[0] + " = ?" for n in range(position)]
        clauses.append(" AND ".join([*equal, f"{name} {'<' if direction == 'DESC' else '>'} ?"]))
        parameters += [*key[:position], key[position]]
    return "WHERE " + " OR ".join(f"({c})" for c in clauses), parameters


def below(column: str, root: str | None) -> tuple[str, list[Any]]:
    """The condition that a path lies below a folder, as a range that an index can serve."""
    folder = (root or "").strip("/")
    if not folder:
        return "1", []
    return f"({column} >= ? AND {column} < ?)", [f"{folder}/", f"{folder}0"]
