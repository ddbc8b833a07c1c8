"""The index that another version or configuration left: vectors are dear, and those of unchanged texts are taken over."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knapper.store.sqlite import connect, sqlite_module

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger("knapper.index")
SUFFIXES = ("-wal", "-shm", "")
TABLES = {"sqlite-vec": "vec", "numpy": "plain_vectors"}


def place(path: Path) -> Path:
    """Where an index lies that was set aside."""
    return path.with_name(path.name + ".before")


def set_aside(path: Path) -> None:
    """Move an index that nobody has open out of the way; an older one that was still there is gone then."""
    drop(path)
    for suffix in SUFFIXES:
        found = path.with_name(path.name + suffix)
        if found.exists():
            found.replace(place(path).with_name(place(path).name + suffix))


def drop(path: Path) -> None:
    """Remove what was set aside."""
    for suffix in SUFFIXES:
        place(path).with_name(place(path).name + suffix).unlink(missing_ok=True)


class Before:
    """The vectors of an index that was set aside, by the hash of what they were made of."""

    def __init__(self, path: Path, prepare: Callable[[Any], None]) -> None:
        self._path = path
        self._prepare = prepare

    def known(self, wanted: dict[str, Any], digests: Sequence[Any]) -> dict[Any, bytes]:
        """Vectors of these texts, if the same model made them in the same way; whatever is wrong there, none."""
        if not digests or not place(self._path).exists():
            return {}
        try:
            return self._read(wanted, digests)
        except (sqlite_module().Error, OSError) as error:
            log.info("no vectors are taken over from the index before: %s", type(error).__name__)
            self.drop()
            return {}

    def drop(self) -> None:
        try:
            drop(self._path)
        except OSError as error:  # it costs room until the next start, and nothing else
            log.debug("the index before could not be removed: %s", error)

    def _read(self, wanted: dict[str, Any], digests: Sequence[Any]) -> dict[Any, bytes]:
        connection = connect(place(self._path))
        try:
            self._prepare(connection)
            table = _table(connection, wanted)
            if table is None:
                return {}
            marks = ", ".join("?" * len(digests))
            sql = (
                f"SELECT v.hash, e.embedding FROM vectors v JOIN {table} e ON e.rowid = v.chunk "
                f"WHERE v.hash IN ({marks}) GROUP BY v.hash"
            )
            width = 4 * int(wanted["dimensions"])
            return {digest: blob for digest, blob in connection.execute(sql, digests) if len(blob) == width}
        finally:
            connection.close()


def _table(connection: sqlite3.Connection, wanted: dict[str, Any]) -> str | None:
    """Where its vectors are, or None where they mean something else."""
    stored = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    same = all(stored.get(key) == wanted[key] for key in ("model", "dimensions", "embedded_as"))
    return TABLES.get(str(stored.get("vector_engine"))) if same else None
