"""Confirmations: what a person has to allow, for exactly one call by exactly one caller, once."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from knapper.errors import ToolError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from knapper.store.state import State

_FIELDS = "id, vault_id, tool, args_hash, caller, change, diff, state, created_at, decided_at, expires_at, consumed_at"
_SAME_CALL = " vault_id = ? AND tool = ? AND args_hash = ? AND caller = ?"
_SPENDABLE = " AND consumed_at IS NULL AND expires_at >= ?"
_NEWEST = f" WHERE {_SAME_CALL} AND state = ?{_SPENDABLE} ORDER BY created_at DESC, id LIMIT 1"
_UNSEEN = ("{}", "")  # of a token that was minted without a request: nothing was shown that could change


class Approval(NamedTuple):
    """A request for a person's word: the call, what it would do, and what was decided."""

    id: str
    vault: str
    tool: str
    args_hash: str
    caller: str
    change: dict[str, Any]
    diff: str
    state: str
    created_at: float
    decided_at: float | None
    expires_at: float
    consumed_at: float | None

    @property
    def digest(self) -> str:
        """Stands for what a person was shown: another change or diff has another digest."""
        return digest(self.change, self.diff)


def digest(change: dict[str, Any], diff: str) -> str:
    """Stands for a change and a diff as a person is shown them."""
    return hashlib.sha256(_canonical(change) + b"\0" + diff.encode("utf-8", "surrogatepass")).hexdigest()


class Approvals:
    """Pending requests, decisions and tokens; a caller of None has no identity and never matches."""

    def __init__(self, state: State, ttl: float = 300, *, now: Callable[[], float] = time.time) -> None:
        self._state = state
        self._ttl = ttl
        self._now = now

    def request(
        self,
        vault: str,
        tool: str,
        args_hash: str,
        caller: str | None,
        change: dict[str, Any],
        diff: str = "",
    ) -> str | None:
        """Keep the call for a person and return its id; the same call again has the same id while it is open.

        A repeat refreshes what is shown. Without a caller nobody could use the answer, so nothing is kept.
        """
        if caller is None:
            return None
        call, shown = (vault, tool, args_hash, caller), (_canonical(change).decode(), diff)
        with self._state.write() as conn:
            now = self._now()
            pending = _open(conn, call, "pending", now)
            if pending is None:
                return _insert(conn, call, shown, "pending", None, now, now + self._ttl)
            update = "UPDATE confirmations SET change = ?, diff = ?, expires_at = ? WHERE id = ?"
            conn.exec_driver_sql(update, (*shown, now + self._ttl, pending))
            return pending

    def list(self, vault: str | None = None) -> list[Approval]:
        """What waits for a decision, oldest first."""
        sql = f"SELECT {_FIELDS} FROM confirmations WHERE state = 'pending'{_SPENDABLE}"
        values: tuple[Any, ...] = (self._now(),)
        if vault is not None:
            sql, values = f"{sql} AND vault_id = ?", (*values, vault)
        with self._state.read() as conn:
            rows = conn.exec_driver_sql(f"{sql} ORDER BY created_at, id", values).all()
        return [_approval(tuple(row)) for row in rows]

    def show(self, id: str) -> Approval:
        """One request, whatever became of it."""
        with self._state.read() as conn:
            row = conn.exec_driver_sql(
                f"SELECT {_FIELDS} FROM confirmations WHERE id = ?", (id,)
            ).one_or_none()
        if row is None:
            raise ToolError("elicit_invalid", f"there is no request {id!r}")
        return _approval(tuple(row))

    def approve(self, id: str, *, seen: str | None = None) -> Approval:
        """Let exactly this call through once, from now for the configured time.

        With `seen` (the digest of what was shown) it refuses where the request has changed since.
        """
        return self._decide(id, "approved", seen)

    def deny(self, id: str) -> Approval:
        """Close the request without letting the call through."""
        return self._decide(id, "denied", None)

    def mint(self, vault: str, tool: str, args_hash: str, caller: str | None) -> str:
        """Make the single-use token for a call and return it; only its hash is kept.

        An open request or approval of that call takes the token, so one decision is never two permissions.
        """
        if caller is None:
            raise ToolError("elicit_invalid", "a confirmation needs a caller it is for")
        token, call = secrets.token_hex(16), (vault, tool, args_hash, caller)
        with self._state.write() as conn:
            now = self._now()
            until = now + self._ttl
            if approved := _open(conn, call, "approved", now):
                _take_token(conn, approved, "approved", token, now, until)
            elif pending := _open(conn, call, "pending", now):
                _take_token(conn, pending, "minted", token, now, until)
            else:
                _insert(conn, call, _UNSEEN, "minted", _hash(token), now, until)
        return token

    def consume(
        self,
        vault: str,
        tool: str,
        args_hash: str,
        caller: str | None,
        token: str | None = None,
        *,
        shown: str | None = None,
    ) -> bool:
        """Spend the permission for this call: the token's if one is given, else an approval's. True exactly once.

        With `shown` (the digest of what the call would show now) only one that was given for the very same is spent.
        """
        if caller is None:
            return False
        call = (vault, tool, args_hash, caller)
        with self._state.write() as conn:
            now = self._now()
            id = _fitting(conn, call, token, shown, now)
            if id is not None:
                conn.exec_driver_sql("UPDATE confirmations SET consumed_at = ? WHERE id = ?", (now, id))
            return id is not None

    def _decide(self, id: str, decision: str, seen: str | None) -> Approval:
        with self._state.write() as conn:
            now = self._now()
            approval = self.show(id)
            if seen is not None and seen != approval.digest:
                raise ToolError(
                    "elicit_invalid", f"request {id!r} has changed since it was shown; look again"
                )
            update = "UPDATE confirmations SET state = ?, decided_at = ?, expires_at = ? WHERE id = ?"
            guard = f" AND state = 'pending'{_SPENDABLE}"
            values = (decision, now, now + self._ttl, id, now)
            if conn.exec_driver_sql(update + guard, values).rowcount != 1:
                over = approval.state if approval.state != "pending" else "expired"
                raise ToolError("elicit_invalid", f"request {id!r} is no longer open: it is {over}")
            return self.show(id)


