"""Snapshots: what a file held before each change, so that a change can be looked at and taken back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from knapper.errors import ToolError
from knapper.store import blobs
from knapper.store.batches import delete_rows, delete_where

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from knapper.store.state import State

_FIELDS = "id, vault_id, path, moved_to, hash, size, after_hash, landed_at, op, session, tool, created_at"
_INSERT = (
    "INSERT INTO note_snapshots (vault_id, path, moved_to, hash, size, op, session, tool, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LAND = "UPDATE note_snapshots SET landed_at = ?, after_hash = ? WHERE id = ?"
# Besides the newest of each path, a session keeps its moves and each path's first and last change: what undo needs.
_SUPERFLUOUS = """
SELECT id FROM (
    SELECT id, moved_to, session, created_at,
        row_number() OVER (PARTITION BY vault_id, path ORDER BY id DESC) AS age,
        row_number() OVER (PARTITION BY vault_id, path, session ORDER BY id) AS step,
        row_number() OVER (PARTITION BY vault_id, path, session ORDER BY id DESC) AS step_back
    FROM note_snapshots
)
WHERE age > ? AND (session IS NULL OR created_at < ? OR (step > 1 AND step_back > 1 AND moved_to IS NULL))
"""


class Before(NamedTuple):
    """A file about to change: its bytes, None where it does not exist yet, and where a move takes it."""

    path: str
    data: bytes | None
    op: str
    moved_to: str | None = None


class Landing(NamedTuple):
    """A change that took place: when, the hash the file has now (None where it is gone), and the snapshot before it."""

    at: float
    after: str | None
    snapshot: int


class Snapshot(NamedTuple):
    """One change of one file: the hash before (None: no file) and, once `landed_at` is set, the hash after."""

    id: int
    vault: str
    path: str
    moved_to: str | None
    hash: str | None
    size: int | None
    after_hash: str | None
    landed_at: float | None
    op: str
    session: str | None
    tool: str | None
    created_at: float

    @property
    def landed(self) -> bool:
        """Whether the change is known to have taken place; else nobody knows what the file holds."""
        return self.landed_at is not None


class Snapshots:
    """Takes, lists, reads and prunes the snapshots of all vaults."""

    def __init__(
        self,
        state: State,
        retention: int = 10,
        *,
        session_seconds: float = 7 * 86400,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._state = state
        self._retention = retention
        self._session_seconds = session_seconds
        self._now = now

    def take(
        self,
        vault: str,
        path: str,
        data: bytes | None,
        op: str,
        session: str | None = None,
        tool: str | None = None,
        *,
        moved_to: str | None = None,
    ) -> int:
        """Keep what a file holds before a change, and return the snapshot's id."""
        return self.take_many(vault, [Before(path, data, op, moved_to)], session, tool)[0]

    def take_many(
        self, vault: str, files: Sequence[Before], session: str | None = None, tool: str | None = None
    ) -> list[int]:
        """Keep many files in one transaction; the ids come in their order."""
        # Packed before the transaction: compressing must not hold the write lock.
        packed = [(file, None if file.data is None else blobs.pack(file.data)) for file in files]
        with self._state.write() as conn:
            return [self._add(conn, vault, file, blob, session, tool) for file, blob in packed]

    def landed(self, ids: Sequence[int], after_hashes: Sequence[str | None]) -> None:
        """Record that the changes took place: the hash each file (a move's: the target) has now, None where gone."""
        self.record(self.landings(ids, after_hashes))

    def landings(self, ids: Sequence[int], after_hashes: Sequence[str | None]) -> list[Landing]:
        """The same, to be recorded with something else in one commit."""
        now = self._now()
        return [Landing(now, after, id) for id, after in zip(ids, after_hashes, strict=True)]

    def record(self, landings: Sequence[Landing]) -> None:
        """Record changes that took place."""
        if landings:
            with self._state.write() as conn:
                land(conn, landings)

    def list(
        self,
        vault: str,
        path: str | None = None,
        *,
        limit: int = 100,
        before: int | None = None,
        allow: Callable[[str], bool] = lambda path: True,
    ) -> list[Snapshot]:
        """The newest first, of one path or of all that `allow` lets through; `before` is the last id already seen."""
        sql, values = f"SELECT {_FIELDS} FROM note_snapshots WHERE vault_id = ?", [vault]
        sql, values = _narrow(sql, values, path, before)
        found: list[Snapshot] = []
        with self._state.read() as conn:
            for row in conn.exec_driver_sql(f"{sql} ORDER BY id DESC", tuple(values)):
                if len(found) == limit:
                    break
                if allow(row.path) and (row.moved_to is None or allow(row.moved_to)):
                    found.append(Snapshot(*row))
        return found

    def count(
        self, vault: str, path: str | None = None, *, allow: Callable[[str], bool] = lambda path: True
    ) -> int:
        """How many snapshots list() would go through, exactly."""
        sql, values = "SELECT path, moved_to, count(*) FROM note_snapshots WHERE vault_id = ?", [vault]
        sql, values = _narrow(sql, values, path, None)
        with self._state.read() as conn:
            rows = conn.exec_driver_sql(f"{sql} GROUP BY path, moved_to", tuple(values)).all()
        return sum(number for path, to, number in rows if allow(path) and (to is None or allow(to)))

    def get(self, vault: str, id: int) -> Snapshot:
        """One snapshot of this vault; the id of another vault's is unknown here."""
        with self._state.read() as conn:
            return _one(conn, vault, id)

    def read(self, vault: str, id: int) -> bytes | None:
        """What the file held before the change; None where there was no file."""
        with self._state.read() as conn:
            snapshot = _one(conn, vault, id)
            return None if snapshot.hash is None else blobs.get(conn, vault, snapshot.hash)

    def latest(self, vault: str, path: str) -> Snapshot | None:
        """The newest snapshot of a path."""
        found = self.list(vault, path, limit=1)
        return found[0] if found else None

    def session_changes(self, vault: str, *sessions: str) -> Sequence[Snapshot]:
        """All that sessions changed in a vault, in order. For each path the first `hash` and the last `after_hash` say
        what to restore and whether the file has moved on; long sessions may lack steps between those.
        """
        these = f"session IN ({', '.join('?' * len(sessions))})"
        sql = f"SELECT {_FIELDS} FROM note_snapshots WHERE vault_id = ? AND {these} ORDER BY id"
        with self._state.read() as conn:
            return [Snapshot(*row) for row in conn.exec_driver_sql(sql, (vault, *sessions))]

    def prune(self) -> int:
        """Drop what is beyond the retention and no recent session needs, then contents nothing refers to.

        Returns the number of snapshots dropped.
        """
        with self._state.read() as conn:
            values = (self._retention, self._now() - self._session_seconds)
            ids = conn.exec_driver_sql(_SUPERFLUOUS, values).scalars().all()
        dropped = delete_rows(self._state, "note_snapshots", ids)
        delete_where(self._state, "snapshot_blobs", blobs.UNUSED)
        return dropped

    def _add(
        self,
        conn: Connection,
        vault: str,
        file: Before,
        blob: blobs.Blob | None,
        session: str | None,
        tool: str | None,
    ) -> int:
        if blob is not None:
            blobs.put(conn, vault, blob)
        content = (None, None) if blob is None else (blob.hash, blob.size)
        row = (vault, file.path, file.moved_to, *content, file.op, session, tool, self._now())
        return int(conn.exec_driver_sql(_INSERT, row).lastrowid)


def land(conn: Connection, landings: Sequence[Landing]) -> None:
    """Record changes inside a given transaction."""
    if landings:
        conn.exec_driver_sql(_LAND, [tuple(landing) for landing in landings])


def _one(conn: Connection, vault: str, id: int) -> Snapshot:
    sql = f"SELECT {_FIELDS} FROM note_snapshots WHERE vault_id = ? AND id = ?"
    row = conn.exec_driver_sql(sql, (vault, id)).one_or_none()
    if row is None:
        raise ToolError("invalid_input", f"there is no snapshot {id} in vault {vault!r}")
    return Snapshot(*row)


def _narrow(sql: str, values: Sequence[Any], path: str | None, before: int | None) -> tuple[str, list[Any]]:
    for condition, value in (("path =", path), ("id <", before)):
        if value is not None:
            sql, values = f"{sql} AND {condition} ?", [*values, value]
    return sql, list(values)
