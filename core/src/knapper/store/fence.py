"""What a domain's migrations may do: create and change tables of its own name, each bound to a vault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from knapper.errors import PluginError
from knapper.store.migrations import CORE, DomainTables, Migration, check_order, core_migrations, statements
from knapper.store.sqlite import raw_connect, sqlite_module

if TYPE_CHECKING:
    import sqlite3

_SLUG = re.compile(r"[a-z][a-z0-9_-]*")
# Actions of SQLite's authorizer, by which of its arguments names the table.
_TABLE_IS_FIRST = (
    "SQLITE_CREATE_TABLE",
    "SQLITE_CREATE_VIEW",
    "SQLITE_CREATE_VTABLE",
    "SQLITE_DELETE",
    "SQLITE_DROP_TABLE",
    "SQLITE_DROP_VIEW",
    "SQLITE_DROP_VTABLE",
    "SQLITE_INSERT",
    "SQLITE_READ",
    "SQLITE_UPDATE",
)
_TABLE_IS_SECOND = (
    "SQLITE_ALTER_TABLE",
    "SQLITE_CREATE_INDEX",
    "SQLITE_CREATE_TRIGGER",
    "SQLITE_DROP_INDEX",
    "SQLITE_DROP_TRIGGER",
)
_NEVER = {
    "SQLITE_ATTACH": "ATTACH",
    "SQLITE_CREATE_TEMP_INDEX": "TEMP",
    "SQLITE_CREATE_TEMP_TABLE": "TEMP",
    "SQLITE_CREATE_TEMP_TRIGGER": "TEMP",
    "SQLITE_CREATE_TEMP_VIEW": "TEMP",
    "SQLITE_DETACH": "DETACH",
    "SQLITE_SAVEPOINT": "SAVEPOINT",
    "SQLITE_TRANSACTION": "BEGIN, COMMIT or ROLLBACK",
}
# Asked by SQLite itself, inside FTS5 and ALTER TABLE.
_PRAGMAS = frozenset({"data_version", "quick_check"})
_PRAGMA_TABLES = frozenset(f"pragma_{name}" for name in _PRAGMAS)


class Fence:
    """Confines a connection to the tables of one domain while its migrations run."""

    def __init__(self, slug: str) -> None:
        if not _SLUG.fullmatch(slug) or slug == CORE:
            raise PluginError(f"domain {slug!r} cannot have tables under this name")
        module = sqlite_module()
        self.slug = slug
        self.prefix = slug.replace("-", "_") + "_"
        self._first = {getattr(module, name) for name in _TABLE_IS_FIRST}
        self._second = {getattr(module, name) for name in _TABLE_IS_SECOND}
        self._never = {getattr(module, name): word for name, word in _NEVER.items()}
        self._pragma, self._ok, self._deny = module.SQLITE_PRAGMA, module.SQLITE_OK, module.SQLITE_DENY
        self._refused = ""

    def owns(self, table: str) -> bool:
        """Whether the table is this domain's by name; a slug such as `job` does not own the core's own."""
        return table.lower().startswith(self.prefix) and table.lower() not in core_tables()

    @contextmanager
    def __call__(self, connection: sqlite3.Connection, migration: Migration) -> Iterator[None]:
        """Hold the fence around one migration; what it refuses or SQLite rejects is the plugin's error."""
        self._refused = ""
        connection.set_authorizer(self._decide)
        try:
            yield
        except sqlite_module().Error as error:
            reason = self._refused or str(error)
            raise PluginError(f"domain {self.slug!r}: migration {migration.version}: {reason}") from error
        finally:
            connection.set_authorizer(None)

    def _decide(self, action: int, one: str | None, two: str | None, *_: str | None) -> int:
        self._refused = self._refused or self._objection(action, one or "", two or "")
        return int(self._deny if self._refused else self._ok)

    def _objection(self, action: int, one: str, two: str) -> str:
        if action in self._first or action in self._second:
            table = one if action in self._first else two
            if table.startswith("sqlite_") or table in _PRAGMA_TABLES or self.owns(table):
                return ""
            return f"table {table!r} is not its own; its tables are named '{self.prefix}...'"
        if action == self._pragma:
            return "" if one in _PRAGMAS else f"PRAGMA {one} is not for migrations"
        word = self._never.get(action)
        return f"{word} is not for migrations" if word else ""


def lint(fence: Fence, tables: DomainTables) -> None:
    """Run the domain's whole chain in an empty database and refuse what it must not leave there."""
    check_order(tables.slug, tables.migrations)
    scratch = raw_connect(":memory:")
    try:
        for migration in tables.migrations:
            with fence(scratch, migration):
                for statement in statements(migration.sql):
                    scratch.execute(statement)
        _lint_tables(scratch, fence)
    finally:
        scratch.close()


@cache
def core_tables() -> frozenset[str]:
    """The names no domain may touch, whatever its slug."""
    scratch = raw_connect(":memory:")
    try:
        for migration in core_migrations():
            for statement in statements(migration.sql):
                scratch.execute(statement)
        names = {name for (name,) in scratch.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        scratch.close()
    return frozenset(names | {"schema_migrations"})


def _lint_tables(scratch: sqlite3.Connection, fence: Fence) -> None:
    tables = dict(scratch.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
    virtual = {name for name, sql in tables.items() if (sql or "").upper().startswith("CREATE VIRTUAL")}
    for name in tables:
        if not name.startswith("sqlite_") and not any(name.startswith(f"{owner}_") for owner in virtual):
            _lint_table(scratch, fence, name, is_virtual=name in virtual)


def _lint_table(scratch: sqlite3.Connection, fence: Fence, name: str, *, is_virtual: bool) -> None:
    whose = f"domain {fence.slug!r}: table {name!r}"
    if not fence.owns(name):
        raise PluginError(f"{whose} is not its own; its tables are named '{fence.prefix}...'")
    columns = scratch.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,)
    ).fetchall()
    # A virtual table cannot say NOT NULL.
    if not any(column == "vault_id" and (notnull or is_virtual) for column, _, notnull, _ in columns):
        raise PluginError(f"{whose} needs a column vault_id NOT NULL")
    for column, kind, notnull, key in columns:
        # SQLite takes NULL in a primary key unless told otherwise; only the rowid itself never is.
        if key and not notnull and kind.upper() != "INTEGER":
            raise PluginError(f"{whose} needs NOT NULL on its key column {column!r}")
    for (target,) in scratch.execute('SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)', (name,)):
        if not fence.owns(target):
            raise PluginError(f"{whose} refers to {target!r}, which is not its own")
