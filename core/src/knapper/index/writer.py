"""Putting rows into the index and taking them out, and keeping every link's target right as files come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from knapper.domain import Extractor
from knapper.index import chunks, words
from knapper.index.rows import NoteRows, Stat, is_note
from knapper.index.schema import CHILDREN, columns
from knapper.vault.resolve import Resolver, file_keys

if TYPE_CHECKING:
    import sqlite3

FILE = (
    "INSERT INTO files (path, key, folder, name, ext, note, size, mtime_ns, ctime_ns, inode) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, "
    "ctime_ns = excluded.ctime_ns, inode = excluded.inode RETURNING id"
)
LINK = (
    "INSERT INTO links (file, target, key, path, subpath, written, display, kind, embed, property, line, col) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class Writer:
    """Changes one vault's index inside a transaction that the caller holds."""

    def __init__(self, extractors: Sequence[Extractor], chunk_chars: int, max_chunk_chars: int) -> None:
        self.extractors = extractors
        self.chunk_chars = chunk_chars
        self.max_chunk_chars = max_chunk_chars
        self._inserts = {e.name: _insert(e) for e in extractors}
        self._bulk: Bulk | None = None

    @contextmanager
    def bulk(self, conn: sqlite3.Connection) -> Iterator[None]:
        """Hold all names in memory while many notes are put, instead of asking the database for each link."""
        self._bulk = Bulk(conn)
        try:
            yield
        finally:
            self._bulk = None

    def add_files(self, conn: sqlite3.Connection, files: Iterable[tuple[str, Stat]]) -> None:
        """Make files known by path, so that links resolve to them before they are read."""
        _bump(conn)
        for path, stat in files:
            self._file(conn, path, stat)

    def put_notes(self, conn: sqlite3.Connection, notes: Sequence[NoteRows]) -> None:
        """Insert or replace notes; then resolve anew the links that a new file may have changed."""
        _bump(conn)
        touched: set[str] = set()
        for rows in notes:
            known = conn.execute("SELECT id, hash FROM files WHERE path = ?", (rows.path,)).fetchone()
            if known is None:
                touched.update(file_keys(rows.path))
            elif known[1] is not None:
                self._clear(conn, known[0])
            self._put(conn, rows)
        self.resolve_keys(conn, touched)

    def put_file(self, conn: sqlite3.Connection, path: str, stat: Stat) -> None:
        """Insert or refresh a file that is not a note."""
        _bump(conn)
        known = conn.execute("SELECT 1 FROM files WHERE path = ?", (path,)).fetchone()
        self._file(conn, path, stat)
        if not known:
            self.resolve_keys(conn, file_keys(path))

    def remove(self, conn: sqlite3.Connection, paths: Iterable[str]) -> None:
        """Take files out; what linked to them is resolved anew."""
        _bump(conn)
        keys: set[str] = set()
        for path in paths:
            row = conn.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
            if row is None:
                continue
            self._clear(conn, row[0])
            conn.execute("DELETE FROM files WHERE id = ?", row)
            conn.execute("UPDATE links SET target = NULL WHERE target = ?", row)
            keys.update(file_keys(path))
            if self._bulk is not None:
                self._bulk.remove(path)
        self.resolve_keys(conn, keys)

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

    def heal(self, conn: sqlite3.Connection) -> None:
        """Resolve what another process may have made resolvable while this one was busy."""
        sql = "SELECT DISTINCT l.key FROM links l JOIN files f ON f.key = l.key WHERE l.target IS NULL AND l.path != ''"
        self.resolve_keys(conn, [row[0] for row in conn.execute(sql).fetchall()])

    def _file(self, conn: sqlite3.Connection, path: str, stat: Stat) -> int:
        folder, _, name = path.rpartition("/")
        stem, dot, ext = name.rpartition(".")
        values = (
            path,
            file_keys(path)[0],
            folder,
            stem if dot else name,
            ext.lower() if dot else "",
            int(is_note(path)),
            *stat,
        )
        file: int = conn.execute(FILE, values).fetchone()[0]
        if self._bulk is not None:
            self._bulk.add(path, file)
        return file

    def _clear(self, conn: sqlite3.Connection, file: int) -> None:
        words.remove(conn, file)
        chunks.remove(conn, file)
        for table in CHILDREN:
            conn.execute(f"DELETE FROM {table} WHERE file = ?", (file,))
        for extractor in self.extractors:
            conn.execute(f"DELETE FROM x_{extractor.name} WHERE file = ?", (file,))

    def _put(self, conn: sqlite3.Connection, rows: NoteRows) -> None:
        file = self._file(conn, rows.path, Stat(*rows.stat))
        conn.execute(
            "UPDATE files SET hash = ?, title = ?, properties = ?, problem = ? WHERE id = ?",
            (rows.hash, rows.title, rows.properties, rows.problem, file),
        )
        conn.execute("INSERT INTO texts VALUES (?, ?)", (file, rows.text))
        conn.executemany(
            "INSERT INTO aliases VALUES (?, ?, ?)", [(a.casefold(), file, a) for a in rows.aliases]
        )
        tags = [(key, file, tag, source, n) for n, (key, tag, source) in enumerate(rows.tags)]
        conn.executemany("INSERT INTO tags VALUES (?, ?, ?, ?, ?)", tags)
        conn.executemany(
            "INSERT INTO properties VALUES (?, ?, ?, ?, ?, ?, ?)", [(v[0], file, *v[1:]) for v in rows.values]
        )
        conn.executemany("INSERT INTO headings VALUES (?, ?, ?, ?, ?)", [(file, *h) for h in rows.headings])
        conn.executemany("INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)", [(file, *b) for b in rows.blocks])
        targets = self._targets(conn, rows, file)
        conn.executemany(LINK, [(file, targets[k[1]], *k) for k in rows.links])
        for name, cells in rows.extracts.items():
            conn.executemany(self._inserts[name], [(file, n, *row) for n, row in enumerate(cells)])
        words.add(conn, file, rows.text, self._bulk.seen if self._bulk else None)
        chunks.add(conn, file, rows, self.chunk_chars, self.max_chunk_chars)

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
        if self._bulk is not None:
            return self._bulk.ids, self._bulk.resolver
        names = _named(conn, key)
        return names, Resolver(names)


class Bulk:
    """All paths and words of a vault in memory, for the time of a long run."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self.ids: dict[str, int] = dict(conn.execute("SELECT path, id FROM files").fetchall())
        self.resolver = Resolver(self.ids)
        self.seen: set[str] = set()

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


def _bump(conn: sqlite3.Connection) -> None:
    """What anybody computed from the index before this commit is out of date."""
    conn.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
