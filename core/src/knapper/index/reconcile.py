"""Bringing the index level with the files: cold, warm, and after anything that was missed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from knapper.index import derived, words
from knapper.index.loading import read_note
from knapper.index.rows import NoteRows, Stat, is_note
from knapper.index.workers import Workers, worth_it
from knapper.vault.resolve import file_keys

if TYPE_CHECKING:
    from knapper.index.engine import Index

log = logging.getLogger("knapper.index")
# One commit each. Nobody waits long for its turn to write: a batch takes about a tenth of a second.
FILES, NOTES, CHARACTERS, REMOVED = 1000, 192, 800_000, 64
MERGED_COMMITS = 1000  # in a first run; a full-text table can be in twice as many pieces
FULL_TEXT = ("literal", "ranked")
MANY = 500  # from here on it pays to hold all names in memory
ROUNDS = 3  # files that change while they are read are read again
T = TypeVar("T")
Progress = Callable[[int, int], None]


class Known(NamedTuple):
    """What the index has of a file."""

    size: int
    mtime_ns: int
    inode: int
    unread: int = 0
    hash: str | None = None


class Plan(NamedTuple):
    """What a reconcile has to do; what is read again although it is unchanged counts as read until then."""

    added: list[tuple[str, Stat]]
    changed: list[tuple[str, Stat]]
    again: list[tuple[str, Stat]]
    removed: list[str]
    unchanged: int
    known: dict[str, Known]

    @property
    def total(self) -> int:
        return self.upserted + self.unchanged

    @property
    def upserted(self) -> int:
        return len(self.added) + len(self.changed) + len(self.again)

    @property
    def notes(self) -> list[str]:
        return [path for path, _ in [*self.added, *self.changed, *self.again] if is_note(path)]


class Result(NamedTuple):
    """What a reconcile did."""

    upserted: int
    deleted: int
    unchanged: int


def plan(index: Index, folder: str = "", force: bool = False) -> Plan:
    """Compare the folder on disk with the index by size, time and inode, in bulk; nothing is read."""
    known = index.known(folder)
    added, changed, again, unchanged = [], [], [], 0
    seen: dict[str, Known] = {}
    for path, stat in index.scan(folder):
        was = known.pop(path, None)
        if was is None:
            added.append((path, stat))
        elif was.unread or was[:3] != (stat.size, stat.mtime_ns, stat.inode):
            changed.append((path, stat))
            seen[path] = was
        elif force:
            again.append((path, stat))
            seen[path] = was
        else:
            unchanged += 1
    return Plan(added, changed, again, list(known), unchanged, seen)


def reconcile(
    index: Index, folder: str = "", *, force: bool = False, progress: Progress | None = None
) -> Result:
    """Do what the plan says, in batches that each commit, so that answers come while it runs."""
    todo = plan(index, folder, force)
    done = Result(todo.upserted, len(todo.removed), todo.unchanged)
    _do(index, todo, progress)
    for _ in range(ROUNDS):
        if index.stopping or not index.pending():
            break
        _do(index, plan(index, folder), None)
    derived.fill(index, folder)
    return done


def _do(index: Index, todo: Plan, progress: Progress | None) -> None:
    for batch in _wanted(index, todo.removed, REMOVED):
        with index.db.write() as conn:
            index.writer.remove(conn, [path for path in batch if index.stat(path) is None])
    many: AbstractContextManager[None] = index.writer.bulk() if todo.upserted >= MANY else nullcontext()
    first = not todo.known and len(todo.added) >= MANY
    _set_merging(index, on=not first)
    with many:
        _add_files(index, todo)
        for commits in _put_all(index, todo, progress):
            if first and commits % MERGED_COMMITS == 0:
                _merge(index)
    if first:
        _set_merging(index, on=True)
        _merge(index)


def _set_merging(index: Index, *, on: bool) -> None:
    """For the time of a first run nothing is folded together on the way; one that was killed has left it so."""
    for table in FULL_TEXT:
        with index.db.read() as conn:
            differs = words.is_merging(conn, table) != on
        if differs:
            with index.db.write() as conn:
                words.set_merging(conn, table, on=on)


def _merge(index: Index) -> None:
    """The full-text tables take less room in one piece, and what they leave the vectors fill."""
    for table in FULL_TEXT:
        begin = more = True
        while more and not index.stopping:
            with index.db.write() as conn:
                more = words.merge(conn, table, begin=begin)
            begin = False


def _add_files(index: Index, todo: Plan) -> None:
    """Every file is known by name before a note is read, so that links resolve at once; and what waits is marked."""
    for batch in _wanted(index, [*todo.added, *todo.changed], FILES):
        with index.db.write() as conn:
            index.writer.add_files(conn, batch)
    with index.db.read() as conn:
        linked = conn.execute("SELECT 1 FROM links LIMIT 1").fetchone() is not None
    keys = sorted({key for path, _ in todo.added for key in file_keys(path)}) if linked else []
    for some in _wanted(index, keys, FILES):
        with index.db.write() as conn:
            index.writer.resolve_keys(conn, some)


def _put_all(index: Index, todo: Plan, progress: Progress | None) -> Iterator[int]:
    """Counts its commits for whoever goes along."""
    notes = todo.notes
    done = todo.total - len(notes)
    for commits, rows in enumerate(_gathered(_read(index, notes)), 1):
        put(index, rows, todo.known)
        done += len(rows)
        if progress is not None:
            progress(done, todo.total)
        yield commits


def put(index: Index, notes: Sequence[NoteRows], known: dict[str, Known]) -> None:
    """Commit notes that were read, but for those that somebody else has put since they were looked at."""
    terms = {term for rows in notes for term in rows.terms}
    with index.db.write() as conn:
        current = [rows for rows in notes if index.is_as(conn, rows.path, known.get(rows.path))]
        index.writer.put_notes(conn, current, terms)
    if kinds := sorted({kind for rows in current for kind in rows.withheld}):
        log.info("passages that look like credentials are not ranked: %s", ", ".join(kinds))


def _read(index: Index, notes: list[str]) -> Iterator[list[NoteRows]]:
    """Notes as rows; those that are gone are left out."""
    if worth_it(len(notes), index.processes, index.reading):
        with Workers(index.processes, index.disk, index.reading) as workers:
            yield from workers.map(notes, lambda: index.stopping)
        return
    for path in notes:
        if index.stopping:
            return
        if (rows := read_note(index.disk, path, index.reading)) is not None:
            yield [rows]


def _gathered(batches: Iterable[list[NoteRows]]) -> Iterator[list[NoteRows]]:
    """Notes in batches that are worth a commit and do not hold others up."""
    found: list[NoteRows] = []
    size = 0
    for batch in batches:
        found += batch
        size += sum(len(rows.text) for rows in batch)
        if len(found) >= NOTES or size >= CHARACTERS:
            yield found
            found, size = [], 0
    if found:
        yield found


def _wanted(index: Index, items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Batches for as long as the server does not stop: what is left undone, the next start finds."""
    for batch in batches(items, size):
        if index.stopping:
            return
        yield batch


def batches(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
