"""Idempotency keys: one key runs one call once, and a retry learns what became of it.

    in_flight ──► effect_committed ──► completed
        │                └───────────► indeterminate
        └──► (deleted: nothing had happened yet)

After an effect a row is never deleted before it expires; what is uncertain stays `indeterminate`. A retry that meets
`effect_committed` is told to wait while the call may still be running, and after that to look for itself.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from knapper.errors import ToolError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from knapper.store.state import State

_log = logging.getLogger("knapper.store")

_INSERT = (
    "INSERT INTO idempotency_keys (vault_id, key, claim, tool, args_hash, state, started_at, expires_at)"
    " VALUES (?, ?, ?, ?, ?, 'in_flight', ?, ?) ON CONFLICT DO NOTHING"
)
_SELECT = (
    "SELECT tool, args_hash, state, started_at, completed_at, result, result_size, expires_at"
    " FROM idempotency_keys WHERE vault_id = ? AND key = ?"
)
_OURS = " WHERE vault_id = ? AND key = ? AND claim = ?"
_COMMITTED = "UPDATE idempotency_keys SET state = 'effect_committed'" + _OURS + " AND state = 'in_flight'"
_COMPLETE = (
    "UPDATE idempotency_keys SET state = 'completed', completed_at = ?, result = ?, result_size = ?" + _OURS
)
_INDETERMINATE = "UPDATE idempotency_keys SET state = 'indeterminate', completed_at = ?, result = 'null', result_size = NULL"
_NOT_COMPLETED = " AND state <> 'completed'"
_RELEASE = "DELETE FROM idempotency_keys" + _OURS + " AND state = 'in_flight'"


class Claimed(NamedTuple):
    """The right to run the call; the token tells this claim from a later one of the same key."""

    vault: str
    key: str
    tool: str
    args_hash: str
    token: str


class Replay(NamedTuple):
    """What the first run answered: its bytes, or None where the answer was over the byte limit, and the size."""

    result: bytes | None
    size: int


class Keys:
    """Claims, markers and outcomes of keyed calls; every decision is one transaction on the durable row."""

    def __init__(
        self, state: State, ttl: float = 86400, reclaim: float = 60, *, now: Callable[[], float] = time.time
    ) -> None:
        self._state = state
        self._ttl = ttl
        self._reclaim = reclaim
        self._now = now
        self.release_failed = 0

    def claim(self, vault: str, key: str, tool: str, args_hash: str) -> Claimed | Replay:
        """Take the key, or get the earlier answer, or the error that says why neither is possible."""
        claimed = Claimed(vault, key, tool, args_hash, secrets.token_hex(8))
        with self._state.write() as conn:
            if self._insert(conn, claimed):
                return claimed
            row = _Row(*conn.exec_driver_sql(_SELECT, (vault, key)).one())
            if row.reclaimable(self._now(), self._reclaim):
                conn.exec_driver_sql(
                    "DELETE FROM idempotency_keys WHERE vault_id = ? AND key = ?", (vault, key)
                )
                self._insert(conn, claimed)
                return claimed
        return self._earlier(row, claimed)

    def committed(self, claim: Claimed) -> None:
        """Mark, before the first durable effect, that from here on a fault leaves the outcome uncertain.

        Raises `idempotency_in_flight` where the key was reclaimed meanwhile: the effect must not begin.
        """
        with self._state.write() as conn:
            if conn.exec_driver_sql(_COMMITTED, _key(claim)).rowcount == 1:
                return
            marked = conn.exec_driver_sql("SELECT state FROM idempotency_keys" + _OURS, _key(claim)).scalar()
        if marked is None:
            raise ToolError("idempotency_in_flight", "another call has taken over this key", key=claim.key)

    def complete(self, claim: Claimed, result: bytes, size: int | None = None) -> bool:
        """Keep the answer for replays; False where the claim is no longer ours."""
        with self._state.write() as conn:
            return settle(conn, claim, self._now(), result, len(result) if size is None else size)

    def overflow(self, claim: Claimed, size: int) -> bool:
        """Keep that the answer was too large: a retry gets the same error and runs nothing."""
        with self._state.write() as conn:
            return settle(conn, claim, self._now(), None, size)

    def indeterminate(self, claim: Claimed) -> bool:
        """Keep that nobody knows whether the effect took place; a completed call stays completed."""
        with self._state.write() as conn:
            return settle(conn, claim, self._now(), None, None)

    def release(self, claim: Claimed) -> bool:
        """Give the key back if nothing durable has happened; else it becomes indeterminate.

        The durable row decides, since a marker may have been rolled back with its transaction. A fault here leaves
        the row as it is and is counted in `release_failed`.
        """
        try:
            with self._state.write() as conn:
                return release(conn, claim, self._now())
        except Exception as error:  # noqa: BLE001 - a fault counts as committed: the row stays
            self.release_failed += 1
            _log.error("the idempotency key of %s could not be released: %s", claim.tool, error)
            return False

    def _insert(self, conn: Connection, claimed: Claimed) -> bool:
        vault, key, tool, args_hash, token = claimed
        now = self._now()
        row = (vault, key, token, tool, args_hash, now, now + self._ttl)
        return conn.exec_driver_sql(_INSERT, row).rowcount == 1

    def _earlier(self, row: _Row, claimed: Claimed) -> Replay:
        key = claimed.key
        if (row.tool, row.args_hash) != (claimed.tool, claimed.args_hash):
            raise ToolError("idempotency_key_mismatch", f"key {key!r} belongs to another call", key=key)
        if row.running(self._now(), self._reclaim):
            raise ToolError("idempotency_in_flight", f"a call with key {key!r} is still running", key=key)
        if row.state == "completed" and row.result_size is not None:
            if row.result is None or _is_json(row.result):
                return Replay(row.result, row.result_size)
            self._distrust(claimed)
        raise ToolError("indeterminate_outcome", f"the call with key {key!r} may have taken effect", key=key)

    def _distrust(self, claimed: Claimed) -> None:
        """The effect took place but its answer is unreadable: deleting the row would let a retry repeat it."""
        with self._state.write() as conn:
            where = " WHERE vault_id = ? AND key = ? AND state = 'completed'"
            conn.exec_driver_sql(_INDETERMINATE + where, (self._now(), claimed.vault, claimed.key))


def settle(conn: Connection, claim: Claimed, now: float, result: bytes | None, size: int | None) -> bool:
    """Write the outcome inside a given transaction: an answer, an overflow (no result), or neither for uncertain."""
    if size is None:
        done = conn.exec_driver_sql(_INDETERMINATE + _OURS + _NOT_COMPLETED, (now, *_key(claim)))
    else:
        done = conn.exec_driver_sql(_COMPLETE, (now, result, size, *_key(claim)))
    return done.rowcount == 1


def release(conn: Connection, claim: Claimed, now: float) -> bool:
    """Delete an in-flight claim inside a given transaction, or make what is past that indeterminate."""
    if conn.exec_driver_sql(_RELEASE, _key(claim)).rowcount == 1:
        return True
    settle(conn, claim, now, None, None)
    return False


class _Row(NamedTuple):
    tool: str
    args_hash: str
    state: str
    started_at: float
    completed_at: float | None
    result: bytes | None
    result_size: int | None
    expires_at: float

    def running(self, now: float, window: float) -> bool:
        """Whether the call is still under way: who marked an effect within the window has most likely only begun it."""
        recent = self.state == "effect_committed" and now < self.started_at + window
        return self.state == "in_flight" or recent

    def reclaimable(self, now: float, window: float) -> bool:
        crashed = self.state == "in_flight" and self.completed_at is None and self.started_at + window <= now
        return self.expires_at <= now or crashed


def _key(claim: Claimed) -> tuple[str, str, str]:
    return claim.vault, claim.key, claim.token


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True
