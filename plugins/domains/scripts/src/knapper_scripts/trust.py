"""Which scripts a person has trusted: the hash of their bytes, kept with the server's state and never in a vault."""

from __future__ import annotations

import time

from knapper.store.audit import Audit, AuditRow
from knapper.store.state import State

Key = tuple[str, str]  # a vault's id, and a path from its root


class Trust:
    """The trusted hashes, shared by the command line and every server on the same state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def hashes(self) -> dict[Key, str]:
        """The trusted hash of each script that has one."""
        with self._state.read() as conn:
            rows = conn.exec_driver_sql("SELECT vault_id, path, hash FROM scripts_trusted").all()
        return {(row.vault_id, row.path): row.hash for row in rows}

    def give(self, key: Key, hash: str) -> None:
        """Trust these bytes at this path, and no others any more."""
        sql, now = "INSERT OR REPLACE INTO scripts_trusted VALUES (?, ?, ?, ?)", time.time()
        with self._state.write() as conn:
            conn.exec_driver_sql(sql, (*key, hash, now))
            Audit(self._state).write(conn, _row(key, now, "script_trusted", hash))

    def take(self, key: Key) -> bool:
        """Trust nothing at this path; whether anything was trusted."""
        sql = "DELETE FROM scripts_trusted WHERE vault_id = ? AND path = ?"
        with self._state.write() as conn:
            taken = bool(conn.exec_driver_sql(sql, key).rowcount)
            if taken:
                Audit(self._state).write(conn, _row(key, time.time(), "script_untrusted"))
        return taken


def _row(key: Key, now: float, event: str, hash: str | None = None) -> AuditRow:
    """The word of a person, for the audit log, whose column for hashes has thirty-two digits."""
    vault, path = key
    shown = hash[:32] if hash else None
    return AuditRow(ts=now, status="ok", vault_id=vault, tool=path, args_hash=shown, event_type=event)
