"""The memory domain itself: its settings and its tables."""

from __future__ import annotations

from knapper import Domain, Migration, Section

TABLES = """
CREATE TABLE memory_entities (
    vault_id TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    vault_path TEXT,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (vault_id, id),
    UNIQUE (vault_id, type, name)
) WITHOUT ROWID;
CREATE TABLE memory_observations (
    vault_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    ord INTEGER NOT NULL,
    text TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (vault_id, entity_id, ord)
) WITHOUT ROWID;
CREATE TABLE memory_relations (
    vault_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    target_id TEXT NOT NULL,
    relation_type TEXT NOT NULL,
    created_at REAL NOT NULL,
    PRIMARY KEY (vault_id, source_id, target_id, relation_type)
) WITHOUT ROWID;
CREATE INDEX memory_relations_by_target ON memory_relations (vault_id, target_id);
"""

PARTS = """
CREATE TABLE memory_parts (
    vault_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    part TEXT NOT NULL,
    PRIMARY KEY (vault_id, entity_id)
) WITHOUT ROWID;
"""


class MemorySettings(Section):
    """Where the notes of entities are."""

    folder: str = "memory"


memory = Domain(
    "memory",
    summary="Remember entities, what is known of them, and how they relate.",
    group="knowledge",
    settings=MemorySettings,
    tables=[Migration("20260101_001", TABLES), Migration("20260101_002", PARTS)],
)
