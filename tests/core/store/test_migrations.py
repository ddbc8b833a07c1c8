"""The chain of migrations: applied once and in order, and refused where history differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knapper.errors import PluginError, ToolError
from knapper.store import migrations
from knapper.store.fence import core_tables
from knapper.store.migrations import CORE, Migration, core_migrations, statements
from knapper.store.sqlite import connect, private_file
from knapper.store.state import State


def tables(state: State) -> set[str]:
    with state.read() as conn:
        names = conn.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars()
        return {name for name in names if not name.startswith("sqlite_")}


def rewrite(path: Path, sql: str, *values: Any) -> None:
    connection = connect(path)
    connection.execute(sql, values)
    connection.close()


def earlier_state(path: Path, steps: int) -> None:
    private_file(path)
    connection = connect(path)
    migrations.apply(connection, CORE, core_migrations()[:steps])
    connection.execute("INSERT INTO event_log (ts, status, event_type) VALUES (1, 'ok', 'old')")
    connection.close()


def test_the_whole_chain_makes_exactly_these_tables(state: State) -> None:
    expected = {
        "confirmations",
        "event_log",
        "idempotency_keys",
        "job_runs",
        "job_schedule",
        "note_snapshots",
        "schema_migrations",
        "snapshot_blobs",
        "vault_folders",
    }
    assert tables(state) == expected
    assert {name for name in core_tables() if not name.startswith("sqlite_")} == expected


def test_every_core_table_but_the_ledger_names_its_vault(state: State) -> None:
    with state.read() as conn:
        without = [
            name
            for name in tables(state)
            if "vault_id"
            not in conn.exec_driver_sql("SELECT name FROM pragma_table_info(?)", (name,)).scalars().all()
        ]
    assert without == ["schema_migrations"]


@pytest.mark.parametrize("steps", range(1, len(core_migrations())))
def test_every_earlier_state_is_brought_up_to_date_with_its_rows(path: Path, steps: int) -> None:
    earlier_state(path, steps)
    state = State.open(path)
    with state.read() as conn:
        applied = conn.exec_driver_sql("SELECT domain, version FROM schema_migrations ORDER BY version").all()
        kept = conn.exec_driver_sql("SELECT event_type FROM event_log").scalars().all()
    state.close()
    assert [tuple(row) for row in applied] == [
        ("core", "20261118_001"),
        ("core", "20261118_002"),
        ("core", "20261118_003"),
        ("core", "20261118_004"),
    ]
    assert kept == ["old"]


def test_a_changed_migration_is_refused(path: Path) -> None:
    State.open(path).close()
    rewrite(path, "UPDATE schema_migrations SET checksum = 'other' WHERE version = '20261118_002'")
    with pytest.raises(ToolError, match="migration 20261118_002 of knapper has changed") as caught:
        State.open(path)
    assert (caught.value.code, caught.value.details) == (
        "conflict",
        {"domain": "core", "version": "20261118_002"},
    )


def test_a_state_of_a_newer_version_is_refused(path: Path) -> None:
    State.open(path).close()
    rewrite(path, "INSERT INTO schema_migrations VALUES ('core', '20991231_001', 'x', 1, '9.0', 1)")
    with pytest.raises(ToolError) as caught:
        State.open(path)
    assert caught.value.code == "conflict"
    assert caught.value.message == (
        "the state was written by a newer version of knapper: it has migration 20991231_001, known is 20261118_004"
    )


def test_a_migration_slipped_in_before_an_applied_one_is_refused(path: Path) -> None:
    State.open(path).close()
    rewrite(path, "DELETE FROM schema_migrations WHERE version = '20261118_002'")
    with pytest.raises(ToolError, match="20261118_003 of knapper was applied but is not next") as caught:
        State.open(path)
    assert caught.value.code == "conflict"


def test_a_migration_that_fails_leaves_nothing_and_keeps_what_was_before(path: Path) -> None:
    private_file(path)
    chain = [
        Migration("20260101_001", "CREATE TABLE good (a)"),
        Migration("20260101_002", "CREATE TABLE half (a); CREATE TABLE good (a);"),
    ]
    connection = connect(path)
    with pytest.raises(Exception, match="already exists"):
        migrations.apply(connection, "any", chain)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    applied = connection.execute("SELECT version FROM schema_migrations").fetchall()
    connection.close()
    assert (names, applied) == (["schema_migrations", "good"], [("20260101_001",)])


def test_line_endings_do_not_count_as_a_change() -> None:
    assert Migration("20260101_001", "A;\r\nB;").checksum == Migration("20260101_001", "A;\nB;").checksum
    assert Migration("20260101_001", "A;\nB;").checksum != Migration("20260101_001", "A;\nC;").checksum


def test_a_script_is_split_where_sqlite_would_split_it() -> None:
    script = """
    -- a; comment
    CREATE TABLE a (x TEXT DEFAULT ';');
    CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; SELECT 1; END;
    INSERT INTO a VALUES ('x')"""
    assert list(statements(script)) == [
        "-- a; comment\n    CREATE TABLE a (x TEXT DEFAULT ';');",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; SELECT 1; END;",
        "INSERT INTO a VALUES ('x')",
    ]


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        (["1"], "domain 'x': migration version '1' is not of the form YYYYMMDD_NNN"),
        (
            ["20260101_002", "20260101_001"],
            "domain 'x': migration versions must rise, not 20260101_002, 20260101_001",
        ),
        (
            ["20260101_001", "20260101_001"],
            "domain 'x': migration versions must rise, not 20260101_001, 20260101_001",
        ),
    ],
)
def test_a_chain_out_of_order_is_refused(versions: list[str], text: str) -> None:
    with pytest.raises(PluginError) as caught:
        migrations.check_order("x", [Migration(version, "SELECT 1") for version in versions])
    assert str(caught.value) == text
