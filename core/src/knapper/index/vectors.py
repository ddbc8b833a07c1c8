"""Vectors of chunks: made in the background after text search is complete, and kept in step with the chunks.

They lie in a table of sqlite-vec where SQLite can load it, elsewhere in a plain one; which one is reported. Vectors of
chunks that are gone stay until the next pass, so that a note that changed in one place gets the others back by their hash.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.errors import ToolError
from knapper.index.before import Before
from knapper.index.database import Database
from knapper.index.nearest import Compared, Engine, has_vec

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    from knapper.embed import Model

log = logging.getLogger("knapper.index")
TABLES = """
CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, hash BLOB NOT NULL);
CREATE INDEX vectors_by_hash ON vectors (hash);
CREATE TABLE plain_vectors (rowid INTEGER PRIMARY KEY, embedding BLOB NOT NULL);
CREATE TABLE quarantine (hash BLOB PRIMARY KEY NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
"""
BATCH = 256
LONGEST = 8000
EMBEDDED_AS = 1  # how the text of a chunk is put together for the model; another way, another number
RETRY_SECONDS = 30.0
# Numbers of chunks only grow: those up to the last that was embedded need not be looked through for every batch.
EMBEDDED = "SELECT coalesce(max(value), 0) FROM meta WHERE key = 'embedded'"
MISSING = (
    f"FROM chunks c WHERE c.id > ({EMBEDDED}) AND c.hash != x'' AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk = c.id) "
    "AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.hash = c.hash)"
)
REVISION = "SELECT key, value FROM meta WHERE key IN ('generation', 'vectors') ORDER BY key"
Source = Callable[[], "Model"]


def prepare(conn: sqlite3.Connection) -> None:
    """Load sqlite-vec into a connection where that is possible."""
    try:
        conn.enable_load_extension(True)
        conn.load_extension(_extension())
        conn.enable_load_extension(False)
    except (ImportError, AttributeError, OSError) as error:
        log.debug("sqlite-vec is not available: %s", error)


@cache
def _extension() -> str:
    """Where sqlite-vec lies; its module is not imported, for it would bring numpy into every start."""
    found = find_spec("sqlite_vec")
    if found is None or found.origin is None:
        raise ImportError("sqlite_vec is not installed")
    return str(Path(found.origin).with_name("vec0"))


class Vectors:
    """The vectors of one vault's chunks."""

    def __init__(self, db: Database, source: Source | None, stop: threading.Event) -> None:
        self._db = db
        self._source = source
        self._stop = stop
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._complete_at: Any = None
        self._turn = threading.Lock()
        self._before = Before(db.path, prepare)
        if source is None:
            self._before.drop()
        self.problem = ""
        with db.read() as conn:
            self.compared = Compared("sqlite-vec" if has_vec(conn) else "numpy")

    @property
    def engine(self) -> Engine:
        """What compares vectors where there are many."""
        return self.compared.engine

    def start(self) -> None:
        """Embed what has no vector yet, now and whenever something changes."""
        if self._source is None or self._thread is not None:
            return
        self._wake.set()
        self._thread = threading.Thread(target=self._run, name="vectors", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def close(self) -> None:
        self._wake.set()
        if self._thread is not None:
            self._thread.join(5)

    @property
    def available(self) -> bool:
        """Whether there is a model to ask at all."""
        return self._source is not None

    @property
    def weight(self) -> float:
        """How much the model's opinion counts beside that of the words; a model may know better than the default."""
        return float(getattr(self._source(), "weight", 1.0)) if self._source is not None else 0.0

    def identity(self) -> str:
        """The model that made the stored vectors."""
        with self._db.read() as conn:
            row = conn.execute("SELECT value FROM meta WHERE key = 'model'").fetchone()
        return str(row[0]) if row else ""

    def stored(self) -> bool:
        """Whether there are any vectors yet."""
        with self._db.read() as conn:
            return conn.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None

    def ready(self) -> bool:
        """Whether every chunk that can have a vector has one."""
        if self._source is None:
            return True
        with self._db.read() as conn:
            now = conn.execute(REVISION).fetchall()
        if self._complete_at != now and self.missing() == 0:
            self._complete_at = now
        return bool(self._complete_at == now)

    def refit(self) -> None:
        """Drop the vectors of another model, if it is another one that is configured now."""
        if self._source is not None:
            with self._turn:
                self._fit(self._source())

    def missing(self) -> int:
        with self._db.read() as conn:
            return int(conn.execute(f"SELECT count(*) {MISSING}").fetchone()[0])

    def refused(self) -> int:
        """How many texts the model would not take; they are not tried again before they change."""
        with self._db.read() as conn:
            return int(conn.execute("SELECT count(*) FROM quarantine").fetchone()[0])

    def clear(self) -> int:
        """Drop all vectors; they are made anew in the background."""
        with self._db.write() as conn:
            dropped = _drop(conn)
        self.wake()
        return dropped

    def embed_now(self, progress: Callable[[int], None] | None = None) -> None:
        """Embed everything that is missing before returning; raises what the model raises."""
        self.refit()
        left = self.missing()
        while self._embed_some():
            left = max(0, left - BATCH)
            if progress is not None:
                progress(left)

    def query(self, text: str) -> NDArray[np.float32]:
        """A query's vector, or embedding_provider_error."""
        if self._source is None:
            raise ToolError("embedding_provider_error", "no embedding model is installed or enabled")
        model = self._source()
        if self.identity() not in ("", model.identity):
            raise ToolError(
                "embedding_provider_error", "the vectors are another model's and are being made anew"
            )
        vector: NDArray[np.float32] = checked(model, model.embed([text], query=True), 1)[0]
        return vector

    def _run(self) -> None:
        wait: float | None = None
        while not self._stop.is_set():
            self._wake.wait(wait)
            self._wake.clear()
            try:
                self.refit()
                while not self._stop.is_set() and self._embed_some():
                    pass
                self.problem, wait = "", None
            except Exception as error:  # noqa: BLE001 - whatever the model raises, text search goes on
                self.problem, wait = str(error) or type(error).__name__, RETRY_SECONDS
                log.warning("embedding stopped and is tried again later: %s", type(error).__name__)

    def _embed_some(self) -> bool:
        """Give the next chunks their vectors; False where none is missing."""
        with self._turn:
            return self._embed_next()

    def _embed_next(self) -> bool:
        with self._db.read() as conn:
            before = conn.execute(EMBEDDED).fetchone()
            chunks = conn.execute(f"SELECT c.id, c.hash {MISSING} ORDER BY c.id LIMIT ?", (BATCH,)).fetchall()
        if not chunks:
            self._purge()
            return False
        assert self._source is not None
        model = self._source()
        self._fit(model)
        vectors = self._known([digest for _, digest in chunks])
        rest = list({digest for _, digest in chunks if digest not in vectors})
        vectors |= self._before.known(self._wanted(model), rest)
        unknown = [(chunk, digest) for chunk, digest in chunks if digest not in vectors]
        refused: dict[bytes, str] = {}
        made = embed_each(model, self._texts([chunk for chunk, _ in unknown]))
        for (_, digest), result in zip(unknown, made, strict=True):
            if isinstance(result, bytes):
                vectors[digest] = result
            else:
                refused[digest] = result
        with self._db.write() as conn:
            if conn.execute(EMBEDDED).fetchone() != before or not self._fits(conn, model):
                return True  # somebody has dropped or made vectors meanwhile: look again what is missing
            alive = {
                row[0]
                for row in conn.execute(
                    f"SELECT id FROM chunks WHERE id IN ({_marks(chunks)})", [c for c, _ in chunks]
                )
            }
            rows = [(chunk, digest) for chunk, digest in chunks if digest in vectors and chunk in alive]
            conn.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            conn.executemany(
                f"INSERT INTO {self.compared.table} (rowid, embedding) VALUES (?, ?)",
                [(c, vectors[d]) for c, d in rows],
            )
            conn.executemany("INSERT OR IGNORE INTO quarantine VALUES (?, ?)", list(refused.items()))
            conn.execute("INSERT OR REPLACE INTO meta VALUES ('embedded', ?)", (chunks[-1][0],))
            _changed(conn)
        return True

    def _wanted(self, model: Model) -> dict[str, Any]:
        """What the stored vectors have to be."""
        return {
            "model": model.identity,
            "dimensions": model.dimensions,
            "vector_engine": self.engine,
            "embedded_as": EMBEDDED_AS,
        }

    def _fit(self, model: Model) -> None:
        """Vectors of another model, or laid out for the other engine, mean nothing here: begin anew."""
        with self._db.read() as conn:
            if self._fits(conn, model):
                return
        with self._db.write() as conn:
            _drop(conn)
            if self.engine == "sqlite-vec":
                conn.execute(
                    f"CREATE VIRTUAL TABLE vec USING vec0(embedding float[{model.dimensions}] distance_metric=cosine)"
                )
            conn.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(self._wanted(model).items()))

    def _fits(self, conn: sqlite3.Connection, model: Model) -> bool:
        """Whether the stored vectors are this model's, and laid out for this engine."""
        wanted = self._wanted(model)
        sql = f"SELECT key, value FROM meta WHERE key IN ({_marks(wanted)})"
        return dict(conn.execute(sql, list(wanted)).fetchall()) == wanted

    def _known(self, digests: list[bytes]) -> dict[bytes, bytes]:
        """Vectors that equal chunks already have, or had."""
        sql = (
            f"SELECT v.hash, e.embedding FROM vectors v JOIN {self.compared.table} e ON e.rowid = v.chunk "
            f"WHERE v.hash IN ({_marks(digests)}) GROUP BY v.hash"
        )
        with self._db.read() as conn:
            return dict(conn.execute(sql, digests).fetchall())

    def _texts(self, chunks: list[int]) -> list[str]:
        """What is embedded of each chunk: the title, the headings, and the text itself."""
        sql = (
            'SELECT c.id, f.title, c.headings, substr(t.text, c.start + 1, c."end" - c.start) FROM chunks c '
            f"JOIN files f ON f.id = c.file JOIN texts t ON t.file = c.file WHERE c.id IN ({_marks(chunks)})"
        )
        with self._db.read() as conn:
            found = {row[0]: row[1:] for row in conn.execute(sql, chunks)}
        texts = []
        for chunk in chunks:
            title, headings, body = found.get(chunk, ("", "[]", ""))
            path = " - ".join([title or "", *msgspec.json.decode(headings)])
            texts.append(f"{path}\n\n{body}"[:LONGEST])
        return texts

    def _purge(self) -> None:
        """Drop the vectors of chunks that are gone, once every chunk has its own, and what was held against them."""
        gone = "SELECT v.chunk FROM vectors v WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.id = v.chunk)"
        aside = "SELECT q.hash FROM quarantine q WHERE q.hash NOT IN (SELECT c.hash FROM chunks c)"
        with self._db.read() as conn:
            rows, changed = conn.execute(gone).fetchall(), conn.execute(aside).fetchall()
            level = conn.execute("SELECT 1 FROM meta WHERE key = 'level'").fetchone() is not None
        if rows:
            with self._db.write() as conn:
                conn.executemany(f"DELETE FROM {self.compared.table} WHERE rowid = ?", rows)
                conn.executemany("DELETE FROM vectors WHERE chunk = ?", rows)
                _changed(conn)
        if changed:
            with self._db.write() as conn:
                conn.executemany("DELETE FROM quarantine WHERE hash = ?", changed)
        if level:
            self._before.drop()


def embed_each(model: Model, texts: Sequence[str]) -> list[bytes | str]:
    """A vector for each text, or the reason why it has none; a batch that is refused for its content is halved."""
    if not texts:
        return []
    each = getattr(model, "embed_each", None)
    if each is not None:  # a model that knows its own batches halves those
        found = each(texts)
        refused = [one for one in found if isinstance(one, ToolError)]
        if refused:
            _insist(model, refused[0])
        return [one.message if isinstance(one, ToolError) else one.tobytes() for one in found]
    try:
        return [row.tobytes() for row in checked(model, model.embed(texts, query=False), len(texts))]
    except ToolError as error:
        if error.details.get("status") not in (400, 413):
            raise
        if len(texts) == 1:
            _insist(model, error)
            return [error.message]
    half = len(texts) // 2
    return embed_each(model, texts[:half]) + embed_each(model, texts[half:])


def _insist(model: Model, refusal: ToolError) -> None:
    """A model that refuses even a harmless word has no quarrel with the text: then nothing is put aside."""
    try:
        model.embed(["note"], query=False)
    except ToolError:
        raise refusal from None


def checked(model: Model, rows: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """The rows a model made, if they are as many and as wide as they must be, and hold numbers."""
    import numpy as np

    if rows.shape != (count, model.dimensions) or not np.isfinite(rows).all():
        raise ToolError(
            "embedding_provider_error",
            f"the embedding model answered with vectors of shape {rows.shape}, or with what is no number",
        )
    return np.ascontiguousarray(rows, np.float32)


def _drop(conn: sqlite3.Connection) -> int:
    dropped = conn.execute("SELECT count(*) FROM vectors").fetchone()[0]
    for table in ("vectors", "plain_vectors", "quarantine"):
        conn.execute(f"DELETE FROM {table}")
    conn.execute("DROP TABLE IF EXISTS vec")
    conn.execute(
        "DELETE FROM meta WHERE key IN ('model', 'dimensions', 'vector_engine', 'embedded_as', 'embedded')"
    )
    _changed(conn)
    return int(dropped)


def _changed(conn: sqlite3.Connection) -> None:
    """What anybody holds of the vectors in memory is out of date."""
    conn.execute("INSERT INTO meta VALUES ('vectors', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1")


def _marks(values: Collection[Any]) -> str:
    return ", ".join("?" * len(values))
