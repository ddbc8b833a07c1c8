"""Vectors of chunks: made in the background after text search is complete, and searched exactly.

sqlite-vec searches them where SQLite can load it; elsewhere they lie in a plain table and numpy does. Both give the
same answers, and which one is in use is reported.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from knapper.index.database import Database

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from knapper.embed import Model

log = logging.getLogger("knapper.index")
TABLES = """
CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, hash TEXT NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_by_hash ON vectors (hash);
CREATE TABLE quarantine (chunk INTEGER PRIMARY KEY, reason TEXT NOT NULL);
"""
BATCH = 256
Source = Callable[[], "Model"]
Engine = Literal["sqlite-vec", "numpy"]


def prepare(conn: sqlite3.Connection) -> None:
    """Load sqlite-vec into a connection where that is possible."""
    try:
        import sqlite_vec

        conn.enable_load_extension(True)
        sqlite_vec.load(conn)
        conn.enable_load_extension(False)
    except (ImportError, AttributeError, OSError) as error:
        log.debug("sqlite-vec is not available: %s", error)


class Vectors:
    """The vectors of one vault's chunks."""

    def __init__(self, db: Database, source: Source | None, stop: threading.Event) -> None:
        self._db = db
        self._source = source
        self._stop = stop
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self.problem = ""

    def start(self) -> None:
        """Embed what has no vector yet, now and whenever something changes."""
        if self._source is None or self._thread is not None:
            return
        self._wake.set()
        self._thread = threading.Thread(target=self._run, name="vectors", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def close(self) -> None:
        self._wake.set()
        if self._thread is not None:
            self._thread.join(5)

    def ready(self) -> bool:
        """Whether every chunk that can have a vector has one."""
        return self._source is None or self.missing() == 0

    def clear(self) -> int:
        """Drop all vectors; they are made anew in the background."""
        with self._db.write() as conn:
            dropped = conn.execute("DELETE FROM vectors").rowcount
        self.wake()
        return int(dropped)

    def missing(self) -> int:
        with self._db.read() as conn:
            row = conn.execute(
                "SELECT count(*) FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id) "
                "AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.chunk = c.id)"
            ).fetchone()
        return int(row[0])

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait()
            self._wake.clear()
            try:
                while not self._stop.is_set() and self._embed_some():
                    pass
                self.problem = ""
            except Exception as error:
                self.problem = str(error) or type(error).__name__
                log.warning("embedding stopped: %s", type(error).__name__)

    def _embed_some(self) -> bool:
        raise AssertionError


def nearest(conn: sqlite3.Connection, vector: NDArray[np.float32], k: int, allowed: Any) -> list[tuple[int, float]]:
    """The k chunks nearest to a vector with their cosine similarity, best first, ties by chunk."""
    raise AssertionError
