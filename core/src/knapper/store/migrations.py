"""Ordered, checksummed schema changes: the core's from this package, each domain's from its plugin."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from knapper.errors import PluginError, ToolError
from knapper.store.transactions import immediate

if TYPE_CHECKING:
    import sqlite3

CORE = "core"

_VERSION = re.compile(r"\d{8}_\d{3}")
_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    domain          TEXT NOT NULL,
    version         TEXT NOT NULL,
    checksum        TEXT NOT NULL,
    applied_at      REAL NOT NULL,
    knapper_version TEXT NOT NULL,
    duration_ms     REAL NOT NULL,
    PRIMARY KEY (domain, version)
)
"""


class Migration(NamedTuple):
    """One schema change: a version `YYYYMMDD_NNN` and its SQL, which never changes once released."""

    version: str
    sql: str

    @property
    def checksum(self) -> str:
        # Line endings do not count: a checkout on Windows must not look like drift.
        return hashlib.sha256(self.sql.replace("\r\n", "\n").encode()).hexdigest()


class DomainTables(NamedTuple):
    """The tables a domain brings: its slug and its migrations, oldest first."""

    slug: str
    migrations: Sequence[Migration]


@cache
def core_migrations() -> tuple[Migration, ...]:
    """The core's own chain, read from the installed package."""
    from importlib.resources import files

    found = (
        entry for entry in files("knapper.store").joinpath("sql").iterdir() if entry.name.endswith(".sql")
    )
    return tuple(
        sorted(Migration("_".join(entry.name.split("_")[:2]), entry.read_text("utf-8")) for entry in found)
    )


Guard = Callable[["sqlite3.Connection", Migration], AbstractContextManager[None]]


def check_order(slug: str, chain: Sequence[Migration]) -> None:
    """Refuse a chain whose versions are malformed or do not rise."""
    versions = [migration.version for migration in chain]
    for version in versions:
        if not _VERSION.fullmatch(version):
            raise PluginError(
                f"domain {slug!r}: migration version {version!r} is not of the form YYYYMMDD_NNN"
            )
    if any(later <= earlier for earlier, later in pairwise(versions)):
        raise PluginError(f"domain {slug!r}: migration versions must rise, not {', '.join(versions)}")


def pending(connection: sqlite3.Connection, slug: str, chain: Sequence[Migration]) -> Sequence[Migration]:
    """What is still to apply, or `conflict` where the database does not hold a beginning of this chain."""
    applied = _applied(connection, slug)
    for position, (version, checksum) in enumerate(applied):
        _check_recorded(slug, version, checksum, chain, position)
    return chain[len(applied) :]


def apply(
    connection: sqlite3.Connection,
    slug: str,
    chain: Sequence[Migration],
    guard: Guard = lambda connection, migration: nullcontext(),
) -> list[str]:
    """Apply what is missing, each migration in its own transaction, and return the versions applied.

    `guard` is held while a migration's own statements run.
    """
    if not _has_ledger(connection):
        with immediate(connection.execute):
            connection.execute(_LEDGER)
    done = []
    for migration in pending(connection, slug, chain):
        with immediate(connection.execute):
            # Another process may have been faster since the check.
            if migration in pending(connection, slug, chain):
                _apply_one(connection, slug, migration, guard)
                done.append(migration.version)
    return done


def statements(sql: str) -> Iterator[str]:
    """Split a script into statements, because executescript() would commit the open transaction first."""
    from knapper.store.sqlite import sqlite_module

    complete: Callable[[str], bool] = sqlite_module().complete_statement
    buffer = ""
    for piece in re.split(r"(?<=;)", sql):
        buffer += piece
        if complete(buffer):
            yield buffer.strip()
            buffer = ""
    if buffer.strip():
        yield buffer.strip()


def _apply_one(connection: sqlite3.Connection, slug: str, migration: Migration, guard: Guard) -> None:
    started = time.perf_counter()
    with guard(connection, migration):
        for statement in statements(migration.sql):
            connection.execute(statement)
    took = round((time.perf_counter() - started) * 1000, 3)
    connection.execute(
        "INSERT INTO schema_migrations (domain, version, checksum, applied_at, knapper_version, duration_ms)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (slug, migration.version, migration.checksum, time.time(), _knapper_version(), took),
    )


def _applied(connection: sqlite3.Connection, slug: str) -> list[tuple[str, str]]:
    if not _has_ledger(connection):
        return []
    return connection.execute(
        "SELECT version, checksum FROM schema_migrations WHERE domain = ? ORDER BY version", (slug,)
    ).fetchall()


def _check_recorded(
    slug: str, version: str, checksum: str, chain: Sequence[Migration], position: int
) -> None:
    whose = "knapper" if slug == CORE else f"the domain {slug!r}"
    newest = chain[-1].version if chain else "none"
    known = chain[position] if position < len(chain) else None
    if known is not None and known.version == version:
        if known.checksum != checksum:
            raise _conflict(slug, version, f"migration {version} of {whose} has changed since it was applied")
    elif known is None and (not chain or version > newest):
        text = f"the state was written by a newer version of {whose}: it has migration {version}, known is {newest}"
        raise _conflict(slug, version, text)
    else:
        raise _conflict(
            slug, version, f"migration {version} of {whose} was applied but is not next in its chain"
        )


def _conflict(slug: str, version: str, text: str) -> ToolError:
    return ToolError("conflict", text, domain=slug, version=version)


def _has_ledger(connection: sqlite3.Connection) -> bool:
    row = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'"
    )
    return row.fetchone() is not None


def _knapper_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("knapper-core")
    except PackageNotFoundError:
        return "unknown"
