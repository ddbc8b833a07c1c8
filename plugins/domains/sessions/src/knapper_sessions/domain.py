"""The sessions domain itself: its table."""

from __future__ import annotations

from knapper import Domain, Migration

TABLE = """
CREATE TABLE sessions_sessions (
    vault_id TEXT NOT NULL,
    id TEXT NOT NULL,
    declared TEXT NOT NULL,
    principal TEXT NOT NULL,
    observed TEXT NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL,
    metadata TEXT,
    PRIMARY KEY (vault_id, id)
) WITHOUT ROWID;
CREATE INDEX sessions_by_start ON sessions_sessions (vault_id, started_at);
"""
# Asked with every change of a file: which session is it part of?
OBSERVED = "CREATE INDEX sessions_by_observed ON sessions_sessions (vault_id, observed, started_at);"

sessions = Domain(
    "sessions",
    summary="Begin and end sessions of work, and read their traces.",
    group="workspace",
    tables=[Migration("20260101_001", TABLE), Migration("20260101_002", OBSERVED)],
)
