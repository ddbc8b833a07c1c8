"""What is stored: the state, its jobs and its backups, and the index of each vault."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from knapper.cli._source import STATE
from knapper.cli._terminal import size, stamp
from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject, folder_of
from knapper.errors import ToolError
from knapper.index.leader import Leader
from knapper.store import folders
from knapper.store.migrations import CORE, core_migrations, pending
from knapper.store.sqlite import raw_connect, sqlite_module
from knapper.vault.journal import COMMITTED, MOVED
from knapper.vault.locks import FileLock
from knapper.vault.record import Torn, decode

if TYPE_CHECKING:
    import sqlite3

AT_WORK_SECONDS = 5.0
BROKEN = "Restore a backup with `knapper restore`, or move the file away to begin anew."


def state(subject: Subject) -> Finding:
    file = subject.folder / STATE
    if not file.exists():
        return Finding("there is no state yet; the first start makes it")
    found = Finding("the state is sound", details={"file": str(file), "size": size(file.stat().st_size)})
    try:
        with closing(raw_connect(file)) as connection:
            _check_state(connection, subject, found)
    except sqlite_module().Error as error:
        found.fail(f"the state cannot be read: {error}", BROKEN)
    except ToolError as error:
        found.fail(error.message, "Use the version of knapper that wrote it, or restore an older backup.")
    if found.status == "fail":
        found.summary = "the state cannot be used"
    return found


def _check_state(connection: sqlite3.Connection, subject: Subject, found: Finding) -> None:
    pragma = "integrity_check" if subject.probe else "quick_check"
    verdict = connection.execute(f"PRAGMA {pragma}(1)").fetchone()[0]
    if verdict != "ok":
        found.fail(f"the state is damaged: {verdict}", BROKEN)
        return
    if pending(connection, CORE, core_migrations()):
        found.notes.append("The next start brings it up to this version.")
        return
    for issue in folders.clashes(connection.execute, {v.id: folder_of(v) for v in subject.vaults}):
        found.fail(issue, f"{folders.REMEDY.capitalize()}.")
    waiting = "SELECT count(*) FROM confirmations WHERE state = 'pending' AND expires_at >= ?"
    found.details["waiting approvals"] = str(connection.execute(waiting, (time.time(),)).fetchone()[0])
    found.details["logged calls"] = str(connection.execute("SELECT count(*) FROM event_log").fetchone()[0])


def jobs(subject: Subject) -> Finding:
    file = subject.folder / STATE
    scheduled = _scheduled(file)
    found = Finding("no job has failed" if scheduled else "no job is scheduled yet; the first start does it")
    for vault, name, every, last, next_, failures, error in scheduled:
        where = f"{name} of {vault}" if vault else name
        done = f"done {stamp(last)}" if last else "never done"
        found.details[where] = f"every {every / 60:g} min, {done}, next {stamp(next_)}"
        if failures:
            found.warn(
                f"{where} failed {failures} time(s) in a row: {error}",
                "See the server's log; it is tried again.",
            )
    if found.issues:
        found.summary = "a job keeps failing"
    return found


def _scheduled(file: Path) -> list[tuple[str, str, float, float | None, float, int, str]]:
    if not file.exists():
        return []
    sql = (
        "SELECT vault_id, name, every_seconds, last_success_at, next_run_at, consecutive_failures, last_error"
        " FROM job_schedule ORDER BY vault_id, name"
    )
    try:
        with closing(raw_connect(file)) as connection:
            return connection.execute(sql).fetchall()
    except sqlite_module().Error:
        return []  # the check of the state says what is wrong with it


def snapshots(subject: Subject) -> Finding:
    settings = subject.settings
    if settings is None or settings.snapshots.enabled:
        kept = settings.snapshots.retention if settings else 50
        return Finding(f"{kept} versions of each note are kept before changes")
    found = Finding("changes cannot be undone")
    found.warn("snapshots.enabled is false", "Set it to true, unless the vault is under version control.")
    return found


def journal(subject: Subject) -> Finding:
    found = Finding("no change was left unfinished")
    for entry in sorted((subject.folder / "journal").glob("*/*.failed")):
        found.warn(
            f"a change to the vault {entry.parent.name!r} could not be finished: {entry.name}",
            "Compare the notes it names with what you expect, then delete the file.",
        )
        found.details[entry.name] = _named(entry)
    for entry in _waiting(subject.folder):
        found.warn(
            f"a change to the vault {entry.parent.name!r} is not finished yet: {entry.name}",
            "It is finished at the next start or change; free some space if the disk is full.",
        )
        found.details[entry.name] = _named(entry)
    if found.issues:
        found.summary = "a change was left unfinished"
    return found


def _waiting(folder: Path) -> Iterator[Path]:
    """Changes that were decided and are not carried out; whoever holds a vault's lock is still at work on its own."""
    for journal in sorted((folder / "journal").glob("*")):
        with (
            suppress(ToolError, OSError),
            FileLock(folder / "locks" / f"{journal.name}.lock", AT_WORK_SECONDS),
        ):
            yield from sorted(entry for entry in journal.iterdir() if entry.suffix in (COMMITTED, MOVED))


def _named(entry: Path) -> list[str] | str:
    """The paths a change would touch."""
    try:
        return decode(entry.read_bytes()).touched()
    except (OSError, Torn):
        return "it cannot be read"


def index(subject: Subject) -> Finding:
    found = Finding("the index is sound" if subject.vaults else "no vault to look at")
    for vault in subject.vaults:
        file = subject.folder / "index" / f"{vault.id}.db"
        if file.exists():
            _check_index(subject, vault.id, file, found)
        else:
            found.details[vault.id] = "not built yet; the first start builds it"
    return found


def _check_index(subject: Subject, id: str, file: Path, found: Finding) -> None:
    try:
        with closing(raw_connect(file)) as connection:
            pragma = "integrity_check" if subject.probe else "quick_check"
            verdict = connection.execute(f"PRAGMA {pragma}(1)").fetchone()[0]
            meta = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    except sqlite_module().Error as error:
        verdict, meta = str(error), {}
    if verdict != "ok":
        _damaged(subject, id, file, verdict, found)
        return
    at = meta.get("reconciled_at")
    found.details[id] = (
        f"{meta.get('total', 0)} files, {size(file.stat().st_size)}, level {stamp(at) or 'never'}"
    )
    if at is None:
        found.notes.append(f"{id}: it is being built; `knapper index` finishes it now.")


def _damaged(subject: Subject, id: str, file: Path, verdict: str, found: Finding) -> None:
    """The index is derived: throwing it away is safe, as long as nobody has it open."""
    leader = Leader(file.with_suffix(".lock"))
    if subject.fix and leader.acquire():
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        leader.release()
        found.details[id] = "removed"
        found.notes.append(f"fixed: the damaged index of {id} is gone; the next start builds it anew")
        return
    found.summary = "an index is damaged"
    found.details[id] = "damaged"
    found.fail(f"the index of {id!r} is damaged: {verdict}", "Stop the server, then `knapper doctor --fix`.")


CHECKS: dict[str, Check] = {
    "state.health": state,
    "state.journal": journal,
    "jobs.health": jobs,
    "snapshots.policy": snapshots,
    "index.health": index,
}
