"""Bringing the index level with the files: cold, warm, and after anything that was missed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from knapper.index.rows import NoteRows, Stat, is_note, note_rows
from knapper.index.workers import Workers, worth_it
from knapper.vault.resolve import file_keys

if TYPE_CHECKING:
    from knapper.index.engine import Index

BATCH = 64
MANY = 500  # from here on it pays to hold all names in memory
T = TypeVar("T")


class Plan(NamedTuple):
    """What a reconcile has to do."""

    added: list[tuple[str, Stat]]
    changed: list[tuple[str, Stat]]
    removed: list[str]
    unchanged: int


class Result(NamedTuple):
    """What a reconcile did."""

    upserted: int
    deleted: int
    unchanged: int


def plan(index: Index, folder: str = "", force: bool = False) -> Plan:
    """Compare the folder on disk with the index by size, time and inode, in bulk; nothing is read."""
    below = f"{folder}/" if folder else ""
    with index.db.read() as conn:
        rows = conn.execute("SELECT path, size, mtime_ns, inode, note AND hash IS NULL FROM files").fetchall()
    known = {path: facts for path, *facts in rows if path.startswith(below)}
    added, changed, unchanged = [], [], 0
    for path, stat in index.scan(folder):
        was = known.pop(path, None)
        if was is None:
            added.append((path, stat))
        elif force or was != [stat.size, stat.mtime_ns, stat.inode, 0]:
            changed.append((path, stat))
        else:
            unchanged += 1
    return Plan(added, changed, list(known), unchanged)


def reconcile(
    index: Index, folder: str = "", *, force: bool = False, progress: Callable[[int, int], None] | None = None
) -> Result:
    """Do what the plan says, in batches that each commit, so that answers come while it runs."""
    todo = plan(index, folder, force)
    for batch in _batches(todo.removed, 200):
        with index.db.write() as conn:
            index.writer.remove(conn, batch)
    _add_files(index, todo)
    notes = [(path, stat) for path, stat in [*todo.added, *todo.changed] if is_note(path)]
    total = len(todo.added) + len(todo.changed) + todo.unchanged
    if len(notes) < MANY:
        _put_all(index, notes, total, progress)
    else:
        with index.db.write() as conn:
            bulk = index.writer.bulk(conn)
            bulk.__enter__()
        try:
            _put_all(index, notes, total, progress)
        finally:
            bulk.__exit__(None, None, None)
            with index.db.write() as conn:
                index.writer.heal(conn)
    index.report(indexed=total, total=total, indexing=False)
    return Result(len(todo.added) + len(todo.changed), len(todo.removed), todo.unchanged)


def _add_files(index: Index, todo: Plan) -> None:
    """Every new file is known by name before a note is read, so that links resolve at once."""
    with index.db.write() as conn:
        index.writer.add_files(conn, todo.added)
        if todo.unchanged and todo.added:
            index.writer.resolve_keys(conn, {key for path, _ in todo.added for key in file_keys(path)})
        for path, stat in todo.changed:
            if not is_note(path):
                index.writer.put_file(conn, path, stat)


def _put_all(
    index: Index, notes: list[tuple[str, Stat]], total: int, progress: Callable[[int, int], None] | None
) -> None:
    done = total - len(notes)
    for rows in _read(index, notes):
        put(index, rows)
        done += len(rows)
        index.report(indexed=done, total=total, indexing=True)
        if progress is not None:
            progress(done, total)


def put(index: Index, notes: Sequence[NoteRows]) -> None:
    """Commit notes that were read; one that was written again meanwhile is left to whoever wrote it."""
    with index.db.write() as conn:
        index.writer.put_notes(conn, [rows for rows in notes if index.stat(rows.path) == Stat(*rows.stat)])


def _read(index: Index, notes: list[tuple[str, Stat]]) -> Iterator[list[NoteRows]]:
    if worth_it(len(notes), index.processes):
        with Workers(index.processes, index.extractors, index.max_note_bytes) as workers:
            yield from workers.map(index.load(path, stat) for path, stat in notes)
        return
    for batch in _batches(notes, BATCH):
        loaded = (index.load(path, stat) for path, stat in batch)
        yield [
            note_rows(*item, index.extractors, index.max_note_bytes) for item in loaded if item is not None
        ]


def _batches(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