def _open(conn: Connection, call: tuple[str, str, str, str], state: str, now: float) -> str | None:
    found: str | None = conn.exec_driver_sql(
        f"SELECT id FROM confirmations{_NEWEST}", (*call, state, now)
    ).scalar()
    return found


def _fitting(
    conn: Connection, call: tuple[str, str, str, str], token: str | None, shown: str | None, now: float
) -> str | None:
    """The newest permission for a call that was given for what the call would do now."""
    which, values = ("state = 'approved'", ()) if token is None else ("token_hash = ?", (_hash(token),))
    rows = conn.exec_driver_sql(
        f"SELECT id, change, diff FROM confirmations WHERE {which} AND state IN ('approved', 'minted')"
        f" AND {_SAME_CALL}{_SPENDABLE} ORDER BY created_at DESC, id",
        (*values, *call, now),
    )
    for id, change, diff in rows.all():
        unseen = token is not None and (change, diff) == _UNSEEN
        if shown is None or unseen or digest(msgspec.json.decode(change), diff) == shown:
            return str(id)
    return None


def _insert(
    conn: Connection,
    call: tuple[str, str, str, str],
    shown: tuple[str, str],
    state: str,
    token_hash: str | None,
    now: float,
    until: float,
) -> str:
    id = f"apr_{secrets.token_hex(6)}"
    conn.exec_driver_sql(
        "INSERT INTO confirmations (id, vault_id, tool, args_hash, caller, change, diff, state, token_hash,"
        " created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (id, *call, *shown, state, token_hash, now, until),
    )
    return id


def _take_token(conn: Connection, id: str, state: str, token: str, now: float, until: float) -> None:
    update = "UPDATE confirmations SET state = ?, token_hash = ?, decided_at = ?, expires_at = ? WHERE id = ?"
    conn.exec_driver_sql(update, (state, _hash(token), now, until, id))


def _approval(row: tuple[Any, ...]) -> Approval:
    return Approval(*row)._replace(change=msgspec.json.decode(row[5]))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(change: dict[str, Any]) -> bytes:
    return msgspec.json.encode(change, order="deterministic")
