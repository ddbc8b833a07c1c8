"""A vault's index as a running thing: opened at once, filled in the background, level with every write."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from knapper.domain import Extractor
from knapper.index import chunks, schema, vectors, words
from knapper.index.database import Database
from knapper.index.leader import Leader
from knapper.index.reconcile import Result, put, reconcile
from knapper.index.rows import Stat, is_note, note_rows
from knapper.index.watch import Watch
from knapper.index.writer import Writer

if TYPE_CHECKING:
    import sqlite3

    from knapper.vault.disk import Disk

log = logging.getLogger("knapper.index")
LEAD_AGAIN_SECONDS = 2.0


class Status(NamedTuple):
    """How far the index is, so that every answer can say what it covers."""

    state: str  # indexing, ready, degraded
    notes_ready: bool
    vectors_ready: bool
    indexed: int
    total: int
    reconciled_at: float | None
    write_failures: int
    leader: bool
    watching: bool
    problem: str = ""


class Index:
    """Everything derived from one vault's files."""

    def __init__(
        self,
        disk: Disk,
        path: Path,
        *,
        settings: Any,
        watch: Any,
        extractors: Sequence[Extractor] = (),
        embedding: vectors.Source | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.disk = disk
        self.extractors = list(extractors)
        self.processes = settings.processes or os.cpu_count() or 1
        self.max_note_bytes = settings.max_note_bytes
        self.writer = Writer(self.extractors, settings.chunk_chars, settings.max_chunk_chars)
        self.vocabulary = words.Vocabulary()
        self.held: dict[str, tuple[int, Any]] = {}
        self.write_failures = 0
        self.problem = ""
        self._clock = clock
        self._watch_settings = watch
        self._leader = Leader(path.with_suffix(".lock"))
        self._stop = threading.Event()
        self._run_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._watch: Watch | None = None
        tables = schema.TABLES + words.TABLES + chunks.TABLES + vectors.TABLES
        tables += "".join(schema.extractor_table(e) for e in self.extractors)
        self.db = Database(path, tables, schema.fingerprint(self.extractors, settings), vectors.prepare)
        self.vectors = vectors.Vectors(self.db, embedding, self._stop)

    def start(self) -> None:
        """Begin to index and to watch, in the background; nothing waits for it."""
        self._thread = threading.Thread(target=self._live, name="index", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._watch is not None:
            self._watch.stop()
        if self._thread is not None:
            self._thread.join(5)
        self.vectors.close()
        self._leader.release()
        self.db.close()

    def reconcile(
        self, folder: str = "", *, force: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> Result:
        """Bring the index level with the files now; a second caller waits for the first and finds little to do."""
        with self._run_lock:
            result = reconcile(self, folder, force=force, progress=progress)
        self._mark(reconciled_at=self._clock())
        self.vectors.wake()
        return result

    def refresh(self, paths: Iterable[str]) -> None:
        """Take in files that another program changed; unchanged ones cost a stat."""
        gone, notes = [], []
        for path in paths:
            found = self.disk.stat(path)
            if found is not None and found.kind == "folder":
                self.reconcile(path)
                continue
            stat = self.stat(path)
            if stat is None:
                gone.extend(self._known_below(path))
            elif is_note(path):
                notes.append((path, stat))
            else:
                with self.db.write() as conn:
                    self.writer.put_file(conn, path, stat)
        if gone:
            with self.db.write() as conn:
                self.writer.remove(conn, gone)
        stale = [item for item in notes if not self._current(*item)]
        for start in range(0, len(stale), 64):
            loaded = (self.load(path, stat) for path, stat in stale[start : start + 64])
            put(
                self,
                [
                    note_rows(*item, self.extractors, self.max_note_bytes)
                    for item in loaded
                    if item is not None
                ],
            )
        self.vectors.wake()

    def wrote(self, changes: Iterable[tuple[str, bytes | None]]) -> None:
        """Take in what the server itself has just written (or removed: None), before the call returns."""
        try:
            with self.db.write() as conn:
                for path, data in changes:
                    self._wrote(conn, path, data)
        except Exception:
            self.write_failures += 1
            log.exception("a write is not in the index yet; the next reconcile takes it in")
        self.vectors.wake()

    def _wrote(self, conn: sqlite3.Connection, path: str, data: bytes | None) -> None:
        stat = self.stat(path)
        if data is None or stat is None:
            self.writer.remove(conn, [path])
        elif is_note(path):
            self.writer.put_notes(conn, [note_rows(path, data, stat, self.extractors, self.max_note_bytes)])
        else:
            self.writer.put_file(conn, path, stat)

    def status(self) -> Status:
        with self.db.read() as conn:
            meta = dict(conn.execute("SELECT key, value FROM meta").fetchall())
        indexing = bool(meta.get("indexing", 1))
        ready = bool(meta.get("reconciled_at")) and not (indexing and not meta.get("complete"))
        state = "degraded" if self.problem else "indexing" if indexing else "ready"
        return Status(
            state,
            ready,
            ready and self.vectors.ready(),
            int(meta.get("indexed", 0)),
            int(meta.get("total", 0)),
            meta.get("reconciled_at"),
            self.write_failures,
            self._leader.held,
            self._watch is not None and self._watch.running,
            self.problem,
        )

    @property
    def generation(self) -> int:
        """Grows with every change to the index, by any process."""
        with self.db.read() as conn:
            row = conn.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        return int(row[0])

    @property
    def leads(self) -> bool:
        """Whether this process is the one that indexes the vault."""
        return self._leader.held

    def clear(self) -> dict[str, int]:
        """Empty the index and begin to fill it again; says how many rows went."""
        with self._run_lock, self.db.write() as conn:
            counts = {
                t: conn.execute(f"SELECT count(*) FROM {t}").fetchone()[0]
                for t in ("files", "chunks", "vectors")
            }
            paths = [row[0] for row in conn.execute("SELECT path FROM files")]
            self.writer.remove(conn, paths)
        self._mark(complete=None, reconciled_at=None)
        threading.Thread(target=self.reconcile, name="index-again", daemon=True).start()
        return {"notes": counts["files"], "chunks": counts["chunks"], "embeddings": counts["vectors"]}

    def report(self, *, indexed: int, total: int, indexing: bool) -> None:
        """Say how far a run is, for this process and the others."""
        self._mark(
            indexed=indexed, total=total, indexing=int(indexing), **({} if indexing else {"complete": 1})
        )

    def scan(self, folder: str = "") -> Iterator[tuple[str, Stat]]:
        """Every file below a folder with what tells whether it changed."""
        for entry in self.disk.walk(folder):
            if entry.kind == "file":
                yield entry.path, Stat(entry.size, entry.mtime_ns, entry.ctime_ns, entry.inode)

    def stat(self, path: str) -> Stat | None:
        found = self.disk.stat(path)
        return (
            None
            if found is None or found.kind != "file"
            else Stat(found.size, found.mtime_ns, found.ctime_ns, found.inode)
        )

    def load(self, path: str, stat: Stat) -> tuple[str, bytes, Stat] | None:
        """A note's bytes, or None where it is gone or cannot be read."""
        try:
            return path, self.disk.read(path).data, stat
        except Exception as error:
            log.warning("a note could not be read: %s", type(error).__name__)
            return None

    def _current(self, path: str, stat: Stat) -> bool:
        with self.db.read() as conn:
            row = conn.execute(
                "SELECT size, mtime_ns, inode, hash FROM files WHERE path = ?", (path,)
            ).fetchone()
        return row is not None and row[3] is not None and row[:3] == (stat.size, stat.mtime_ns, stat.inode)

    def _known_below(self, path: str) -> list[str]:
        with self.db.read() as conn:
            rows = conn.execute(
                "SELECT path FROM files WHERE path = ? OR (path >= ? AND path < ?)",
                (path, f"{path}/", f"{path}0"),
            ).fetchall()
        return [row[0] for row in rows]

    def _mark(self, **values: Any) -> None:
        with self.db.write() as conn:
            conn.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def _live(self) -> None:
        while not self._stop.is_set():
            if self._leader.acquire():
                self._lead()
                return
            self._stop.wait(LEAD_AGAIN_SECONDS)

    def _lead(self) -> None:
        if self._watch_settings.enabled:
            self._watch = Watch(Path(self.disk.root), self.refresh, self._watch_settings, self._lost)
            self._watch.start()
        try:
            self.reconcile()
            self.problem = ""
        except Exception as error:
            self.problem = type(error).__name__
            log.exception("the index could not be brought level; the next reconcile tries again")
        self.vectors.start()

    def _lost(self, reason: str) -> None:
        """The watcher missed something: compare everything again."""
        log.warning("watching the vault failed (%s); comparing all files", reason)
        if not self._stop.is_set():
            self.reconcile()
