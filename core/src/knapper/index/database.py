"""A vault's index.db: opened, checked, and thrown away and begun anew where it does not fit or is damaged."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knapper.store.sqlite import connect, private_file, sqlite_module

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger("knapper.index")
SMALL = "PRAGMA cache_size=-8000"  # there is a connection a thread; the file is also in the system's cache
Readable = Callable[[str], bool]


class Reader:
    """A thread's connection, and which paths the call it serves may see."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.readable: Readable = bool
        connection.create_function("readable", 1, lambda path: self.readable(path), deterministic=True)


class Database:
    """One file, one writer at a time in this process, a reader for each thread."""

    def __init__(self, path: Path, schema: str, fingerprint: str, prepare: Callable[[Any], None]) -> None:
        self.path = path
        self.rebuilt = ""
        self._schema = schema
        self._fingerprint = fingerprint
        self._prepare = prepare
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._lock = threading.RLock()
        self._writer = self._open()

    def _open(self) -> sqlite3.Connection:
        private_file(self.path)
        try:
            connection = self._connect()
            if self._fits(connection):
                return connection
            connection.close()
        except sqlite_module().DatabaseError as error:
            self.rebuilt = f"damaged: {error}"
            log.warning("the index %s is damaged and is built anew", self.path.name)
        self.discard()
        connection = self._connect()
        self._create(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path)
        connection.execute(SMALL)
        self._prepare(connection)
        return connection

    def _fits(self, connection: sqlite3.Connection) -> bool:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if not tables:
            self._create(connection)
            return True
        if "meta" not in tables:
            return False
        row = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        if row is None or row[0] != self._fingerprint:
            self.rebuilt = "made by another version or configuration"
            return False
        return (
            bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
            if self._suspect(connection)
            else True
        )

    def _suspect(self, connection: sqlite3.Connection) -> bool:
        """Whether the last writer did not close in order; only then is the whole file checked."""
        row = connection.execute("SELECT value FROM meta WHERE key = 'clean'").fetchone()
        return row is None or not row[0]

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is None:
                for statement in self._schema.split(";\n"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(
                    "INSERT INTO meta VALUES ('fingerprint', ?), ('clean', 1)", (self._fingerprint,)
                )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def discard(self) -> None:
        """Remove the file; it is derived, and the next reconcile fills it again."""
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        private_file(self.path)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction that holds the write lock from its start."""
        with self._lock:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    @contextmanager
    def read(self, readable: Readable | None = None) -> Iterator[sqlite3.Connection]:
        """This thread's connection, with `readable(path)` in SQL bound to what the caller may see."""
        reader: Reader | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = Reader(self._connect())
            self._local.reader = reader
            self._all.append(reader.connection)
        if readable is not None:
            reader.readable = readable
        yield reader.connection

    def size(self) -> int:
        """Bytes on disk, with what has not been folded into the file yet."""
        files = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        with self._lock:
            self._writer.close()
            for connection in self._all:
                connection.close()
