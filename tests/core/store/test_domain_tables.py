"""Tables that plugins bring: their own names, bound to a vault, and nothing of anybody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from knapper.errors import PluginError, ToolError
from knapper.store.migrations import DomainTables, Migration
from knapper.store.state import State

FIRST = Migration(
    "20260101_001",
    """
    CREATE TABLE capture_queue (id TEXT NOT NULL PRIMARY KEY, vault_id TEXT NOT NULL, content TEXT NOT NULL);
    CREATE INDEX capture_queue_vault ON capture_queue (vault_id);
    """,
)
SECOND = Migration(
    "20260201_001",
    """
    ALTER TABLE capture_queue ADD COLUMN risk INTEGER NOT NULL DEFAULT 0 CHECK (risk >= 0);
    CREATE VIRTUAL TABLE capture_words USING fts5(vault_id UNINDEXED, content);
    CREATE TRIGGER capture_fill AFTER INSERT ON capture_queue
    BEGIN
        INSERT INTO capture_words (vault_id, content) VALUES (new.vault_id, new.content);
    END;
    """,
)


def refusal(state: State, sql: str, slug: str = "capture") -> str:
    with pytest.raises(PluginError) as caught:
        State.open(state.path, domains=[DomainTables(slug, [Migration("20260101_001", sql)])])
    return str(caught.value)


def test_a_domain_writes_and_reads_its_own_tables(path: Path) -> None:
    state = State.open(path, domains=[DomainTables("capture", [FIRST, SECOND])])
    store = state.domain("capture")
    with store.write() as conn:
        conn.exec_driver_sql("INSERT INTO capture_queue VALUES ('a', 'main', 'some words', 0)")
    with store.read() as conn:
        found = (
            conn.exec_driver_sql("SELECT vault_id FROM capture_words WHERE content MATCH 'words'")
            .scalars()
            .all()
        )
    state.close()
    assert found == ["main"]


def test_a_domains_later_migration_keeps_its_rows(path: Path) -> None:
    state = State.open(path, domains=[DomainTables("capture", [FIRST])])
    with state.domain("capture").write() as conn:
        conn.exec_driver_sql("INSERT INTO capture_queue VALUES ('a', 'main', 'text')")
    state.close()
    state = State.open(path, domains=[DomainTables("capture", [FIRST, SECOND])])
    with state.read() as conn:
        rows = conn.exec_driver_sql("SELECT id, vault_id, content, risk FROM capture_queue").all()
    state.close()
    assert [tuple(row) for row in rows] == [("a", "main", "text", 0)]


def test_two_domains_may_use_the_same_version(path: Path) -> None:
    memory = Migration("20260101_001", "CREATE TABLE memory_entities (vault_id TEXT NOT NULL)")
    domains = [DomainTables("capture", [FIRST]), DomainTables("memory", [memory])]
    state = State.open(path, domains=domains)
    with state.read() as conn:
        recorded = conn.exec_driver_sql("SELECT domain FROM schema_migrations WHERE version = '20260101_001'")
        assert sorted(recorded.scalars()) == ["capture", "memory"]
    state.close()


def test_a_domains_changed_migration_is_a_conflict_that_names_it(path: Path) -> None:
    State.open(path, domains=[DomainTables("capture", [FIRST])]).close()
    changed = Migration("20260101_001", FIRST.sql + " ")
    with pytest.raises(ToolError) as caught:
        State.open(path, domains=[DomainTables("capture", [changed])])
    assert caught.value.code == "conflict"
    assert (
        caught.value.message
        == "migration 20260101_001 of the domain 'capture' has changed since it was applied"
    )


def test_an_older_plugin_on_a_newer_plugins_tables_is_a_conflict(path: Path) -> None:
    State.open(path, domains=[DomainTables("capture", [FIRST, SECOND])]).close()
    with pytest.raises(ToolError, match="newer version of the domain 'capture'"):
        State.open(path, domains=[DomainTables("capture", [FIRST])])


def test_the_tables_of_a_removed_plugin_stay(path: Path) -> None:
    State.open(path, domains=[DomainTables("capture", [FIRST])]).close()
    state = State.open(path)
    with state.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM capture_queue").scalar() == 0
    state.close()


def test_a_domain_that_brought_no_tables_has_no_store(state: State) -> None:
    with pytest.raises(PluginError, match="domain 'capture' has brought no tables"):
        state.domain("capture")


def test_a_refused_domain_costs_only_itself(state: State) -> None:
    refusal(state, "CREATE TABLE wrong (vault_id TEXT NOT NULL)")
    memory = Migration("20260101_001", "CREATE TABLE memory_a (vault_id TEXT NOT NULL)")
    again = State.open(state.path, domains=[DomainTables("memory", [memory])])
    assert again.domain("memory").slug == "memory"
    again.close()


def test_a_slug_with_a_hyphen_names_its_tables_with_an_underscore(state: State) -> None:
    sql = "CREATE TABLE dead_links_found (vault_id TEXT NOT NULL)"
    again = State.open(state.path, domains=[DomainTables("dead-links", [Migration("20260101_001", sql)])])
    assert again.domain("dead-links").slug == "dead-links"
    again.close()


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        (
            "CREATE TABLE queue (vault_id TEXT NOT NULL)",
            "table 'queue' is not its own; its tables are named 'capture_...'",
        ),
        (
            "DROP TABLE IF EXISTS event_log",
            "table 'event_log' is not its own; its tables are named 'capture_...'",
        ),
        ("DELETE FROM event_log", "no such table: event_log"),
        ("CREATE INDEX capture_i ON event_log (ts)", "no such table: main.event_log"),
        ("COMMIT", "BEGIN, COMMIT or ROLLBACK is not for migrations"),
        ("ATTACH ':memory:' AS other", "ATTACH is not for migrations"),
        ("PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys is not for migrations"),
        ("CREATE TEMP TABLE capture_t (vault_id TEXT NOT NULL)", "TEMP is not for migrations"),
        ("CREATE TABEL x", 'near "TABEL": syntax error'),
    ],
)
def test_a_migration_that_reaches_outside_its_domain_is_refused(state: State, sql: str, text: str) -> None:
    assert refusal(state, sql) == f"domain 'capture': migration 20260101_001: {text}"


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        (
            "CREATE TABLE capture_a (id INTEGER PRIMARY KEY)",
            "table 'capture_a' needs a column vault_id NOT NULL",
        ),
        ("CREATE TABLE capture_a (vault_id TEXT)", "table 'capture_a' needs a column vault_id NOT NULL"),
        (
            "CREATE TABLE capture_a (vault_id TEXT NOT NULL, id TEXT PRIMARY KEY)",
            "table 'capture_a' needs NOT NULL on its key column 'id'",
        ),
        (
            "CREATE TABLE capture_a (vault_id TEXT NOT NULL); ALTER TABLE capture_a RENAME TO a",
            "table 'a' is not its own; its tables are named 'capture_...'",
        ),
        (
            "CREATE TABLE capture_a (vault_id TEXT NOT NULL, event INTEGER REFERENCES event_log (id))",
            "table 'capture_a' refers to 'event_log', which is not its own",
        ),
        (
            "CREATE VIRTUAL TABLE capture_f USING fts5(text)",
            "table 'capture_f' needs a column vault_id NOT NULL",
        ),
    ],
)
def test_a_table_that_is_not_bound_to_vault_and_domain_is_refused(state: State, sql: str, text: str) -> None:
    assert refusal(state, sql) == f"domain 'capture': {text}"


@pytest.mark.parametrize("sql", ["DROP TABLE IF EXISTS job_runs", "DROP TABLE IF EXISTS JOB_RUNS"])
def test_a_slug_that_begins_like_a_core_table_does_not_own_it(state: State, sql: str) -> None:
    assert "is not its own" in refusal(state, sql, slug="job")
    with state.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM job_runs").scalar() == 0


@pytest.mark.parametrize("slug", ["core", "", "Capture", "1st", "a b"])
def test_a_slug_that_cannot_name_tables_is_refused(state: State, slug: str) -> None:
    assert refusal(state, "SELECT 1", slug=slug) == f"domain {slug!r} cannot have tables under this name"
