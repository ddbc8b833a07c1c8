"""A vault's index.db: opened, checked, and thrown away and begun anew where it does not fit or is damaged."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knapper.errors import ToolError
from knapper.index import before
from knapper.index.permitted import Filter, Readable, Verdicts
from knapper.index.seal import Body, Seal, body
from knapper.store.sqlite import connect, private_file, sqlite_module
from knapper.vault.locks import FileLock

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger("knapper.index")
SETUP = (
    "PRAGMA cache_size=-8000",  # what a page of a thousand notes needs; there is a connection a thread
    "PRAGMA mmap_size=0",  # a file that somebody truncates would kill the process that has it mapped
    "PRAGMA journal_size_limit=16000000",
)
PAGE_SIZE = 8192  # most notes are larger than half a page of 4096, and would waste the rest of it
IOERR, CORRUPT, CANTOPEN, NOTADB = 10, 11, 14, 26
BUSY, LOCKED = 5, 6
DAMAGED = "damaged"
FOREIGN = "changed by another program"
OTHER = "made by another version or configuration"
DAMAGE = frozenset({IOERR, CORRUPT, CANTOPEN, NOTADB})


class Reader:
    """A thread's connection, and which files the call it serves may see.

    Whoever closes it may be another thread. SQLite does not survive a connection that is closed under a query, so one
    that is in use closes when its thread is done with it.
    """

    def __init__(self, connection: sqlite3.Connection, epoch: int) -> None:
        self.connection = connection
        self.epoch = epoch
        self.filter = Filter(connection)
        self._uses = 0
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> Reader:
        with self._lock:
            if self._closed:
                raise _closed()
            self._uses += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._uses -= 1
            self._close_unused()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._close_unused()

    def _close_unused(self) -> None:
        if self._closed and not self._uses:
            self.connection.close()


class Database:
    """One file, one writer at a time among all processes, a reader for each thread.

    The file may be damaged, replaced, written over or deleted at any time. What notices says so: the call fails as one
    that can be tried again, and `begin_anew` makes an empty file in its place. `epoch` counts the files this process has
    seen there.
    """

    def __init__(self, path: Path, schema: str, fingerprint: str, prepare: Callable[[Any], None]) -> None:
        self.path = path
        self.rebuilt = ""
        self.damage = ""
        self.epoch = 0
        self.on_damage: Callable[[], None] = lambda: None
        self._schema = schema
        self._fingerprint = fingerprint
        self._prepare = prepare
        self._local = threading.local()
        self._verdicts = Verdicts()
        self._readers: weakref.WeakSet[Reader] = weakref.WeakSet()
        self._opening = threading.Lock()
        self._closed = False
        self._committing = False
        self._opened: tuple[Body, ...] = ()
        self._writer = self._open()

    def _open(self) -> sqlite3.Connection:
        self._place(self.path)
        alone = self._seal.join()
        try:
            connection = self._judged() if alone else self._joined()
            if alone:
                self._seal.note()
        finally:
            self._seal.settle()
        if connection is not None:
            return connection
        # Another version or configuration has it open: it keeps its file, and this one gets one of its own.
        self._seal.drop()
        self.path = self.path.with_name(f"{self.path.stem}-{self._fingerprint}.db")
        return self._open()

    def _place(self, path: Path) -> None:
        self.path = path
        self._files = [str(path) + suffix for suffix in ("", "-wal", "-shm")]
        self._seal = Seal(path)
        self._queue, self._turn = FileLock(path.with_suffix(".queue")), FileLock(path.with_suffix(".turn"))

    def _judged(self) -> sqlite3.Connection | None:
        """The file as it was left, by whoever is alone with it; an empty one where it cannot be trusted."""
        verdict = self._seal.verdict() if self.path.exists() else "unsealed"
        self._seal.remove()
        self._sweep()
        if verdict == "broken":
            self.rebuilt = FOREIGN
        elif (connection := self._sound(check=verdict == "unsealed")) is not None:
            # Nobody has compared it with the files meanwhile: until somebody does, it is not level with them.
            connection.execute("DELETE FROM meta WHERE key = 'level'")
            return connection
        log.warning("the index %s is built anew: %s", self.path.name, self.rebuilt)
        if self.rebuilt == OTHER:
            before.set_aside(self.path)
        else:
            self._discard()
        return self._fitting()

    def _joined(self) -> sqlite3.Connection | None:
        """The file that others have open; None where it is another version's, a new one where it is damaged."""
        connection = self._sound()
        if connection is None and not self.rebuilt.startswith(DAMAGED):
            return None
        if connection is not None and self._seal.is_noted():
            return connection
        with self._my_turn():
            if connection is not None:
                if self._seal.is_noted():
                    self._opened = self._identity()
                    return connection
                connection.close()
                self.rebuilt = FOREIGN
            self._discard()
            connection = self._fitting()
            self._seal.note()
            return connection

    def _sound(self, *, check: bool = False) -> sqlite3.Connection | None:
        try:
            return self._fitting(check=check)
        except sqlite_module().DatabaseError as error:
            if _is_busy(error):
                raise
            self.rebuilt = f"{DAMAGED}: {error}"
            return None

    def _sweep(self) -> None:
        """Remove what other versions or configurations had beside this file and nobody has open."""
        for other in self.path.parent.glob(f"{self.path.stem}-{'[0-9a-f]' * 16}.db"):
            seal = Seal(other)
            if seal.join():
                for left in other.parent.glob(f"{other.stem}.*"):
                    left.unlink(missing_ok=True)
            seal.drop()

    def _fitting(self, *, check: bool = False) -> sqlite3.Connection | None:
        """A connection, if the file is empty or was made by this version and configuration."""
        private_file(self.path)
        connection = self._connect()
        try:
            if self._fits(connection, check):
                self._opened = self._identity()
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        return None

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path, page_size=PAGE_SIZE)
        for pragma in SETUP:
            connection.execute(pragma).fetchall()
        self._prepare(connection)
        return connection

    def _fits(self, connection: sqlite3.Connection, check: bool) -> bool:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if not tables:
            self._create(connection)
        elif "meta" not in tables:
            self.rebuilt = "not an index"
            return False
        row = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        if row is None or row[0] != self._fingerprint:
            self.rebuilt = OTHER
            return False
        if not check or not tables:
            return True
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite_module().DatabaseError(verdict)
        return True

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone() is None:
                for statement in self._schema.split(";\n"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES ('fingerprint', ?)", (self._fingerprint,))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _discard(self) -> None:
        """Remove the file; it is derived, and the next reconcile fills it again."""
        for suffix in ("-wal", "-shm", ""):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def begin_anew(self, damaged: int | None = None) -> None:
        """Put an empty file in the place of this one; where `damaged` is given, only if it is still that epoch's."""
        with self._my_turn():
            if self._closed or damaged not in (None, self.epoch):
                return
            begun = self._seal.is_noted() and self._is_other(self._identity())  # by another process
            self._let_go()
            if not begun:
                self._discard()
            self._renew()

    def check(self) -> None:
        """Go over to the file that is now in place, if it is not the one that was opened.

        Only a file that one of its users has made, or made longer, is to be trusted, and one that is not there at all.
        """
        if self._is_as_left():
            return
        with self._my_turn():
            if self._is_as_left():
                return
            found = self._identity()
            if (found[0] and not self._seal.is_noted()) or self._lost_log(found):
                self._note_damage(FOREIGN, self.epoch)
            elif self._is_other(found):
                log.warning("the index %s was replaced or removed; it is opened anew", self.path.name)
                self._let_go()
                self._renew()
            else:
                self._opened = found

    def _is_as_left(self) -> bool:
        """Whether nothing has happened to the file; one that this process is just writing to, changes."""
        found = self._identity()
        if found == self._opened or self._closed or self.damage:
            return True
        return self._committing and not self._is_other(found)

    def _is_other(self, found: tuple[Body, ...]) -> bool:
        return found[0][:1] != self._opened[0][:1]

    def _lost_log(self, found: tuple[Body, ...]) -> bool:
        """Whether what is not folded into the file yet is gone, and the file with it."""
        return not self._is_other(found) and found[1:] != self._opened[1:]

    def _identity(self) -> tuple[Body, ...]:
        """Which files these are, and the content of the first; one that was deleted stays open, and what is written to it is lost."""
        first, *others = map(body, self._files)
        return (first, *(other[:1] for other in others))

    def _let_go(self) -> None:
        with suppress(sqlite_module().Error):
            self._writer.close()
        if os.name == "nt":  # there nobody can remove what somebody has open
            self._close_readers()

    def _close_readers(self) -> None:
        with self._opening:
            readers = list(self._readers)
        for reader in readers:
            reader.close()

    def _renew(self) -> None:
        try:
            connection = self._fitting()
        except sqlite_module().DatabaseError as error:
            raise self._judgement(error, self.epoch) from error
        if connection is None:
            raise ToolError("index_unavailable", "another version of the server has taken the index")
        self._writer = connection
        self._seal.note()
        self.epoch += 1
        self.damage = ""

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        """The right to write, among all threads and processes.

        Whoever waits for it holds the queue, so that a long run of writes cannot take turn after turn before it.
        """
        if getattr(self._local, "turn", False):
            yield
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._queue:
            self._turn.__enter__()
        self._local.turn = True
        try:
            yield
        finally:
            self._local.turn = False
            self._turn.__exit__(None, None, None)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction that holds the write lock from its start."""
        self._usable()
        with self._my_turn():
            self._usable()  # there may be another file since the wait for the turn began
            connection, epoch = self._writer, self.epoch
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                self._commit(connection)
            except BaseException as error:
                _roll_back(connection)
                judgement = self._judgement(error, epoch)
                if judgement is error:
                    raise
                raise judgement from error

    def _commit(self, connection: sqlite3.Connection) -> None:
        """Now and then SQLite folds its log into the file with this, which nobody does but who may write."""
        untouched = self._identity() == self._opened
        self._committing = untouched
        try:
            connection.execute("COMMIT")
            found = self._identity()
            if untouched and found != self._opened:
                self._seal.note()
                self._opened = found
        finally:
            self._committing = False

    @contextmanager
    def read(self, readable: Readable | None = None) -> Iterator[sqlite3.Connection]:
        """This thread's connection; where `readable` is given, its table `permitted` holds what that lets through."""
        self._usable()
        epoch = self.epoch
        try:
            with self._reader(epoch) as reader:
                if readable is not None:
                    reader.filter.let_through(self._verdicts.of(epoch, readable))
                yield reader.connection
        except sqlite_module().DatabaseError as error:
            judgement = self._judgement(error, epoch)
            if judgement is error:
                raise
            raise judgement from error

    def _reader(self, epoch: int) -> Reader:
        reader: Reader | None = getattr(self._local, "reader", None)
        if reader is None or reader.epoch != epoch:
            reader = Reader(self._connect(), epoch)
            self._local.reader = reader
            with self._opening:
                self._readers.add(reader)
        return reader

    def _usable(self) -> None:
        """Nothing is answered from a file that is known to be damaged, however sound the part in question looks."""
        if self._closed:
            raise _closed()
        self.check()
        if self.damage:
            raise _unavailable()

    def _judgement(self, error: BaseException, epoch: int) -> BaseException:
        """What a failure means to the caller: damage is noted, and becomes an error that says to try again."""
        if not _is_damage(error):
            return error
        self._note_damage(str(error), epoch)
        return _unavailable()

    def _note_damage(self, damage: str, epoch: int) -> None:
        if epoch == self.epoch and not self.damage:
            self.damage = damage
            log.warning("the index %s is damaged (%s) and is built anew", self.path.name, damage)
            self.on_damage()

    def size(self) -> int:
        """Bytes on disk, with what has not been folded into the file yet."""
        files = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        with self._my_turn():
            self._closed = True
            in_order = not self.damage and self._seal.is_noted() and not self._lost_log(self._identity())
            self._writer.close()
            self._close_readers()
            if in_order:  # the last to close it has folded its log in
                self._seal.note()
            self._seal.leave(in_order=in_order)


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite_module().Error):  # the first failure is the one that tells
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _is_damage(error: BaseException) -> bool:
    if not isinstance(error, sqlite_module().DatabaseError):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by the module itself
        return "Could not decode to UTF-8" in str(error)
    return (code & 0xFF) in DAMAGE


def _is_busy(error: Exception) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in (BUSY, LOCKED)


def _unavailable() -> ToolError:
    return ToolError("index_unavailable", "the index is damaged and is being built anew")


def _closed() -> ToolError:
    return ToolError("index_unavailable", "the server is stopping, and its index is closed")
