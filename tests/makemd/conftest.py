"""Spaces as make.md writes them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from knapper.testing import VaultFolder

FIELDS = (
    ("File", "file", "", "", "true"),
    ("Status", "option", '{"options":[{"name":"open","value":"open"}]}', "", ""),
    ("Count", "number", "", "", ""),
    ("Done", "boolean", "", "", ""),
    ("Birds", "option-multi", "", "", ""),
    ("Secret key", "text", "", "true", ""),
)
COLUMNS = [name for name, *_ in FIELDS]
ROWS = (
    ("Birds/heron.md", "open", "12", "false", '["grey","tall"]', "h"),
    ("Birds/bittern.md", "shut", "2.5", "true", "brown,shy\\, rare", ""),
    ("Birds/coot.md", "", "", "", "", "c"),
)


def make_database(
    path: Path,
    fields: Sequence[Sequence[str]] = FIELDS,
    columns: Sequence[str] = COLUMNS,
    rows: Sequence[Sequence[Any]] = ROWS,
) -> sqlite3.Connection:
    """A context.mdb, still open."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.executescript(
        'CREATE TABLE m_schema (id TEXT, name TEXT, type TEXT, def TEXT, predicate TEXT, "primary" TEXT);'
        "CREATE TABLE m_fields (name TEXT, schemaId TEXT, type TEXT, value TEXT, attrs TEXT, hidden TEXT,"
        ' "unique" TEXT, "primary" TEXT);'
    )
    connection.execute("INSERT INTO m_schema VALUES ('files', 'Items', 'db', '', '', 'true')")
    connection.execute("INSERT INTO m_schema VALUES ('filesView', 'All', 'view', '{}', '{}', '')")
    connection.executemany(
        "INSERT INTO m_fields VALUES (?, 'files', ?, ?, '', ?, '', ?)",
        [(name, type, value, hidden, primary) for name, type, value, hidden, primary in fields],
    )
    quoted = ['"' + name.replace('"', '""') + '" TEXT' for name in columns]
    connection.execute(f"CREATE TABLE files ({', '.join(quoted)})")
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO files VALUES ({marks})", rows)
    connection.commit()
    return connection


def make_space(vault: VaultFolder, folder: str = "Birds", definition: Any = None, **database: Any) -> None:
    """A space with a definition and a database, and a note for each of its rows."""
    for path, *_ in database.get("rows", ROWS):
        vault[path] = f"About {path}."
    place = vault.path / folder / ".space"
    with closing(make_database(place / "context.mdb", **database)):
        (place / "def.json").write_text(json.dumps(definition or {}), encoding="utf-8")


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Every file, hidden or not, with what it holds."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }
