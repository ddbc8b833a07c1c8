"""Which chunks are nearest to a vector: sqlite-vec compares where SQLite can load it and there are many, else numpy.

Both give the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from knapper.index.matrix import Matrix

Engine = Literal["sqlite-vec", "numpy"]
IN_MEMORY = 100_000  # vectors; up to here comparing in memory is several times faster, and takes up to 100 MB
DIGITS = 6  # beyond these a score tells how it was computed: equal texts would differ by engine and by place
SPARE = 64  # vectors of chunks that are gone may be among the nearest
NEAREST = "SELECT rowid, distance FROM vec WHERE embedding MATCH ? AND k = ?"


class Compared:
    """The stored vectors of one vault, held against others."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.table = "vec" if engine == "sqlite-vec" else "plain_vectors"

    @cached_property
    def _matrix(self) -> Matrix:
        from knapper.index.matrix import Matrix

        return Matrix()

    def nearest(
        self,
        conn: sqlite3.Connection,
        vector: NDArray[np.float32],
        k: int,
        allowed: str,
        parameters: Sequence[Any],
        *,
        everything: bool = False,
    ) -> list[tuple[int, float]]:
        """The k chunks nearest to a vector among those that a query allows, best first, ties by chunk.

        `everything` says that every chunk is allowed; only what is left of chunks that are gone has to be skipped.
        """
        stored = conn.execute("SELECT value FROM meta WHERE key = 'dimensions'").fetchone()
        if stored is None or stored[0] != len(vector):
            return []
        if self.engine == "numpy" or self._count(conn) <= IN_MEMORY:
            return self._nearest_in_memory(conn, vector, k, allowed, parameters, everything)
        if everything:
            rows = conn.execute(NEAREST, [vector.tobytes(), k + SPARE]).fetchall()
            living = _living(conn, rows)
            if len(living) >= k or len(rows) < k + SPARE:
                return _in_order(living)[:k]
        # More than k, because among equals the one with the lowest number comes first.
        limited = f"{NEAREST} AND rowid IN ({allowed})"
        rows = conn.execute(limited, [vector.tobytes(), k + SPARE, *parameters]).fetchall()
        return _in_order(rows)[:k]

    def _count(self, conn: sqlite3.Connection) -> int:
        return int(conn.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def _nearest_in_memory(
        self,
        conn: sqlite3.Connection,
        vector: NDArray[np.float32],
        k: int,
        allowed: str,
        parameters: Sequence[Any],
        everything: bool,
    ) -> list[tuple[int, float]]:
        import numpy as np

        from knapper.index.matrix import best

        ids, matrix = self._matrix.refresh(conn, self.table, len(vector))
        scores = np.round(matrix @ vector, DIGITS)
        if everything:
            found = best(ids, scores, k + SPARE)
            living = _living(conn, found)
            if len(living) >= k or len(found) < k + SPARE:
                return living[:k]
        permitted = np.fromiter((row[0] for row in conn.execute(allowed, parameters)), np.int64)
        keep = np.isin(ids, permitted)
        return best(ids[keep], scores[keep], k)

    def cosines(
        self, conn: sqlite3.Connection, vector: NDArray[np.float32], chunks: Sequence[int]
    ) -> dict[int, float]:
        """How near some chunks are to a vector, those that have a vector."""
        ids, matrix = self._rows(conn, chunks, len(vector))
        return dict(zip(ids, (matrix @ vector).tolist(), strict=True)) if ids else {}

    def mean(self, conn: sqlite3.Connection, chunks: Sequence[int]) -> NDArray[np.float32] | None:
        """The direction that some chunks share; None where none of them has a vector."""
        import numpy as np

        width = conn.execute("SELECT value FROM meta WHERE key = 'dimensions'").fetchone()
        ids, matrix = self._rows(conn, chunks, width[0] if width else 0)
        if not ids:
            return None
        summed: NDArray[np.float32] = matrix.sum(0)
        length = float(np.linalg.norm(summed))
        return summed / np.float32(length) if length else None

    def _rows(
        self, conn: sqlite3.Connection, chunks: Sequence[int], width: int
    ) -> tuple[list[int], NDArray[np.float32]]:
        import numpy as np

        if not chunks or not width or not self._has_table(conn):
            return [], np.empty((0, width), np.float32)
        wanted = np.array(sorted({*chunks}), np.int64)  # np.unique would import masked arrays
        if self.engine == "numpy" or self._count(conn) <= IN_MEMORY:
            ids, matrix = self._matrix.refresh(conn, self.table, width)
            at = np.searchsorted(ids, wanted)
            at = at[(at < len(ids)) & (ids[np.minimum(at, len(ids) - 1)] == wanted)] if len(ids) else at[:0]
            return [int(chunk) for chunk in ids[at]], matrix[at]
        sql = f"SELECT rowid, embedding FROM {self.table} WHERE rowid = ?"
        rows = [row for chunk in wanted if (row := conn.execute(sql, (int(chunk),)).fetchone())]
        joined = np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(len(rows), width)
        return [row[0] for row in rows], joined

    def _has_table(self, conn: sqlite3.Connection) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE name = ?"
        return conn.execute(sql, (self.table,)).fetchone() is not None


def has_vec(conn: sqlite3.Connection) -> bool:
    """Whether sqlite-vec is loaded."""
    return (
        conn.execute("SELECT 1 FROM pragma_function_list WHERE name = 'vec_version'").fetchone() is not None
    )


def _living(conn: sqlite3.Connection, rows: Sequence[Any]) -> list[Any]:
    """Those of some chunks that are still there."""
    ids = [row[0] for row in rows]
    sql = f"SELECT id FROM chunks WHERE id IN ({', '.join('?' * len(ids))})"
    known = {chunk for (chunk,) in conn.execute(sql, ids)}
    return [row for row in rows if row[0] in known]


def _in_order(rows: Sequence[Any]) -> list[tuple[int, float]]:
    """Chunks by how near they are, and equal ones by their number."""
    return sorted(
        ((chunk, round(1.0 - far, DIGITS)) for chunk, far in rows), key=lambda one: (-one[1], one[0])
    )
