"""What every group of questions builds on: one caller's view of one vault's index."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from knapper.errors import ToolError
from knapper.index.permitted import Readable
from knapper.store.sqlite import sqlite_module

if TYPE_CHECKING:
    from knapper.index.engine import Index
    from knapper.page import Page

BEGUN_ANEW = "the index was begun anew during this call; ask again in a moment"
WORTH_WALKING = 8  # files are looked at in order in the time in which one is fetched and sorted
T = TypeVar("T")


class Questions:
    """Runs SQL in which the table `permitted` holds the files this caller may read."""

    def __init__(self, index: Index, readable: Readable | None) -> None:
        self._index = index
        self._readable = readable
        self._only: int | None = None  # the file that answers have to come from, where they must miss nothing

    def readable(self, path: str) -> bool:
        """Whether this caller may read a path."""
        return self._readable is None or self._readable(path)

    def may(self, column: str) -> str:
        """The condition that keeps rows of unreadable files out; free where the caller may read everything.

        The column is `path` of the table `files`, with its alias, or any that holds the number of a file. The plus keeps
        SQLite from going through all that is permitted to find the few rows that are asked for.
        """
        if self._readable is None:
            return "1"
        alias, dot, name = column.rpartition(".")
        return f"+{alias}{dot}{'id' if name == 'path' else name} IN permitted"

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        with self._index.db.read(self._readable) as conn:
            found = conn.execute(sql, parameters).fetchall()
        if self._only not in (None, self._index.db.epoch):
            raise ToolError("index_unavailable", BEGUN_ANEW)
        return found

    def one(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def count(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """How many rows a query has; asked once for as long as the index does not change."""
        whole = f"SELECT count(*) FROM ({sql})"
        return self.kept((whole, *parameters), lambda: int(self.one(whole, parameters)[0]))

    def kept(self, name: Hashable, build: Callable[[], T]) -> T:
        """An answer that holds for as long as the index does not change, for this caller's rules."""
        with self.at_once():
            return self._index.answers.get((name, self._readable), self._index.generation, build)

    def kept_for_pages(self, name: Hashable, begun: int | None, build: Callable[[], T]) -> tuple[int, T]:
        """What a first page was cut from, for as long as it is kept: a change of one note changes the scores of all.

        `begun` is the generation that was answered with the first page; None for that page itself.
        """
        index = self._index
        first = index.generation if begun is None else begun
        key = (name, self._readable, index.db.epoch, first)
        return first, index.searches.get(key, first, build)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Everything asked inside is answered from one state of the index."""
        with self._index.db.read(self._readable) as conn:
            if conn.in_transaction:
                yield
                return
            conn.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite_module().Error):  # what failed inside is what tells
                    conn.execute("COMMIT")

    def paged(
        self,
        page: Page,
        sql: str,
        parameters: Sequence[Any],
        order: Sequence[str],
        *,
        total: bool = True,
        counted: str | None = None,
        in_order: str | None = None,
        grouped: str = "",
        root: str = "",
    ) -> tuple[list[Any], int | None, Any]:
        """One page of a query whose first columns are its key: rows, exact total, and the key where more follow.

        `order` names the key columns, each with ` DESC` where it descends. The query may not have an ORDER BY.
        `counted` is a cheaper query with as many rows. `in_order` is the same query written so that it looks at one file `f`
        after the other below `root`, in the order of paths, and asks of each whether it is wanted; it ends with its
        conditions, and `grouped` is what follows them.
        """
        with self.at_once():
            count = self.count(counted or sql, parameters) if total else None
            rows: list[Any] | None = [] if count == 0 else None
            if in_order is not None and count is not None and count > page.limit:
                rows = self._walked(page, in_order, parameters, count, root, grouped)
            if rows is None:
                if page.after is not None:
                    where, extra = _after(order, page.after)
                elif order[0] == "path" and self._readable is not None:
                    where, extra = "WHERE path >= ?", [self._first()]
                else:
                    where, extra = "", []
                full = f"SELECT * FROM ({sql}) {where} ORDER BY {', '.join(order)} LIMIT ?"
                rows = self.rows(full, [*parameters, *extra, page.limit + 1])
        if len(rows) > page.limit:
            rows = rows[: page.limit]
            return rows, count, list(rows[-1][: len(order)])
        return rows, count, None

    def _walked(
        self, page: Page, sql: str, parameters: Sequence[Any], found: int, root: str, grouped: str
    ) -> list[Any] | None:
        """A page found by looking at the files in order, or None where sorting all that is found is the shorter way.

        Where much is found, a page is soon full. What is found may lie far from here though, so the walk has an end.
        """
        where, given = below("f.path", root)
        files = f"SELECT f.path FROM files f WHERE {where} AND {self.may('f.path')}"
        reach = 2 * page.limit * self.count(files, given) // found
        if reach > WORTH_WALKING * found:
            return None
        reach = max(reach, found // 16)  # where a little further costs little beside sorting
        comparison, start = (">=", self._first()) if page.after is None else (">", page.after[0])
        end = self.one(
            f"{files} AND f.path {comparison} ? ORDER BY f.path LIMIT 1 OFFSET ?", [*given, start, reach]
        )
        until = "" if end is None else "AND f.path <= ?"
        within = f"{sql} AND f.path {comparison} ? {until} {grouped} ORDER BY f.path LIMIT ?"
        rows = self.rows(within, [*parameters, start, *(end or ()), page.limit + 1])
        return rows if end is None or len(rows) > page.limit else None

    def _first(self) -> str:
        """The first path that the caller may read: what lies before it need not be passed over for every first page."""
        if self._readable is None:
            return ""
        sql = f"SELECT f.path FROM files f WHERE {self.may('f.path')} ORDER BY f.path LIMIT 1"
        found: str = self.kept("first path", lambda: (self.one(sql) or ("",))[0])
        return found


def _after(order: Sequence[str], key: Sequence[Any]) -> tuple[str, list[Any]]:
    """The condition that a row comes after a key, columns ascending or descending as the order says."""
    clauses, parameters = [], []
    for position, column in enumerate(order):
        name, _, direction = column.partition(" ")
        equal = [order[n].partition(" ")[0] + " = ?" for n in range(position)]
        clauses.append(" AND ".join([*equal, f"{name} {'<' if direction == 'DESC' else '>'} ?"]))
        parameters += [*key[:position], key[position]]
    # The first column by itself, too: an index can serve that, and begins where the page before ended.
    name, _, direction = order[0].partition(" ")
    begins = f"{name} {'<=' if direction == 'DESC' else '>='} ?"
    return f"WHERE {begins} AND ({' OR '.join(f'({c})' for c in clauses)})", [key[0], *parameters]


def below(column: str, root: str | None) -> tuple[str, list[Any]]:
    """The condition that a path lies below a folder, as a range that an index can serve."""
    folder = (root or "").strip("/")
    if not folder:
        return "1", []
    return f"({column} >= ? AND {column} < ?)", [f"{folder}/", f"{folder}0"]
