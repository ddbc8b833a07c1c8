"""The tables of a vault's index, and the fingerprint of everything that shaped them."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from unicodedata import unidata_version

import msgspec

from knapper import __version__
from knapper.domain import Extractor

if TYPE_CHECKING:
    from knapper.index.rows import Reading

VERSION = 13

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
INSERT INTO meta SELECT column1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
    FROM (VALUES ('generation'), ('vectors'));
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
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
    problem TEXT,
    pending INTEGER NOT NULL
);
CREATE INDEX files_pending ON files (id) WHERE pending;
CREATE INDEX notes_by_path ON files (path) WHERE note = 1;
CREATE INDEX files_by_ext ON files (note, ext, path);
CREATE INDEX files_by_mtime ON files (mtime_ns);
CREATE INDEX files_by_size ON files (size);
CREATE INDEX files_by_key ON files (key);
CREATE TABLE texts (file INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE aliases (key TEXT NOT NULL, file INTEGER NOT NULL, alias TEXT NOT NULL);
CREATE INDEX aliases_by_key ON aliases (key);
CREATE INDEX aliases_by_file ON aliases (file);
CREATE TABLE tags (
    key TEXT NOT NULL, file INTEGER NOT NULL, tag TEXT NOT NULL, source INTEGER NOT NULL, ord INTEGER NOT NULL,
    PRIMARY KEY (key, file)
) WITHOUT ROWID;
CREATE INDEX tags_by_file ON tags (file, ord, tag, source);
CREATE TABLE properties (
    key TEXT NOT NULL,
    file INTEGER NOT NULL,
    item INTEGER NOT NULL,
    name TEXT, -- NULL: as the key
    type TEXT NOT NULL,
    text TEXT,
    number REAL
);
CREATE INDEX properties_whole ON properties (key, type, file, name) WHERE item = -1;
CREATE INDEX properties_by_text ON properties (key, text, file);
CREATE INDEX properties_by_number ON properties (key, number, file) WHERE number IS NOT NULL;
CREATE INDEX properties_by_file ON properties (file);
CREATE TABLE links (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    target INTEGER,
    key TEXT NOT NULL,
    path TEXT NOT NULL,
    subpath TEXT NOT NULL,
    written TEXT, -- NULL: the path and subpath as they are
    display TEXT, -- NULL: as written
    kind TEXT NOT NULL,
    embed INTEGER NOT NULL,
    property TEXT,
    line INTEGER NOT NULL,
    col INTEGER NOT NULL
);
CREATE INDEX links_by_file ON links (file);
CREATE INDEX links_by_target ON links (target, file, embed, path);
CREATE INDEX links_by_key ON links (key);
CREATE INDEX links_in_vain ON links (path, file, line) WHERE target IS NULL AND path != '';
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
    indexed = getattr(extractor.row, "indexed", ())
    sql += [f'CREATE INDEX {table}_by_{name} ON {table} ("{name}")' for name in indexed]
    return ";\n".join(sql) + ";\n"


def fingerprint(tables: str, reading: Reading, root: str, excluded: Sequence[str]) -> str:
    """What the index was built by: this version, its tables, the extractors and theirs, how text is read and cut, and of what.

    Two servers that leave different files out cannot share one: each would answer with what the other indexes.
    """
    parts = [f"{VERSION} {__version__} {unidata_version}", tables, str(reading[1:]), root, str(excluded)]
    parts += [
        f"{e.name} {e.version} {columns(e.row)}" for e in sorted(reading.extractors, key=lambda e: e.name)
    ]
    return sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()[:16]
