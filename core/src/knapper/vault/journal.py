"""The journal of a vault: transactions that were decided but perhaps not finished when the process died."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from knapper.errors import ToolError
from knapper.vault.applied import apply, changes
from knapper.vault.disk import Disk
from knapper.vault.files import Change, Conflict
from knapper.vault.locks import FileLock
from knapper.vault.record import Record, Torn, decode, encode
from knapper.vault.refusals import no_room, passing

COMMITTED = ".journal"
MOVED = ".moved"  # decided, and its moves are done
_WRITING = ".writing"
_FAILED = ".failed"


@dataclass
class Recovery:
    """What unfinished transactions had left to do: those completed, and those that could not be."""

    completed: int = 0
    changes: list[Change] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    waits_for: Exception | None = None

    def __bool__(self) -> bool:
        return bool(self.completed or self.failed or self.waits_for)


class Journal:
    """Decides transactions and finishes them; one folder a vault, in the server's own folder, never in the vault."""

    def __init__(self, cache_dir: Path, vault: str) -> None:
        self._folder = cache_dir / "journal" / vault
        locks = cache_dir / "locks"
        for folder in (self._folder, locks):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = FileLock(locks / f"{vault}.lock")

    @contextmanager
    def guard(self, disk: Disk) -> Iterator[Recovery]:
        """Keep other processes from changing the vault; finishes first what a dead one has left.

        Where that has to wait, so has every other change: a file that is changed in between would get a conflict copy.
        """
        with self._lock:
            recovery = self._replay(disk)
            if recovery.waits_for is not None:
                raise _said(recovery.waits_for) from recovery.waits_for
            yield recovery

    def recover(self, disk: Disk) -> Recovery:
        """Finish every transaction that was decided and can be now; doing it again changes nothing."""
        with self._lock:
            return self._replay(disk)

    def run(self, record: Record, disk: Disk) -> list[Conflict]:
        """Decide and carry out a transaction, inside the guard; once this has begun to apply, it will be finished."""
        entry = self._commit(record)
        try:
            return self._carry_out(entry, record, disk)
        except (OSError, ToolError) as error:
            message = "the changes were decided but could not all be made; the rest follows with the next change or start"
            raise ToolError("indeterminate_outcome", message) from error

    def _carry_out(self, entry: Path, record: Record, disk: Disk) -> list[Conflict]:
        def note_moved() -> None:
            entry.rename(entry.with_suffix(MOVED))
            self._sync()

        conflicts = apply(record, disk, moved=entry.suffix == MOVED, note_moved=note_moved)
        _where(entry).unlink()
        # A record that came back after a power failure would undo what has been written since.
        self._sync()
        return conflicts

    def unfinished(self) -> list[str]:
        """Names of transactions that could not be finished; their contents are kept for a person to look at."""
        return sorted(entry.name for entry in self._folder.iterdir() if entry.suffix == _FAILED)

    def _commit(self, record: Record) -> Path:
        writing = self._folder / f"{time.time_ns():020d}-{os.urandom(4).hex()}{_WRITING}"
        with writing.open("xb") as file:
            file.write(encode(record))
            file.flush()
            os.fsync(file.fileno())
        entry = writing.rename(writing.with_suffix(COMMITTED))
        self._sync()
        return entry

    def _sync(self) -> None:
        if os.name == "nt":
            return
        fd = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def _replay(self, disk: Disk) -> Recovery:
        recovery = Recovery()
        for name in sorted(os.listdir(self._folder)):  # noqa: PTH208 (on the way of every write; a Path an entry costs more)
            entry = self._folder / name
            if entry.suffix == _WRITING:  # cut short before it was decided
                entry.unlink()
            elif entry.suffix in (COMMITTED, MOVED):
                self._finish(entry, disk, recovery)
                if recovery.waits_for is not None:
                    break  # those after it may build on it
        return recovery

    def _finish(self, entry: Path, disk: Disk, recovery: Recovery) -> None:
        try:
            record = decode(entry.read_bytes())
            if record.root != disk.root:
                raise Torn  # the vault's id now stands for another folder
            conflicts = self._carry_out(entry, record, disk)
        except (Torn, OSError, ToolError) as error:
            if isinstance(error, ToolError) and error.code == "vault_not_found":
                raise  # a drive that is not there yet; the record waits for it
            if passing(error):
                recovery.waits_for = error
                return
            recovery.failed.append(_where(entry).rename(entry.with_suffix(_FAILED)).name)
            return
        recovery.completed += 1
        recovery.conflicts += conflicts
        recovery.changes += changes(record, disk, conflicts)


def _said(error: Exception) -> ToolError:
    return error if isinstance(error, ToolError) else no_room()


def _where(entry: Path) -> Path:
    """A record under the name it has by now."""
    moved = entry.with_suffix(MOVED)
    return moved if moved.exists() else entry
