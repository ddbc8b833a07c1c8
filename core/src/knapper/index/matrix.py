"""All vectors of a vault in memory, where one multiplication compares a query with every chunk."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

AT_ONCE = 500
WHOLE = 4  # where over a quarter is new, reading everything is faster than picking


class Matrix:
    """Chunks and their vectors in the order of chunks; renewed when the stored ones have changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[Any, NDArray[np.int64], NDArray[np.float32]] | None = None

    def refresh(
        self, conn: sqlite3.Connection, table: str, width: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The chunks and vectors as they are stored now; what is already held is not read again."""
        now = (
            table,
            width,
            conn.execute("SELECT value FROM meta WHERE key = 'model'").fetchone(),
            conn.execute("SELECT value FROM meta WHERE key = 'vectors'").fetchone(),
        )
        held = self._held
        if held is None or held[0] != now:
            with self._lock:
                held = self._held
                if held is None or held[0] != now:
                    held = (now, *self._load(conn, table, width, now))
                    self._held = held
        return held[1], held[2]

    def _load(
        self, conn: sqlite3.Connection, table: str, width: int, now: tuple[Any, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        if self._held is None or self._held[0][:3] != now[:3]:
            return _whole(conn, table, width)
        _, ids, rows = self._held
        wanted = np.fromiter(
            (c for (c,) in conn.execute("SELECT chunk FROM vectors ORDER BY chunk")), np.int64
        )
        keep = np.isin(ids, wanted)
        new = wanted[~np.isin(wanted, ids)]
        if len(new) * WHOLE > len(wanted):
            return _whole(conn, table, width)
        found: list[Any] = []
        for start in range(0, len(new), AT_ONCE):
            some = [int(chunk) for chunk in new[start : start + AT_ONCE]]
            marks = ", ".join("?" * len(some))
            found += conn.execute(f"SELECT rowid, embedding FROM {table} WHERE rowid IN ({marks})", some)
        more, added = _read(found, width)
        ids, rows = np.concatenate([ids[keep], more]), np.concatenate([rows[keep], added])
        order = np.argsort(ids, kind="stable")
        return ids[order], rows[order]


Loaded = tuple["NDArray[np.int64]", "NDArray[np.float32]"]


def _whole(conn: sqlite3.Connection, table: str, width: int) -> Loaded:
    count = conn.execute("SELECT count(*) FROM vectors").fetchone()[0]
    return _in_blocks(conn, table, width, count) or _one_by_one(conn, table, width)


def _one_by_one(conn: sqlite3.Connection, table: str, width: int) -> Loaded:
    return _read(conn.execute(f"SELECT rowid, embedding FROM {table} ORDER BY rowid").fetchall(), width)


def _in_blocks(conn: sqlite3.Connection, table: str, width: int, count: int) -> Loaded | None:
    """The same from the blocks that sqlite-vec keeps its rows in, fifteen times as fast; None where they do not fit."""
    if table != "vec":
        return None
    sql = (
        "SELECT c.size, c.validity, c.rowids, v.vectors FROM vec_chunks c "
        "JOIN vec_vector_chunks00 v ON v.rowid = c.chunk_id"
    )
    ids, rows, at = np.empty(count, np.int64), np.empty((count, width), np.float32), 0
    try:
        for size, validity, numbers, vectors in conn.execute(sql):
            if (len(validity) * 8, len(numbers), len(vectors)) != (size, 8 * size, 4 * size * width):
                return None
            valid = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little").astype(bool)
            end = at + int(valid.sum())
            if end > count:
                return None
            ids[at:end] = np.frombuffer(numbers, np.int64)[valid]
            np.compress(valid, np.frombuffer(vectors, np.float32).reshape(size, width), 0, rows[at:end])
            at = end
    except Exception:  # noqa: BLE001 - another layout of another version: the slow way knows it
        return None
    if at != count:
        return None
    if (ids[1:] > ids[:-1]).all():
        return ids, rows
    order = np.argsort(ids, kind="stable")
    return ids[order], rows[order]


def _read(found: Sequence[Any], width: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    fitting = [row for row in found if len(row[1]) == 4 * width]
    ids = np.array([row[0] for row in fitting], np.int64)
    rows = np.frombuffer(b"".join(row[1] for row in fitting), np.float32).reshape(len(fitting), width)
    return ids, rows


def best(ids: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """The k highest scores, equal ones by their number."""
    if len(ids) > 4 * k:
        # Everything at least as good as the k-th is kept, so that equals at the edge are told apart by number.
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        keep = scores >= least
        ids, scores = ids[keep], scores[keep]
    order = np.lexsort((ids, -scores))[:k]
    return [(int(ids[n]), float(scores[n])) for n in order]
