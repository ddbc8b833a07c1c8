"""Backups of a live state, and restoring only what is whole."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knapper.errors import ToolError
from knapper.store.migrations import DomainTables, Migration
from knapper.store.sqlite import connect, raw_connect
from knapper.store.state import State
from tests.core.conftest import fill


def note(state: State, event: str) -> None:
    with state.write() as conn:
        conn.exec_driver_sql("INSERT INTO event_log (ts, status, event_type) VALUES (1, 'ok', ?)", (event,))


def events(path: Path) -> list[str]:
    state = State.open(path)
    with state.read() as conn:
        found = list(conn.exec_driver_sql("SELECT event_type FROM event_log ORDER BY id").scalars())
    state.close()
    return found


def refusal(source: Path, path: Path, *domains: DomainTables) -> str:
    with pytest.raises(ToolError) as caught:
        State.restore(source, path, domains=domains)
    assert caught.value.code == "conflict"
    return caught.value.message


def test_a_backup_of_a_live_state_holds_what_is_only_in_its_log(state: State, tmp_path: Path) -> None:
    note(state, "in the log")
    assert state.path.with_name("state.db-wal").stat().st_size > 0
    state.backup(tmp_path / "copy.db")
    assert events(tmp_path / "copy.db") == ["in the log"]


def test_a_backup_is_one_file_for_its_owner_alone(state: State, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    state.backup(folder / "copy.db")
    assert [entry.name for entry in folder.iterdir()] == ["copy.db"]
    if sys.platform != "win32":
        assert stat.S_IMODE((folder / "copy.db").stat().st_mode) == 0o600


def test_a_backup_that_finds_no_room_says_so_and_leaves_the_earlier_one(
    state: State, small_disk: Path
) -> None:
    state.backup(small_disk / "copy.db")
    kept = (small_disk / "copy.db").read_bytes()
    fill(small_disk)
    with pytest.raises(ToolError, match=r"^no backup was made: database or disk is full$"):
        state.backup(small_disk / "copy.db")
    assert sorted(file.name for file in small_disk.iterdir()) == ["copy.db", "filler"]
    assert (small_disk / "copy.db").read_bytes() == kept


def test_restoring_without_room_for_it_changes_nothing(
    state: State, small_disk: Path, tmp_path: Path
) -> None:
    note(state, "kept")
    state.backup(tmp_path / "copy.db")
    State.restore(tmp_path / "copy.db", small_disk / "state.db")
    filler = fill(small_disk)
    message = refusal(tmp_path / "copy.db", small_disk / "state.db")
    assert message == "there is no room for the restored state; nothing was changed"
    filler.unlink()
    assert events(small_disk / "state.db") == ["kept"]


def test_what_a_killed_backup_left_is_removed_when_nobody_can_be_at_work_on_it(
    state: State, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    old = folder / ".copy.db.0123456789abcdef"
    young = folder / ".copy.db.fedcba9876543210"
    others = folder / ".copy.db.txt"
    for file in (old, young, others):
        file.write_text("half")
    for file in (old, others):
        os.utime(file, (1, 1))
    state.backup(folder / "copy.db")
    assert sorted(file.name for file in folder.iterdir()) == sorted([young.name, others.name, "copy.db"])


def test_a_backup_replaces_an_earlier_one(state: State, tmp_path: Path) -> None:
    state.backup(tmp_path / "copy.db")
    note(state, "second")
    state.backup(tmp_path / "copy.db")
    assert events(tmp_path / "copy.db") == ["second"]


def test_a_backup_onto_the_state_itself_is_refused(state: State) -> None:
    note(state, "kept")
    with pytest.raises(ToolError, match="cannot be its own backup"):
        state.backup(state.path)
    with state.read() as conn:
        assert conn.exec_driver_sql("SELECT event_type FROM event_log").scalars().all() == ["kept"]


def test_backups_taken_while_another_process_writes_are_whole(
    path: Path, tmp_path: Path, spawn: Callable[..., Any]
) -> None:
    program = """
import sys
from knapper.store.state import State
state = State.open(sys.argv[1])
number = 0
while True:
    with state.write() as conn:
        for _ in range(2):
            conn.exec_driver_sql("INSERT INTO event_log (ts, status, event_type) VALUES (?, 'ok', 'x')", (number,))
    number += 1
    if number == 20:
        print("writing", flush=True)
