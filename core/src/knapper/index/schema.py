"""The tables of a vault's index, and the fingerprint of everything that shaped them."""

from __future__ import annotations

import typing
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec

from knapper.domain import Extractor

VERSION = 1

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0);
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    ext TEXT NOT NULL,
    note INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    hash TEXT,
    title TEXT,
    properties BLOB,
    problem TEXT
);
CREATE INDEX files_by_ext ON files (note, ext, path);
CREATE INDEX files_by_mtime ON files (mtime_ns, path);
CREATE INDEX files_by_key ON files (key);
CREATE TABLE texts (file INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE aliases (key TEXT NOT NULL, file INTEGER NOT NULL, alias TEXT NOT NULL);
CREATE INDEX aliases_by_key ON aliases (key);
CREATE INDEX aliases_by_file ON aliases (file);
CREATE TABLE tags (
    key TEXT NOT NULL, file INTEGER NOT NULL, tag TEXT NOT NULL, source INTEGER NOT NULL, ord INTEGER NOT NULL,
    PRIMARY KEY (key, file)
) WITHOUT ROWID;
CREATE INDEX tags_by_file ON tags (file, ord);
CREATE TABLE properties (
    key TEXT NOT NULL, file INTEGER NOT NULL, item INTEGER NOT NULL, name TEXT NOT NULL,
    type TEXT NOT NULL, text TEXT, number REAL
);
CREATE INDEX properties_by_text ON properties (key, text);
CREATE INDEX properties_by_number ON properties (key, number);
CREATE INDEX properties_by_file ON properties (file);
CREATE TABLE links (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    target INTEGER,
    key TEXT NOT NULL,
    path TEXT NOT NULL,
    subpath TEXT NOT NULL,
    written TEXT NOT NULL,
    display TEXT NOT NULL,
    kind TEXT NOT NULL,
    embed INTEGER NOT NULL,
    property TEXT,
    line INTEGER NOT NULL,
    col INTEGER NOT NULL
);
CREATE INDEX links_by_file ON links (file);
CREATE INDEX links_by_target ON links (target, file, embed);
CREATE INDEX links_by_key ON links (key);
CREATE TABLE headings (file INTEGER NOT NULL, ord INTEGER NOT NULL, level INTEGER NOT NULL,
    text TEXT NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (file, ord)) WITHOUT ROWID;
CREATE TABLE blocks (file INTEGER NOT NULL, id TEXT NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (file, id)) WITHOUT ROWID;
"""

CHILDREN = ("texts", "aliases", "tags", "properties", "links", "headings", "blocks")
SCALARS: dict[Any, str] = {str: "TEXT", int: "INTEGER", float: "REAL", bool: "INTEGER", bytes: "BLOB"}


def columns(row: type[msgspec.Struct]) -> list[tuple[str, str]]:
    """An extractor row's fields as columns; what is not a scalar is stored as JSON."""
    hints = typing.get_type_hints(row)
    return [(field, _column_type(hints[field])) for field in row.__struct_fields__]


def _column_type(hint: Any) -> str:
    members = [m for m in typing.get_args(hint) if m is not type(None)]
    plain = members[0] if len(members) == 1 and typing.get_origin(hint) not in (list, tuple, dict) else hint
    return SCALARS.get(plain, "JSON")


def extractor_table(extractor: Extractor) -> str:
    """The table of an extractor's rows, one index on the note and one on each column it names in `indexed`."""
    body = ", ".join(f'"{name}" {kind}' for name, kind in columns(extractor.row))
    table = f"x_{extractor.name}"
    sql = [f"CREATE TABLE {table} (file INTEGER NOT NULL, ord INTEGER NOT NULL, {body})"]
    sql.append(f"CREATE INDEX {table}_by_file ON {table} (file)")
    for name in getattr(extractor.row, "indexed", ()):
        sql.append(f'CREATE INDEX {table}_by_{name} ON {table} ("{name}")')
    return ";\n".join(sql) + ";\n"


def fingerprint(extractors: Iterable[Extractor], settings: Any) -> str:
    """What the index was built by: the tables, the extractors and their versions, and how text is cut."""
    parts = [str(VERSION), TABLES, settings.model_dump_json()]
    parts += [f"{e.name} {e.version} {columns(e.row)}" for e in sorted(extractors, key=lambda e: e.name)]
    return sha256("\n".join(parts).encode()).hexdigest()[:16]
