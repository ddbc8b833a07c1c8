"""Which scripts a person has trusted: the hash of their bytes, kept with the server's state and never in a vault."""

from __future__ import annotations

import time

from knapper.store.state import DomainStore

Key = tuple[str, str]  # a vault's id, and a path from its root


class Trust:
    """The trusted hashes, shared by the command line and every server on the same state."""

    def __init__(self, store: DomainStore) -> None:
        self._store = store

    def hashes(self) -> dict[Key, str]:
        """The trusted hash of each script that has one."""
        with self._store.read() as conn:
            rows = conn.exec_driver_sql("SELECT vault_id, path, hash FROM scripts_trusted").all()
        return {(row.vault_id, row.path): row.hash for row in rows}

    def give(self, key: Key, hash: str) -> None:
        """Trust these bytes at this path, and no others any more."""
        sql = "INSERT OR REPLACE INTO scripts_trusted VALUES (?, ?, ?, ?)"
        with self._store.write() as conn:
            conn.exec_driver_sql(sql, (*key, hash, time.time()))

    def take(self, key: Key) -> bool:
        """Trust nothing at this path; whether anything was trusted."""
        sql = "DELETE FROM scripts_trusted WHERE vault_id = ? AND path = ?"
        with self._store.write() as conn:
            return bool(conn.exec_driver_sql(sql, key).rowcount)
