"""state.db opened: one writer, many readers, migrated, and shared by several processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from knapper.errors import PluginError, ToolError
from knapper.store import backup, folders, migrations
from knapper.store.fence import Fence, lint
from knapper.store.migrations import CORE, DomainTables, core_migrations
from knapper.store.sqlite import connect, private_file, reason, sqlite_module
from knapper.store.transactions import immediate, savepoint

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy.engine import Connection, Engine

_TURN_SECONDS = 30.0


class Engines(NamedTuple):
    """One for the connection that writes, one for those that read."""

    writer: Engine
    readers: Engine


class State:
    """What is not derived, open for this process: `with state.write() as conn` and `with state.read() as conn`.

    Safe to use from any thread, and with other processes on the same file.
    """

    def __init__(self, path: Path, domains: Sequence[DomainTables] = ()) -> None:
        self.path = path
        # SQLite lets waiting writers sleep and poll; within a process a lock hands over at once.
        self._turn = threading.Lock()
        self._open = threading.local()
        self._opening = threading.Lock()
        self._closed = False
        self._made: Engines | None = None
        self._connection: Connection | None = None
        self._domains = {tables.slug for tables in domains}

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        domains: Sequence[DomainTables] = (),
        vaults: Mapping[str, Path] | None = None,
    ) -> State:
        """Open or create the state, migrated to this version; `conflict` where its history is not this chain's.

        `vaults` are the folders that ids stand for from now on; ConfigError where one stands for another.
        """
        path = Path(path)
        with _usable(path):
            private_file(path)
            connection = connect(path)
        with closing(connection):
            with _usable(path):
                migrations.apply(connection, CORE, core_migrations())
            for tables in domains:
                _install(connection, tables)
            folders.bind(connection, vaults or {})
        return cls(path, domains)

    @staticmethod
    def restore(source: str | Path, path: str | Path, *, domains: Sequence[DomainTables] = ()) -> None:
        """Put a backup in place of the state, only if it is whole and this version can read it."""
        chains = [DomainTables(CORE, core_migrations()), *domains]
        backup.restore(Path(source), Path(path), chains)

    def domain(self, slug: str) -> DomainStore:
        """The door of one domain to its own tables."""
        if slug not in self._domains:
            raise PluginError(f"domain {slug!r} has brought no tables")
        return DomainStore(self, slug)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that holds the write lock from its start; inside another one of this thread it nests."""
        outer = self._mine()
        if outer is not None:
            with savepoint(outer.exec_driver_sql):
                yield outer
            return
        with self._next_turn() as connection, immediate(connection.exec_driver_sql):
            self._open.connection = connection
            try:
                yield connection
            finally:
                self._open.connection = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One unchanging view of the state; writing through it fails. Inside write() it sees what that has done."""
        outer = self._mine()
        if outer is not None:
            yield outer
            return
        with self._engines().readers.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            yield connection

    def backup(self, target: str | Path) -> None:
        """Copy the state as it is now into one file, while others go on reading and writing."""
        backup.copy(self.path, Path(target))

    def close(self) -> None:
        """Give all connections back; closing twice changes nothing."""
        with self._turn, self._opening:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
            for engine in self._made or ():
                engine.dispose()

    def _engines(self) -> Engines:
        """Made at the first use: SQLAlchemy takes longer to import than all else a first answer needs of the core."""
        with self._opening:
            if self._closed:
                raise ToolError("internal", "the state is closed")
            if self._made is None:
                self._made = Engines(_engine(self.path, read_only=False), _engine(self.path, read_only=True))
            return self._made

    @property
    def _writer(self) -> Connection:
        engines = self._engines()
        if self._connection is None:
            self._connection = engines.writer.connect()
        return self._connection

    def _mine(self) -> Connection | None:
        connection: Connection | None = getattr(self._open, "connection", None)
        return connection

    @contextmanager
    def _next_turn(self) -> Iterator[Connection]:
        if not self._turn.acquire(timeout=_TURN_SECONDS):
            raise ToolError("internal", f"another write has held the state for {_TURN_SECONDS:.0f} seconds")
        try:
            connection = self._writer
            try:
                yield connection
            finally:
                _settle(connection)
        finally:
            self._turn.release()


class DomainStore:
    """A domain's own tables in state.db."""

    def __init__(self, state: State, slug: str) -> None:
        self.slug = slug
        self.write = state.write
        self.read = state.read


def _install(connection: sqlite3.Connection, tables: DomainTables) -> None:
    """Bring a domain's tables up to date; what is wrong with them is a PluginError or a `conflict`."""
    fence = Fence(tables.slug)
    if migrations.pending(connection, tables.slug, tables.migrations):
        lint(fence, tables)
        migrations.apply(connection, tables.slug, tables.migrations, fence)


def _settle(writer: Connection) -> None:
    # The helper has ended the transaction in SQL; SQLAlchemy still has to be told.
    if not writer.invalidated and _in_transaction(writer):
        writer.invalidate()
    writer.rollback()


def _in_transaction(writer: Connection) -> bool:
    driver: Any = writer.connection.dbapi_connection
    return bool(driver.in_transaction)


def _engine(path: Path, *, read_only: bool) -> Engine:
    from sqlalchemy import create_engine
    from sqlalchemy.pool import QueuePool

    def creator() -> sqlite3.Connection:
        connection = connect(path)
        if read_only:
            connection.execute("PRAGMA query_only=ON")
        return connection

    # Threads are bounded by whoever starts them, so a reader never has to wait for a connection.
    return create_engine(
        "sqlite://",
        module=sqlite_module(),
        creator=creator,
        poolclass=QueuePool,
        pool_size=8,
        max_overflow=-1,
        pool_use_lifo=True,
    )


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    """A file that cannot be opened is told with the way out."""
    try:
        yield
    except (OSError, sqlite_module().Error) as error:
        text = f"{path.name} cannot be used: {reason(error)}; `knapper doctor` examines it, `knapper restore` replaces it"
        raise ToolError("conflict", text) from error
