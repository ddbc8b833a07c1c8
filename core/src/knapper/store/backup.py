"""Copies of a live database and their way back: checked first, then put in place in one step."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from knapper.errors import ToolError
from knapper.store.folders import around
from knapper.store.migrations import DomainTables, pending
from knapper.store.sqlite import disk_full, private_file, raw_connect, reason, sqlite_module

ABANDONED_SECONDS = 3600.0  # nobody is at work on a copy that has not grown for so long


def copy(source: Path, target: Path) -> None:
    """Copy a database that may be in use into one file without side files; only an older backup is replaced."""
    if not target.parent.is_dir():
        raise ToolError("conflict", f"there is no folder {target.parent.name!r} to put the backup in")
    if target.exists() and target.samefile(source):
        raise ToolError("conflict", "the state cannot be its own backup; choose another file")
    if target.exists() and not _is_backup(target):
        raise ToolError("conflict", f"{target.name!r} is there already and is no backup; choose another file")
    try:
        _check_apart(source, target)
        with _beside(target) as fresh:
            _copy_pages(source, fresh)
            fresh.replace(target)
        _sync_folder(target.parent)
    except (OSError, sqlite_module().Error) as error:
        raise ToolError("conflict", f"no backup was made: {reason(error)}") from error


def restore(source: Path, path: Path, chains: Sequence[DomainTables]) -> None:
    """Replace the database by a copy of the source, after proving the copy; `conflict` leaves all as it was."""
    if not source.is_file():
        raise ToolError("conflict", f"there is no backup {source.name!r}")
    try:
        with _beside(path) as fresh:
            _prove(source, fresh, chains)
            _retire(path)
            fresh.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ToolError("conflict", f"the state was not replaced: {reason(error)}") from error


def _check_apart(source: Path, target: Path) -> None:
    """A backup holds what was deleted and who asked for what: in a vault it would be synced and served."""
    with closing(raw_connect(source)) as connection:
        try:
            vault = around(connection.execute, target.parent)
        except sqlite_module().OperationalError:  # of a version that did not keep the folders
            vault = None
    if vault is not None:
        raise ToolError(
            "conflict", f"the backup would lie in the vault {vault.name!r}; choose a file outside every vault"
        )


def _is_backup(file: Path) -> bool:
    try:
        with closing(raw_connect(file)) as connection:
            return (
                connection.execute("SELECT 1 FROM schema_migrations WHERE domain = 'core'").fetchone()
                is not None
            )
    except sqlite_module().Error:
        return False


def _prove(source: Path, fresh: Path, chains: Sequence[DomainTables]) -> None:
    try:
        _copy_pages(source, fresh)
        with closing(raw_connect(fresh)) as connection:
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
            recorded = connection.execute(
                "SELECT count(*) FROM schema_migrations WHERE domain = 'core'"
            ).fetchone()[0]
            for tables in chains:
                pending(connection, tables.slug, tables.migrations)
    except sqlite_module().Error as error:
        if disk_full(error):
            raise ToolError(
                "conflict", "there is no room for the restored state; nothing was changed"
            ) from error
        raise ToolError("conflict", f"{source.name!r} is not a backup of the state: {error}") from error
    if verdict != "ok" or broken or not recorded:
        raise ToolError(
            "conflict", f"{source.name!r} is damaged or not a backup of the state; nothing was changed"
        )


def _retire(path: Path) -> None:
    """Fold the old database's side files into it, which only works while nobody else has it open."""
    if path.exists():
        try:
            with closing(raw_connect(path)) as connection:
                connection.execute("PRAGMA busy_timeout=500")
                connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite_module().Error as error:
            if "locked" in str(error):
                raise ToolError("conflict", "the state is in use; stop the server, then restore") from error
    # A damaged database keeps its side files, and SQLite would play them into the restored one.
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _copy_pages(source: Path, fresh: Path) -> None:
    private_file(fresh)
    with closing(raw_connect(source)) as origin, closing(raw_connect(fresh)) as copied:
        origin.backup(copied)
        copied.execute("PRAGMA journal_mode=DELETE")
    with fresh.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    _sweep(target)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        yield fresh
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)


def _sweep(target: Path) -> None:
    """Remove what was left where copying was killed: whole copies of the state, perhaps."""
    unfinished = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}(-wal|-shm|-journal)?")
    for file in [file for file in target.parent.glob(".*") if unfinished.fullmatch(file.name)]:
        with suppress(FileNotFoundError):  # whose copy it was has come to its end
            if time.time() - file.stat().st_mtime > ABANDONED_SECONDS:
                file.unlink()


def _sync_folder(folder: Path) -> None:
    # Windows cannot open a folder, and its replace is durable by itself.
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
