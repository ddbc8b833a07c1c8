"""Putting rows into the index and taking them out, and keeping every link's target right as files come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from knapper.domain import Extractor
from knapper.index import chunks, words
from knapper.index.rows import NoteRows, Stat, is_note
from knapper.index.schema import CHILDREN, columns
from knapper.vault.resolve import Resolver, file_keys

if TYPE_CHECKING:
    import sqlite3

FILE = (
    "INSERT INTO files (path, key, folder, name, ext, note, size, mtime_ns, ctime_ns, inode, pending) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
FORGET = "UPDATE files SET hash = NULL, title = NULL WHERE id = ?"
STAT = "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?"
READ = "UPDATE files SET hash = ?, title = ?, properties = ?, problem = ?, pending = 0 WHERE id = ?"
KNOWN = "SELECT id, hash, size, mtime_ns, ctime_ns, inode FROM files WHERE path = ?"
LINK = (
    "INSERT INTO links (file, target, key, path, subpath, written, display, kind, embed, property, line, col) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Writer:
    """Changes one vault's index inside a transaction that the caller holds.

    The full-text tables come first when something goes and last when something comes: a statement in between that
    can fail half-way makes FTS5 write out what it has gathered, and one small segment a note costs a third of the time.
    """

    def __init__(self, extractors: Sequence[Extractor]) -> None:
        self._inserts = {e.name: _insert(e) for e in extractors}
        self._deletes = [f"DELETE FROM {table} WHERE file = ?" for table in CHILDREN]
        self._deletes += [f"DELETE FROM x_{e.name} WHERE file = ?" for e in extractors]
        self._bulk: Bulk | None = None

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Hold all names in memory while many notes are put, instead of asking the database for each link."""
        self._bulk = Bulk()
        try:
            yield
        finally:
            self._bulk = None

    def add_files(self, conn: sqlite3.Connection, files: Sequence[tuple[str, Stat]]) -> None:
        """Make files known by path, so that links resolve to them before they are read."""
        self._begin(conn)
        for path, stat in files:
            if (known := conn.execute(KNOWN, (path,)).fetchone()) is None:
                self._add(conn, path, stat)
            elif is_note(path):
                conn.execute("UPDATE files SET pending = 1 WHERE id = ?", known[:1])
            else:
                self._refresh(conn, known, stat)

    def put_notes(
        self, conn: sqlite3.Connection, notes: Iterable[NoteRows], terms: Iterable[str] = ()
    ) -> None:
        """Insert or replace notes; then resolve anew the links that a new file may have changed.

        `terms` are words to be kept beside those of the notes.
        """
        self._begin(conn)
        latest = {rows.path: rows for rows in notes}
        known = {path: conn.execute(KNOWN, (path,)).fetchone() for path in latest}
        self._clear(conn, [row[0] for row in known.values() if row is not None and row[1] is not None])
        put: list[tuple[int, NoteRows]] = []
        touched: set[str] = set()
        for path, rows in latest.items():
            stat = Stat(*rows.stat)
            if (row := known[path]) is None:
                touched.update(file_keys(path))
                put.append((self._add(conn, path, stat), rows))
            else:
                self._stat(conn, row, stat)
                put.append((row[0], rows))
        self._put(conn, put)
        self.resolve_keys(conn, touched)
        put.sort(key=lambda pair: pair[0])  # in the order of their numbers FTS5 gathers them in one go
        terms = {*terms, *(term for _, rows in put for term in rows.terms)}
        words.add(conn, [(file, rows.words) for file, rows in put], terms)
        chunks.add(conn, put)

    def put_file(self, conn: sqlite3.Connection, path: str, stat: Stat) -> None:
        """Insert or refresh a file that is not a note."""
        self._begin(conn)
        known = conn.execute(KNOWN, (path,)).fetchone()
        if known is not None:
            self._refresh(conn, known, stat)
            return
        self._add(conn, path, stat)
        self.resolve_keys(conn, file_keys(path))

    def forget_texts(self, conn: sqlite3.Connection, paths: Iterable[str]) -> None:
        """Files that are not notes go back to being known by name and facts only."""
        self._begin(conn)
        for path in paths:
            if (known := conn.execute(KNOWN, (path,)).fetchone()) is not None:
                self._forget(conn, known)

    def remove(self, conn: sqlite3.Connection, paths: Iterable[str]) -> None:
        """Take files out; what linked to them is resolved anew."""
        self._begin(conn)
        found = {p: row for p in paths if (row := conn.execute(KNOWN, (p,)).fetchone()) is not None}
        self._clear(conn, [row[0] for row in found.values()])
        for path, row in found.items():
            conn.execute("DELETE FROM files WHERE id = ?", row[:1])
            conn.execute("UPDATE links SET target = NULL WHERE target = ?", row[:1])
            if (bulk := self._bulk) is not None:
                bulk.remove(path)
        self.resolve_keys(conn, {key for path in found for key in file_keys(path)})

    def resolve_keys(self, conn: sqlite3.Connection, keys: Iterable[str]) -> None:
        """Resolve every link that could mean one of these names."""
        for key in keys:
            rows = conn.execute(
                "SELECT l.id, l.path, f.path, l.target FROM links l JOIN files f ON f.id = l.file WHERE l.key = ? AND l.path != ''",
                (key,),
            ).fetchall()
            if not rows:
                continue
            names = _named(conn, key)
            resolver = Resolver(names)
            changed = []
            for link, path, source, target in rows:
                found = resolver.resolve(path, source)
                if (wanted := names.get(found) if found else None) != target:
                    changed.append((wanted, link))
            conn.executemany("UPDATE links SET target = ? WHERE id = ?", changed)

    def _begin(self, conn: sqlite3.Connection) -> None:
        """What anybody computed from the index before this commit is out of date; so are names held in memory."""
        generation = conn.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()[0]
        if (bulk := self._bulk) is not None:
            if bulk.generation != generation:  # another process was here
                bulk.load(conn)
            bulk.generation = generation + 1
        conn.execute("UPDATE meta SET value = ? WHERE key = 'generation'", (generation + 1,))

    def _add(self, conn: sqlite3.Connection, path: str, stat: Stat) -> int:
        folder, _, name = path.rpartition("/")
        stem, dot, ext = name.rpartition(".")
        note = int(is_note(path))
        named = (path, file_keys(path)[0], folder, stem if dot else name, ext.lower() if dot else "")
        file = conn.execute(FILE, (*named, note, *stat, note)).lastrowid
        assert file is not None
        if (bulk := self._bulk) is not None:
            bulk.add(path, file)
        return file

    def _stat(self, conn: sqlite3.Connection, known: Sequence[object], stat: Stat) -> None:
        if tuple(known[2:]) != stat:
            conn.execute(STAT, (*stat, known[0]))

    def _refresh(self, conn: sqlite3.Connection, known: Sequence[Any], stat: Stat) -> None:
        """The facts of a file that is not a note; the text it had is that of another content."""
        if tuple(known[2:]) != stat:
            self._forget(conn, known)
            conn.execute(STAT, (*stat, known[0]))

    def _forget(self, conn: sqlite3.Connection, known: Sequence[Any]) -> None:
        if known[1] is not None:
            self._clear(conn, [known[0]])
            conn.execute(FORGET, known[:1])

    def _clear(self, conn: sqlite3.Connection, files: Sequence[int]) -> None:
        for file in sorted(files):
            words.remove(conn, file)
        for file in sorted(files):
            chunks.remove(conn, file)
        for delete in self._deletes if files else ():
            conn.executemany(delete, [(file,) for file in files])

    def _put(self, conn: sqlite3.Connection, notes: Sequence[tuple[int, NoteRows]]) -> None:
        """Everything of the notes but their full text, one statement a table."""
        conn.executemany(READ, [(r.hash, r.title, r.properties, r.problem, file) for file, r in notes])
        conn.executemany("INSERT INTO texts VALUES (?, ?)", [(file, r.text) for file, r in notes])
        aliases = [(a.casefold(), file, a) for file, r in notes for a in r.aliases]
        conn.executemany("INSERT INTO aliases VALUES (?, ?, ?)", aliases)
        tags = [(key, file, tag, s, n) for file, r in notes for n, (key, tag, s) in enumerate(r.tags)]
        conn.executemany("INSERT INTO tags VALUES (?, ?, ?, ?, ?)", tags)
        values = [(v[0], file, *v[1:]) for file, r in notes for v in r.values]
        conn.executemany("INSERT INTO properties VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        headings = [(file, *h) for file, r in notes for h in r.headings]
        conn.executemany("INSERT INTO headings VALUES (?, ?, ?, ?, ?)", headings)
        blocks = [(file, *b) for file, r in notes for b in r.blocks]
        conn.executemany("INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)", blocks)
        links = []
        for file, rows in notes:
            targets = self._targets(conn, rows, file)
            links += [(file, targets[k[1]], *k) for k in rows.links]
        conn.executemany(LINK, links)
        for name, insert in self._inserts.items():
            cells = [(file, n, *row) for file, r in notes for n, row in enumerate(r.extracts.get(name, ()))]
            conn.executemany(insert, cells)

    def _targets(self, conn: sqlite3.Connection, rows: NoteRows, file: int) -> dict[str, int | None]:
        """What each link path of a note means; an empty one is the note itself."""
        targets: dict[str, int | None] = {"": file}
        for key, path, *_ in rows.links:
            if path in targets:
                continue
            names, resolver = self._names(conn, key)
            found = resolver.resolve(path, rows.path)
            targets[path] = names.get(found) if found else None
        return targets

    def _names(self, conn: sqlite3.Connection, key: str) -> tuple[dict[str, int], Resolver]:
        if (bulk := self._bulk) is not None:
            return bulk.ids, bulk.resolver
        names = _named(conn, key)
        return names, Resolver(names)


class Bulk:
    """All paths of a vault in memory, for the time of a long run."""

    def __init__(self) -> None:
        self.generation = -1
        self.ids: dict[str, int] = {}
        self.resolver = Resolver()

    def load(self, conn: sqlite3.Connection) -> None:
        self.ids = dict(conn.execute("SELECT path, id FROM files").fetchall())
        self.resolver = Resolver(self.ids)

    def add(self, path: str, file: int) -> None:
        if path not in self.ids:
            self.ids[path] = file
            self.resolver.add(path)

    def remove(self, path: str) -> None:
        if self.ids.pop(path, None) is not None:
            self.resolver.remove(path)


def _insert(extractor: Extractor) -> str:
    marks = ", ".join("?" * (2 + len(columns(extractor.row))))
    return f"INSERT INTO x_{extractor.name} VALUES ({marks})"


def _named(conn: sqlite3.Connection, key: str) -> dict[str, int]:
    return dict(conn.execute("SELECT path, id FROM files WHERE key = ?", (key,)).fetchall())