"""
    child = spawn(program, str(path))
    assert child.line() == "writing"
    state = State.open(path)
    for number in range(5):
        copy = tmp_path / f"{number}.db"
        state.backup(copy)
        connection = raw_connect(copy)
        halves = connection.execute(
            "SELECT count(*) FROM event_log GROUP BY ts HAVING count(*) <> 2"
        ).fetchall()
        rows = connection.execute("SELECT count(*) FROM event_log").fetchone()[0]
        connection.close()
        assert halves == []
        assert rows >= 40
    state.close()


def test_restoring_brings_the_backup_back(state: State, tmp_path: Path) -> None:
    note(state, "before")
    state.backup(tmp_path / "copy.db")
    note(state, "after")
    state.close()
    State.restore(tmp_path / "copy.db", state.path)
    assert events(state.path) == ["before"]
    assert (tmp_path / "copy.db").exists()


def test_restoring_where_there_is_no_state_yet_creates_it(state: State, tmp_path: Path) -> None:
    note(state, "moved house")
    state.backup(tmp_path / "copy.db")
    State.restore(tmp_path / "copy.db", tmp_path / "new" / "state.db")
    assert events(tmp_path / "new" / "state.db") == ["moved house"]


def test_restoring_over_a_state_in_use_is_refused(state: State, tmp_path: Path) -> None:
    state.backup(tmp_path / "copy.db")
    note(state, "still here")
    assert refusal(tmp_path / "copy.db", state.path) == "the state is in use; stop the server, then restore"
    note(state, "and working")
    state.close()
    assert events(state.path) == ["still here", "and working"]


def test_restoring_replaces_a_damaged_state_and_its_log(state: State, tmp_path: Path) -> None:
    note(state, "good")
    state.backup(tmp_path / "copy.db")
    note(state, "only in the old log")
    log = state.path.with_name("state.db-wal")
    old = log.read_bytes()
    state.close()
    state.path.write_bytes(b"not a database at all")
    log.write_bytes(old)
    State.restore(tmp_path / "copy.db", state.path)
    assert events(state.path) == ["good"]


def test_a_backup_of_an_earlier_version_is_restored_and_then_migrated(state: State, tmp_path: Path) -> None:
    note(state, "early")
    state.backup(tmp_path / "copy.db")
    state.close()
    connection = connect(tmp_path / "copy.db")
    connection.execute("DELETE FROM schema_migrations WHERE version = '20261118_004'")
    connection.execute("DROP TABLE vault_folders")
    connection.close()
    State.restore(tmp_path / "copy.db", state.path)
    assert events(state.path) == ["early"]


def test_a_damaged_backup_is_refused_and_nothing_changes(state: State, tmp_path: Path) -> None:
    for number in range(300):
        note(state, f"event {number} " + "x" * 200)
    state.backup(tmp_path / "copy.db")
    state.close()
    data = bytearray((tmp_path / "copy.db").read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8192] = b"\xff" * 8192
    (tmp_path / "copy.db").write_bytes(data)
    assert refusal(tmp_path / "copy.db", state.path).startswith("'copy.db' is ")
    assert len(events(state.path)) == 300
    assert [entry.name for entry in state.path.parent.iterdir()] == ["state.db"]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM schema_migrations",
        "PRAGMA foreign_keys = OFF; INSERT INTO note_snapshots (vault_id, path, hash, op, created_at)"
        " VALUES ('main', 'a.md', 'no such content', 'overwrite', 0)",
        "PRAGMA ignore_check_constraints = ON; INSERT INTO snapshot_blobs VALUES ('main', 'h', 'odd', x'00', 1)",
    ],
    ids=["no history", "snapshot without content", "broken constraint"],
)
def test_a_backup_that_contradicts_itself_is_refused(state: State, tmp_path: Path, damage: str) -> None:
    state.backup(tmp_path / "copy.db")
    state.close()
    connection = raw_connect(tmp_path / "copy.db")
    connection.executescript(damage)
    connection.close()
    expected = "'copy.db' is damaged or not a backup of the state; nothing was changed"
    assert refusal(tmp_path / "copy.db", state.path) == expected


def test_a_file_that_is_no_state_is_refused(state: State, tmp_path: Path) -> None:
    state.close()
    (tmp_path / "letter.txt").write_text("Dear database," * 500)
    other = connect(tmp_path / "other.db")
    other.execute("CREATE TABLE recipes (name)")
    other.close()
    assert "'letter.txt' is not a backup of the state" in refusal(tmp_path / "letter.txt", state.path)
    assert "'other.db' is not a backup of the state" in refusal(tmp_path / "other.db", state.path)
    assert refusal(tmp_path / "none.db", state.path) == "there is no backup 'none.db'"


def test_a_backup_of_a_newer_version_is_refused(state: State, tmp_path: Path) -> None:
    state.backup(tmp_path / "copy.db")
    state.close()
    connection = connect(tmp_path / "copy.db")
    connection.execute("INSERT INTO schema_migrations VALUES ('core', '20991231_001', 'x', 1, '9', 1)")
    connection.close()
    assert "newer version of knapper" in refusal(tmp_path / "copy.db", state.path)


def test_a_backup_whose_plugin_tables_have_drifted_is_refused(path: Path, tmp_path: Path) -> None:
    sql = "CREATE TABLE capture_queue (vault_id TEXT NOT NULL)"
    state = State.open(path, domains=[DomainTables("capture", [Migration("20260101_001", sql)])])
    state.backup(tmp_path / "copy.db")
    state.close()
    changed = DomainTables("capture", [Migration("20260101_001", sql + " ")])
    assert "migration 20260101_001 of the domain 'capture' has changed" in refusal(
        tmp_path / "copy.db", path, changed
    )
