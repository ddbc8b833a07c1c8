"""Which files a caller may see, as a set inside SQLite: a call of Python for every row would cost more than the query.

A file's number is never used again and its path never changes, so a verdict holds for as long as the rules do. What was
added since the last look is asked about then; what nobody has asked about is not seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

Readable = Callable[[str], bool]
MOST = 8  # sets of rules whose verdicts are kept


class Permitted:
    """The numbers of the files that one set of rules lets through, in the order they were asked about."""

    def __init__(self, readable: Readable) -> None:
        self._readable = readable
        self._last = 0
        self._lock = threading.Lock()
        self.files: list[tuple[int]] = []

    def ask(self, conn: sqlite3.Connection) -> None:
        """Ask about the files that are new."""
        with self._lock:
            sql = "SELECT id, path FROM files WHERE id > ? ORDER BY id"
            for file, path in conn.execute(sql, (self._last,)).fetchall():
                if self._readable(path):
                    self.files.append((file,))
                self._last = file


class Verdicts:
    """What is permitted by every set of rules in use, shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[int, Readable], Permitted] = {}

    def of(self, epoch: int, readable: Readable) -> Permitted:
        with self._lock:
            key = (epoch, readable)
            found = self._known.pop(key, None) or Permitted(readable)
            self._known[key] = found  # the latest last, so that the first is the one longest unused
            if len(self._known) > MOST:
                del self._known[next(iter(self._known))]
            return found


class Filter:
    """The table `permitted` of one connection."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._filled: tuple[Permitted, int] | None = None

    def let_through(self, permitted: Permitted) -> None:
        """Make the table hold what is permitted now."""
        if self._filled is None:
            self._conn.execute("CREATE TEMP TABLE permitted (id INTEGER PRIMARY KEY)")
        start = 0
        if self._filled is not None and self._filled[0] is permitted:
            start = self._filled[1]
        elif self._filled is not None:
            self._conn.execute("DELETE FROM permitted")
        permitted.ask(self._conn)
        end = len(permitted.files)
        if end > start:
            self._fill(permitted.files[start:end])
        self._filled = (permitted, end)

    def _fill(self, files: list[tuple[int]]) -> None:
        inside = self._conn.in_transaction
        if not inside:
            self._conn.execute("BEGIN")
        self._conn.executemany("INSERT INTO permitted VALUES (?)", files)
        if not inside:
            self._conn.execute("COMMIT")
