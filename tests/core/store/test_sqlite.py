"""Which SQLite is used, and how a connection is set up."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from knapper.store.sqlite import PRAGMAS, connect, raw_connect, sqlite_module, sqlite_report


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_report_names_the_module_that_is_really_used() -> None:
    report = sqlite_report()
    assert report.module == sqlite_module().__name__.partition(".")[0]
    assert report.version == sqlite_module().sqlite_version


def test_the_report_on_the_standard_library_tells_whether_its_connections_load_extensions() -> None:
    report = sqlite_report(sqlite3)
    assert report == ("sqlite3", sqlite3.sqlite_version, hasattr(sqlite3.Connection, "enable_load_extension"))


def test_without_pysqlite3_the_standard_library_carries_the_whole_store(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["pysqlite3"] = None
from knapper.store.sqlite import sqlite_report
from knapper.store.state import State
from knapper.store.idempotency import Keys
from knapper.store.migrations import DomainTables, Migration
sql = "CREATE TABLE tasks_done (vault_id TEXT NOT NULL, title TEXT NOT NULL)"
state = State.open(sys.argv[1], domains=[DomainTables("tasks", [Migration("20260101_001", sql)])])
keys = Keys(state)
claim = keys.claim("main", "k", "write_note", "h")
keys.complete(claim, b"{}")
print(sqlite_report().module, keys.claim("main", "k", "write_note", "h"))
"""
    assert run(program, str(tmp_path / "state.db")) == "sqlite3 Replay(result=b'{}', size=2)"


def test_a_connection_has_every_pragma(tmp_path: Path) -> None:
    connection = connect(tmp_path / "any.db")
    answers = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _names()}
    connection.close()
    assert answers == {
        "busy_timeout": 5000,
        "foreign_keys": 1,
        "journal_mode": "wal",
        "synchronous": 1,
        "cache_size": -4000,
        "temp_store": 2,
        "mmap_size": 268435456,
    }


def test_waiting_for_locks_is_set_before_the_journal_needs_one() -> None:
    assert _names().index("busy_timeout") == 0


def test_a_connection_waits_where_sqlite_itself_gives_up_at_once(tmp_path: Path) -> None:
    holder = raw_connect(tmp_path / "any.db")
    holder.execute("CREATE TABLE t (x)")
    holder.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(connect, tmp_path / "any.db")
        # A connection that does not wait has failed by now.
        assert wait([opening], timeout=0.2).done == set()
        holder.execute("COMMIT")
        connection = opening.result(timeout=30)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    holder.close()


def test_importing_the_package_and_opening_a_state_does_not_import_sqlalchemy(tmp_path: Path) -> None:
    program = """
import pathlib, sys
import knapper.store
from knapper.store import audit, backup, batches, blobs, confirmations, fence, idempotency
from knapper.store import jobs, maintenance, migrations, scheduler, snapshots, sqlite, state, stats, transactions
domain = migrations.DomainTables("birds", [migrations.Migration("20260101_001", "CREATE TABLE birds_seen (vault_id TEXT NOT NULL)")])
state.State.open(sys.argv[1], domains=[domain], vaults={"main": pathlib.Path()}).close()
print([name for name in sys.modules if name.startswith("sqlalchemy")])
"""
    assert run(program, str(tmp_path / "state.db")) == "[]"


def _names() -> list[str]:
    return [pragma.partition("=")[0] for pragma in PRAGMAS]
