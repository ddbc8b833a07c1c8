"""Taking in single changes: what other programs did to files, and what the server itself has just written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from knapper.index import derived
from knapper.index.loading import read_note
from knapper.index.reconcile import MANY, NOTES, REMOVED, batches, put
from knapper.index.rows import NoteRows, Stat, is_note, note_rows

if TYPE_CHECKING:
    import sqlite3

    from knapper.index.engine import Index

Written = tuple[str, bytes | None, Stat | None]  # a path, its content, and its facts with that content


def refresh(index: Index, paths: Sequence[str]) -> None:
    """Take in files and folders that another program changed; unchanged files cost a look."""
    if (
        len(paths) >= MANY
    ):  # a storm: comparing everything is cheaper, and heals what the system dropped of it
        index.may_be_behind()  # more of it may be coming
        index.reconcile()
        return
    gone, folders, files = [], [], []
    for path in paths:
        found, known = index.disk.listed(path), index.known_below(path)
        if found is None:
            gone += known
        elif found.kind == "folder":
            folders.append(path)
            gone += [path] if path in known else []  # it was a file before
        else:
            files.append(path)
            gone += [one for one in known if one != path]  # it was a folder before
    _remove(index, gone)
    for folder in _topmost(folders):
        index.reconcile(folder)
    _put(index, [path for path in files if not _within(path, folders)])


def _remove(index: Index, paths: Sequence[str]) -> None:
    for batch in batches(paths, REMOVED):
        with index.db.write() as conn:
            index.writer.remove(conn, [path for path in batch if index.stat(path) is None])


def _put(index: Index, paths: Sequence[str]) -> None:
    known = index.known_files(paths)
    stale = [path for path in paths if not index.is_current(path, known.get(path))]
    for batch in batches([path for path in stale if is_note(path)], NOTES):
        read = (read_note(index.disk, path, index.reading) for path in batch)
        put(index, [rows for rows in read if rows is not None], known)
    for path in stale:
        if not is_note(path) and (stat := index.stat(path)) is not None:
            with index.db.write() as conn:
                index.writer.put_file(conn, path, stat)
    derived.take_in(index, stale)


def wrote(index: Index, changes: Iterable[Written]) -> None:
    """Take in what the server itself has just written, or removed; the content is parsed before the lock is taken."""
    ready = [(path, stat, _parsed(index, path, data, stat)) for path, data, stat in changes]
    for batch in batches(ready, NOTES):
        with index.db.write() as conn:
            _take(index, conn, batch)
    derived.take_in(index, [path for path, *_ in ready])


def _parsed(index: Index, path: str, data: bytes | None, stat: Stat | None) -> NoteRows | None:
    if stat is None or not is_note(path) or index.stat(path) is None:
        return None
    if data is None:
        return read_note(index.disk, path, index.reading)
    return note_rows(path, data, stat, index.reading)


def _take(
    index: Index, conn: sqlite3.Connection, batch: Sequence[tuple[str, Stat | None, NoteRows | None]]
) -> None:
    gone, notes = [], []
    for path, _, rows in batch:
        now = index.stat(path)
        if now is None:
            gone.append(path)
        elif not is_note(path):
            index.writer.put_file(conn, path, now)
        elif rows is not None and now == Stat(*rows.stat):
            notes.append(rows)
        elif (newer := read_note(index.disk, path, index.reading)) is not None:
            notes.append(newer)  # somebody else has written since
    if gone:
        index.writer.remove(conn, gone)
    if notes:
        index.writer.put_notes(conn, notes)


def _topmost(folders: Sequence[str]) -> list[str]:
    """The folders that lie in none of the others."""
    return [path for path in folders if not _within(path, [f for f in folders if f != path])]


def _within(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
