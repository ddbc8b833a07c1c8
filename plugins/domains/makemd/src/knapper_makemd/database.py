"""A database of make.md, read from a copy: the plugin's own file is never opened by SQLite.

Opening it in place would lock it, replay its journal or make files beside it. The copy takes along what SQLite keeps
there for a change that is not yet in the file, and is taken again where one was made meanwhile.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from knapper import Context, ToolError
from knapper.vault.files import File

BESIDE = ("", "-wal", "-journal")
LARGEST = 64 * 1024 * 1024
MOST_ROWS = 100_000
SECONDS = 5.0
_ATTEMPTS = 5
_STEPS = 10_000  # of SQLite's machine between two looks at the clock


class Damaged(Exception):
    """Why a database cannot be read."""


class Table(NamedTuple):
    """A table whole: its columns, and rows as wide as these."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def records(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class Database:
    """The copy, open for reading."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def table(self, name: str) -> Table | None:
        """A table by its name; None where there is none. Views and what else computes its rows are not looked at."""
        found = self._run("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,))
        if not found.rows or not str(found.rows[0][1]).upper().startswith("CREATE TABLE"):
            return None
        quoted = '"' + name.replace('"', '""') + '"'
        table = self._run(f"SELECT * FROM {quoted} LIMIT {MOST_ROWS + 1}")
        if len(table.rows) > MOST_ROWS:
            raise Damaged(f"it has more than {MOST_ROWS} rows")
        return table

    def records(self, name: str) -> list[dict[str, Any]]:
        table = self.table(name)
        return [] if table is None else table.records()

    def _run(self, sql: str, given: tuple[str, ...] = ()) -> Table:
        try:
            cursor = self._connection.execute(sql, given)
            return Table([column[0] for column in cursor.description], cursor.fetchall())
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise Damaged(f"it takes over {SECONDS:g} s to read") from None
            raise Damaged(str(error)) from None
        except (sqlite3.Error, OverflowError, MemoryError) as error:
            raise Damaged(str(error) or type(error).__name__) from None


@contextmanager
def opened(ctx: Context, path: str) -> Iterator[Database | None]:
    """A copy of a database for as long as it is needed; None where there is no such file."""
    files = _copied(ctx, path)
    if files is None:
        yield None
        return
    with TemporaryDirectory(prefix="knapper-makemd-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, "copy.mdb")
        for suffix, data in files.items():
            Path(f"{copy}{suffix}").write_bytes(data)
        with closing(_connected(copy)) as connection:
            yield Database(connection)


def _copied(ctx: Context, path: str) -> dict[str, bytes] | None:
    for _ in range(_ATTEMPTS):
        found = {suffix: _file(ctx, path + suffix) for suffix in BESIDE}
        if found[""] is None:
            return None
        if all(_unchanged(ctx, path + suffix, file) for suffix, file in found.items()):
            return {suffix: file.data for suffix, file in found.items() if file is not None}
    message = f"make.md is writing {path!r} all the time"
    raise ToolError("concurrent_modification", message, path=path)


def _file(ctx: Context, path: str) -> File | None:
    if ctx.vault.exists(path) != "file":
        return None
    if ctx.vault.stat(path).size > LARGEST:
        raise Damaged(f"it is larger than {LARGEST} bytes")
    return ctx.vault.read(path)


def _unchanged(ctx: Context, path: str, file: File | None) -> bool:
    if ctx.vault.exists(path) is None:
        return file is None
    return file is not None and ctx.vault.stat(path) == file.stat


def _connected(copy: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{copy.as_uri()}?mode=rw", uri=True, isolation_level=None)
    connection.text_factory = lambda data: data.decode(errors="replace")
    end = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        connection.close()
        raise Damaged(str(error)) from None
    return connection
