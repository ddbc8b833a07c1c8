"""Text of files that are not notes, as domains have read it off pictures and out of documents.

The domains keep it, by the content it was read from; here it is only made findable. So it outlives the index, follows a
file that is moved, and is gone with the content it belongs to.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knapper.domain import FileText
from knapper.errors import ToolError
from knapper.index import chunks, words
from knapper.index.loading import facts
from knapper.index.rows import NoteRows, Reading, Stat

if TYPE_CHECKING:
    import sqlite3

    from knapper.index.engine import Index
    from knapper.vault.disk import Disk
    from knapper.vault.files import Version

log = logging.getLogger("knapper.index")
AT_ONCE = 500
UNREAD = "SELECT path, size FROM files WHERE note = 0"


class Texts(NamedTuple):
    """Somebody who may know the text of files with these extensions."""

    extensions: frozenset[str]
    known: Callable[[Sequence[Unread]], Iterable[FileText]]


class Unread:
    """A file that is not a note, for somebody who may know its text; its hash costs reading it."""

    def __init__(self, disk: Disk, path: str, size: int) -> None:
        self.path = path
        self.size = size
        self._disk = disk
        self.version: Version | None = None

    def hash(self) -> str | None:
        """The SHA-256 of its content, or None where it is gone or cannot be read."""
        try:
            self.version = self.version or self._disk.version(self.path)
        except ToolError:
            return None
        return self.version.hash if self.version is not None else None


def fill(index: Index, folder: str = "") -> None:
    """Ask for the text of every file below a folder that has none."""
    below, given = ("", []) if not folder else (" AND path >= ? AND path < ?", [f"{folder}/", f"{folder}0"])
    _ask(index, f"{UNREAD} AND hash IS NULL{below}", given)


def take_in(index: Index, paths: Iterable[str]) -> None:
    """Ask for the text of files that have just changed."""
    for path in paths if index.texts else ():
        _ask(index, f"{UNREAD} AND hash IS NULL AND path = ?", [path])


def renew(index: Index, paths: Iterable[str]) -> None:
    """Ask again for the text of these files, and of others as large as they are, which may be copies."""
    for path in paths:
        same = "hash IS NULL AND size = (SELECT size FROM files WHERE path = ?1)"
        found = _ask(index, f"{UNREAD} AND (path = ?1 OR ({same}))", [path])
        if path not in found:
            with index.db.write() as conn:
                index.writer.forget_texts(conn, [path])


def _ask(index: Index, sql: str, given: Sequence[str]) -> set[str]:
    """Which of the files that a query finds have a text now."""
    found: set[str] = set()
    for source in index.texts:
        marks = ", ".join("?" * len(source.extensions))
        with index.db.read() as conn:
            rows = conn.execute(f"{sql} AND ext IN ({marks})", [*given, *source.extensions]).fetchall()
        for start in range(0, len(rows), AT_ONCE):
            unread = [Unread(index.disk, *row) for row in rows[start : start + AT_ONCE]]
            found |= _put(index, {file.path: file for file in unread}, _known(source, unread))
            if index.stopping:
                return found
    return found


def _known(source: Texts, files: Sequence[Unread]) -> list[FileText]:
    try:
        return list(source.known(files))
    except Exception:  # a plugin that fails costs its texts, and the next comparison asks again
        log.exception("texts of files that are not notes could not be had")
        return []


def _put(index: Index, files: dict[str, Unread], texts: Sequence[FileText]) -> set[str]:
    ready = []
    for text in texts:
        file = files.get(text.path)
        if file is not None and file.hash() == text.hash and file.version is not None:
            ready.append(_rows(text, facts(file.version.stat), index.reading))
    if not ready:
        return set()
    with index.db.write() as conn:
        current = [rows for rows in ready if _is_current(index, conn, rows)]
        index.writer.put_notes(conn, current)
    return {rows.path for rows in current}


def _is_current(index: Index, conn: sqlite3.Connection, rows: NoteRows) -> bool:
    known = conn.execute("SELECT 1 FROM files WHERE path = ? AND note = 0", (rows.path,)).fetchone()
    return known is not None and index.stat(rows.path) == Stat(*rows.stat)


def _rows(text: FileText, stat: Stat, reading: Reading) -> NoteRows:
    """What a note has of its text, and nothing else: no links, tags or properties are looked for in it."""
    whole = f"\n{chunks.PAGE}".join(page.replace(chunks.PAGE, "\n").replace("\0", " ") for page in text.pages)
    rows = NoteRows(text.path, stat, text.hash, text.path.rpartition("/")[2], whole)
    found = words.of_text(whole)
    rows.words, rows.terms = " ".join(found), list(set(found))
    chunks.lay_out(rows, chunks.cut_pages(whole, reading.chunk_chars, reading.max_chunk_chars))
    return rows
