"""The one door to SQLite: which module is used, what it can do, and how a connection is set up."""

from __future__ import annotations

import errno
import os
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from types import ModuleType

# busy_timeout comes first: switching to WAL takes a lock that another process may hold.
PRAGMAS = (
    "busy_timeout=5000",
    "foreign_keys=ON",
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "cache_size=-4000",  # the file is mapped; a larger one only fills with rows of the log that nobody reads again
    "temp_store=MEMORY",
    "mmap_size=268435456",
)
_BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.01


class SqliteReport(NamedTuple):
    """What SQLite this process runs on, for health and doctor."""

    module: str
    version: str
    extensions: bool


@cache
def sqlite_module() -> ModuleType:
    """Choose pysqlite3 where it is installed, because many Pythons are built without loadable extensions."""
    try:
        return import_module("pysqlite3.dbapi2")
    except ImportError:
        return import_module("sqlite3.dbapi2")


def sqlite_report(module: ModuleType | None = None) -> SqliteReport:
    """Say which module was chosen, its SQLite version and whether extensions really load."""
    chosen = module or sqlite_module()
    name = chosen.__name__.partition(".")[0]
    return SqliteReport(name, chosen.sqlite_version, _can_load_extensions(chosen))


def connect(
    path: str | Path, *, module: ModuleType | None = None, page_size: int | None = None
) -> sqlite3.Connection:
    """Open a database with the pragmas in their order and no implicit transactions.

    The connection may be used from any thread, by one at a time. A page size counts where the file is still empty.
    """
    connection = raw_connect(path, module=module)
    sized = (f"page_size={page_size}",) if page_size else ()
    try:
        for pragma in (PRAGMAS[0], *sized, *PRAGMAS[1:]):
            _run_pragma(connection, pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def raw_connect(path: str | Path, *, module: ModuleType | None = None) -> sqlite3.Connection:
    """Open a database without touching its journal mode: for copies and checks."""
    chosen = module or sqlite_module()
    connection: sqlite3.Connection = chosen.connect(
        str(path),
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    return connection


def disk_full(error: BaseException) -> bool:
    """Whether this is a full disk speaking, be it through SQLite or through what wraps it."""
    cause = error.__cause__ or error
    if isinstance(cause, OSError):
        return cause.errno in (errno.ENOSPC, errno.EDQUOT)
    return isinstance(cause, sqlite_module().Error) and "is full" in str(cause)


def reason(error: BaseException) -> str:
    """What the system or SQLite says, without the path that the system adds."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def private_file(path: Path) -> None:
    """Create the file for its owner alone; SQLite gives its side files the same mode."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _run_pragma(connection: sqlite3.Connection, pragma: str) -> None:
    # The first switch to WAL upgrades a lock, and SQLite answers that with "locked" at once instead of waiting.
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}").fetchall()
            return
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def _can_load_extensions(module: ModuleType) -> bool:
    connection = module.connect(":memory:")
    try:
        connection.enable_load_extension(True)
    except (AttributeError, module.Error):
        return False
    else:
        return True
    finally:
        connection.close()
