"""A vault's index as a running thing: opened at once, filled in the background, level with every write."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knapper.domain import Extractor
from knapper.errors import ToolError
from knapper.index import chunks, derived, intake, schema, status, vectors, words
from knapper.index.answers import Answers
from knapper.index.database import Database
from knapper.index.leader import Leader
from knapper.index.life import Life
from knapper.index.loading import facts
from knapper.index.reconcile import Known, Result, reconcile
from knapper.index.rows import UNREADABLE, Reading, Stat
from knapper.index.writer import Writer

if TYPE_CHECKING:
    import sqlite3

    from knapper.index.permitted import Readable
    from knapper.vault.disk import Disk

log = logging.getLogger("knapper.index")
SEARCHES = 16  # that are kept for their next pages; one that finds a hundred thousand notes takes 2 MB
RECENT_NS = 2_000_000_000  # a file may change twice within the finest time its file system tells apart
BELOW = "(path >= ? AND path < ?)"
KNOWN = f"SELECT path, size, mtime_ns, inode, pending OR problem IS '{UNREADABLE}' FROM files"


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
        texts: Sequence[derived.Texts] = (),
        embedding: vectors.Source | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.disk = disk
        self.extractors = list(extractors)
        self.texts = list(texts)
        self.processes = settings.processes or os.cpu_count() or 1
        self.reading = Reading(
            self.extractors, settings.max_note_bytes, settings.chunk_chars, settings.max_chunk_chars
        )
        self.writer = Writer(self.extractors)
        self.held: dict[str, tuple[int, Any]] = {}
        self.answers = Answers()
        self.searches = Answers(SEARCHES)
        self.write_failures = 0
        self.problem = ""
        self._clock = clock
        self._stop = threading.Event()
        self._run_lock = threading.RLock()
        self._words = (0, words.Vocabulary())
        tables = schema.TABLES + words.TABLES + chunks.TABLES + vectors.TABLES
        tables += "".join(schema.extractor_table(e) for e in self.extractors)
        made_by = schema.fingerprint(tables, self.reading, disk.root, disk.excluded.lines)
        self.db = Database(path, tables, made_by, vectors.prepare)
        self.leader = Leader(self.db.path.with_suffix(".lock"))
        self.vectors = vectors.Vectors(self.db, embedding, self._stop)
        self._life = Life(self, watch)
        self.db.on_damage = self._life.wake

    def start(self) -> None:
        """Begin to index and to watch, in the background; nothing waits for it."""
        self._life.start()

    def stop(self) -> None:
        """Have what runs in the background come to its end; nobody waits for it here."""
        self._stop.set()

    def close(self) -> None:
        self.stop()
        self._life.stop()
        self.vectors.close()
        self.leader.release()
        self.db.close()

    def reconcile(
        self, folder: str = "", *, force: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> Result:
        """Bring the index level with the files now; a second caller waits for the first and finds little to do."""
        with self._run_lock:
            if self.stopping:
                return Result(0, 0, 0)
            if self.db.damage:
                self.db.begin_anew(self.db.epoch)
            try:
                result = reconcile(self, folder, force=force, progress=progress)
            except (
                BaseException
            ):  # whoever asked has cancelled, or it failed: what is left is still to be done
                self._life.compare()
                raise
            if not folder and not self.stopping:
                self._mark(level=1, reconciled_at=self._clock(), total=result.upserted + result.unchanged)
                self.problem = ""
        self.vectors.wake()
        return result

    def refresh(self, paths: Sequence[str]) -> None:
        """Take in what another program changed, files and folders; unchanged files cost a look."""
        intake.refresh(self, paths)
        self.vectors.wake()

    def wrote(self, changes: Iterable[intake.Written]) -> None:
        """Take in what the server itself has just written or removed, before the call returns."""
        try:
            intake.wrote(self, changes)
        except Exception as error:  # the files are written, and they are what counts
            self.write_failures += 1
            log.exception("a write is not in the index yet; comparing all files takes it in")
            self.fell_behind(error)
        self.vectors.wake()

    def fell_behind(self, error: Exception) -> None:
        """Something was not taken in: answers say so until all files have been compared, which is soon."""
        self.problem = error.message if isinstance(error, ToolError) else type(error).__name__
        self._life.compare()

    @property
    def compared(self) -> bool:
        """Whether all files were compared since a change could last have been missed, by any process."""
        with self.db.read() as conn:
            return conn.execute("SELECT 1 FROM meta WHERE key = 'level'").fetchone() is not None

    def may_be_behind(self) -> None:
        """Not all that happened to the files was seen, or not yet: until all are compared, answers say so."""
        with self.db.write() as conn:
            conn.execute("DELETE FROM meta WHERE key = 'level'")

    def renew_texts(self, paths: Iterable[str]) -> None:
        """Ask again for the text of files that are not notes."""
        derived.renew(self, paths)
        self.vectors.wake()

    def status(self, readable: Readable | None = None) -> status.Status:
        """How far the index is; files that a caller may not read are not counted."""
        return status.status(self, readable)

    def coverage(self, readable: Readable | None = None) -> str:
        """What an answer does not cover yet, in words; empty where the index is level with the files."""
        return status.coverage(self, readable)

    @property
    def generation(self) -> int:
        """Grows with every change to the index, by any process."""
        with self.db.read() as conn:
            row = conn.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
        return int(row[0])

    @property
    def vocabulary(self) -> words.Vocabulary:
        """The words of the file that is open now."""
        if self._words[0] != self.db.epoch:
            self._words = (self.db.epoch, words.Vocabulary())
        return self._words[1]

    @property
    def leads(self) -> bool:
        """Whether this process is the one that indexes the vault."""
        return self.leader.held

    @property
    def watching(self) -> bool:
        """Whether this process is told what other programs change."""
        return self._life.watching

    @property
    def watch_problem(self) -> str:
        """Why it is not told of changes although it should be; empty where it is."""
        return self._life.watch_problem

    @property
    def busy(self) -> bool:
        """Whether the files are being compared at this moment, so that another who wants it would wait."""
        free = self._run_lock.acquire(blocking=False)
        if free:
            self._run_lock.release()
        return not free

    @property
    def stopping(self) -> bool:
        return self._stop.is_set()

    def clear(self) -> dict[str, int]:
        """Empty the index and begin to fill it again; says how many rows went."""
        tables = {"notes": "files WHERE note", "chunks": "chunks", "embeddings": "vectors"}
        with self.db.read() as conn:
            counts = {
                name: int(conn.execute(f"SELECT count(*) FROM {t}").fetchone()[0])
                for name, t in tables.items()
            }
        self.db.begin_anew()
        if self.leads:
            self._life.wake()
        else:
            threading.Thread(target=self._fill, name="index-again", daemon=True).start()
        return counts

    def _fill(self) -> None:
        try:
            self.reconcile()
        except ToolError as error:
            log.warning("the index could not be filled yet: %s", error.message)

    def pending(self) -> int:
        """How many notes are known by name but not read yet."""
        with self.db.read() as conn:
            return int(conn.execute(status.PENDING).fetchone()[0])

    def scan(self, folder: str = "") -> Iterator[tuple[str, Stat]]:
        """Every file below a folder with what tells whether it changed."""
        for entry in self.disk.walk(folder):
            if entry.kind == "file":
                yield entry.path, Stat(entry.size, entry.mtime_ns, entry.ctime_ns, entry.inode)

    def stat(self, path: str) -> Stat | None:
        """The facts of a file that belongs into the index."""
        found = self.disk.listed(path)
        return None if found is None or found.kind != "file" else facts(found)

    def known(self, folder: str = "") -> dict[str, Known]:
        """What the index has of every file below a folder."""
        sql, given = (f"{KNOWN} WHERE {BELOW}", (f"{folder}/", f"{folder}0")) if folder else (KNOWN, ())
        with self.db.read() as conn:
            return {row[0]: Known(*row[1:]) for row in conn.execute(sql, given)}

    def known_files(self, paths: Iterable[str]) -> dict[str, Known]:
        """What the index has of these files, with their hashes."""
        sql = "SELECT size, mtime_ns, inode, pending, hash FROM files WHERE path = ?"
        with self.db.read() as conn:
            found = {path: conn.execute(sql, (path,)).fetchone() for path in paths}
        return {path: Known(*row) for path, row in found.items() if row is not None}

    def known_below(self, path: str) -> list[str]:
        """The paths the index has at or below a path."""
        with self.db.read() as conn:
            sql = f"SELECT path FROM files WHERE path = ? OR {BELOW}"
            return [row[0] for row in conn.execute(sql, (path, f"{path}/", f"{path}0"))]

    def is_current(self, path: str, known: Known | None) -> bool:
        """Whether the index has this file as it is now; one that has just changed is looked at twice."""
        stat = self.stat(path)
        if known is None or stat is None or known.unread:
            return False
        if known[:3] != (stat.size, stat.mtime_ns, stat.inode):
            return False
        if known.hash is None or time.time_ns() - stat.mtime_ns > RECENT_NS:
            return True
        version = self.disk.version(path)
        return version is not None and version.hash == known.hash

    def is_as(self, conn: sqlite3.Connection, path: str, known: Known | None) -> bool:
        """Whether nobody has put this file since it was looked at."""
        sql = "SELECT size, mtime_ns, inode, hash FROM files WHERE path = ?"
        row = conn.execute(sql, (path,)).fetchone()
        if known is None:
            return row[3] is None if row is not None else self.stat(path) is not None
        return row is not None and row[:3] == known[:3]

    def _mark(self, **values: Any) -> None:
        with self.db.write() as conn:
            conn.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))
