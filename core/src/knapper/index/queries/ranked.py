"""Text by relevance: by words (BM25), by meaning (vectors), and by both."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from knapper.index import words
from knapper.index.chunks import UNSPACED, pairs, unmarked
from knapper.index.ids import chunk_id, note_id
from knapper.index.queries.base import below
from knapper.index.queries.own import WEIGHTS, Own

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

POOL = 100
MOST_WORDS = 32
COMMON = 0.4  # a word in this share of the notes tells nothing about one of them
FEW = 200  # notes; so many are ranked at no cost, and every word counts
LONG = 5  # letters; shorter words are a slip away from too many others
WORD = re.compile(r"[^\W_]+")


class ChunkRow(NamedTuple):
    """A stretch of a note, or of a page of another file; its line counts from 0, in the page where there is one."""

    chunk: int
    path: str
    title: str
    number: int
    headings: tuple[str, ...]
    line: int
    start: int
    end: int
    text: str
    page: int | None = None

    @property
    def id(self) -> str:
        return chunk_id(self.path, self.number)

    @property
    def note_id(self) -> str:
        return note_id(self.path)


class Scored(NamedTuple):
    """A chunk and how well it fits; BM25 and cosine are known where that list had it."""

    chunk: int
    score: float
    by_words: int | None = None  # its rank among the hits by words, from 1
    by_meaning: int | None = None


class Ranked(Own):
    """Chunks in the order of how well they answer a query."""

    def by_words(self, query: str, k: int, *, root: str = "") -> list[Scored]:
        """The best chunks by BM25 over their note's title and names, their headings and their text."""
        found = self.telling(query)
        if not found:
            return []
        if self._readable is not None:
            return self._by_own_words(found, k, root)
        expression = " OR ".join(quoted(term) for term in found)
        limits, parameters = self._limits(root, "r.rowid")
        weights = ", ".join(map(str, WEIGHTS))
        sql = (
            f"SELECT r.rowid, -bm25(ranked, {weights}) AS score FROM ranked r WHERE ranked MATCH ? {limits} "
            "ORDER BY score DESC, r.rowid LIMIT ?"
        )
        rows = self.rows(sql, [expression, *parameters, k])
        return [Scored(chunk, score, by_words=n) for n, (chunk, score) in enumerate(rows, 1)]

    def _by_own_words(self, found: Sequence[str], k: int, root: str) -> list[Scored]:
        scored = self._by_own_statistics(found)
        if root.strip("/"):
            limits, parameters = self._limits(root, "c.id")
            below = {
                chunk for (chunk,) in self.rows(f"SELECT c.id FROM chunks c WHERE 1 {limits}", parameters)
            }
            scored = [one for one in scored if one[0] in below]
        return [Scored(chunk, score, by_words=n) for n, (chunk, score) in enumerate(scored[:k], 1)]

    def by_meaning(self, query: str, k: int, *, root: str = "") -> list[Scored]:
        """The chunks nearest to a query by cosine; embedding_provider_error where there is no model."""
        return self.near(self._index.vectors.query(query), k, root=root)

    def near(self, vector: NDArray[np.float32], k: int, *, root: str = "") -> list[Scored]:
        """The chunks nearest to a vector by cosine."""
        everything = self._readable is None and not root.strip("/")
        limits, parameters = self._limits(root, "c.id")
        allowed = f"SELECT c.id FROM chunks c WHERE 1 {limits}"
        with self._index.db.read(self._readable) as conn:
            found = self._index.vectors.compared.nearest(
                conn, vector, k, allowed, parameters, everything=everything
            )
        return [Scored(chunk, score, by_meaning=n) for n, (chunk, score) in enumerate(found, 1)]

    def by_both(self, query: str, k: int, *, root: str = "", pool: int = POOL) -> list[Scored]:
        """The best chunks by words and meaning together: both scores laid on one scale and added.

        Each list is cut at the pool first. BM25 is divided by its best, cosine is stretched over the pool, and the
        model says how much its opinion weighs.
        """
        lexical = self.by_words(query, pool, root=root)
        vector = self._index.vectors.query(query)
        dense = self.near(vector, pool, root=root)
        if not dense:
            top = lexical[0].score if lexical else 1.0
            return [s._replace(score=s.score / top) for s in lexical[:k]]
        cosine = {s.chunk: s.score for s in dense}
        with self._index.db.read() as conn:
            others = [s.chunk for s in lexical if s.chunk not in cosine]
            cosine |= self._index.vectors.compared.cosines(conn, vector, others)
        return blend(lexical, dense, cosine, self._index.vectors.weight)[:k]

    @property
    def has_embedder(self) -> bool:
        """Whether there is a model to ask at all."""
        return self._index.vectors.available

    @property
    def has_vectors(self) -> bool:
        """Whether there is a model to ask, and something it has seen."""
        return self._index.vectors.available and self._index.vectors.stored()

    @property
    def vectors_ready(self) -> bool:
        """Whether every chunk that can have a vector has one."""
        return self._index.vectors.available and self._index.vectors.ready()

    @property
    def embedding_model(self) -> str:
        return self._index.vectors.identity()

    @property
    def embedding_problem(self) -> str:
        return self._index.vectors.problem

    def best_of_notes(self, found: Sequence[Scored]) -> list[Scored]:
        """The first chunk of each note, in the same order."""
        marks = ", ".join("?" * len(found))
        sql = f"SELECT id, file FROM chunks WHERE id IN ({marks})"
        with self._index.db.read() as conn:
            note = dict(conn.execute(sql, [s.chunk for s in found]).fetchall())
        seen: set[int] = set()
        best = []
        for one in found:
            if (file := note.get(one.chunk)) is not None and file not in seen:
                seen.add(file)
                best.append(one)
        return best

    def chunks(self, ids: Iterable[int]) -> dict[int, ChunkRow]:
        """Chunks by their number in the index, as far as the caller may read them."""
        wanted = list(ids)
        marks = ", ".join("?" * len(wanted))
        return {row.chunk: row for row in self._chunk_rows(f"c.id IN ({marks})", wanted)}

    def chunks_of(self, path: str) -> list[ChunkRow]:
        """All chunks of a note in their order."""
        return self._chunk_rows("f.path = ?", [path])

    def vector_of(self, chunks: Sequence[int]) -> NDArray[np.float32] | None:
        """The mean of some chunks' vectors, of unit length; None where none has one."""
        with self._index.db.read() as conn:
            return self._index.vectors.compared.mean(conn, chunks)

    def telling(self, query: str) -> list[str]:
        """The words of a query that are looked for, the rarest first: without those that nearly every note has."""
        found = list(dict.fromkeys(terms(query)))
        counts = self._frequencies(found)
        found = list(dict.fromkeys(self._meant(term, counts) for term in found))
        counts = self._frequencies(found)
        most = max(FEW, COMMON * self._notes())
        telling = [t for t in found if counts[t] <= most] or found
        telling.sort(key=lambda t: counts[t])
        return telling[:MOST_WORDS]

    def _meant(self, term: str, counts: dict[str, int]) -> str:
        """A word; where no note has it in any form, the most frequent of the words that are a slip away from it."""
        if (
            counts[term]
            or len(term) < LONG
            or not term.isalpha()
            or UNSPACED.search(term)
            or self._ranks(term)
        ):
            return term
        vocabulary = self._index.vocabulary
        with self._index.db.read() as conn:
            vocabulary.refresh(conn)
        near = self._frequencies(vocabulary.alike(words.fold(term)))
        return min((other for other in near if near[other]), key=lambda o: (-near[o], o), default=term)

    def _ranks(self, term: str) -> bool:
        """Whether a passage the caller may read has a word in some form."""
        limits, parameters = self._limits("", "r.rowid")
        sql = f"SELECT 1 FROM ranked r WHERE ranked MATCH ? {limits} LIMIT 1"
        return bool(self.rows(sql, [quoted(term), *parameters]))

    def telling_words(self, text: str, most: int = 24) -> str:
        """The words of a long text that tell most about it: frequent in it, rare elsewhere."""
        times: dict[str, int] = {}
        for term in terms(text):
            times[term] = times.get(term, 0) + 1
        often = sorted(times, key=lambda t: (-times[t], t))[:200]
        counts, notes = self._frequencies(often), max(1, self._notes())
        telling = [t for t in often if counts[t] <= max(FEW, COMMON * notes)]
        telling.sort(key=lambda t: (counts[t] / min(times[t], 4), t))
        return " ".join(telling[:most])

    def _limits(self, root: str, column: str) -> tuple[str, list[Any]]:
        """The condition that a chunk may be read and lies below a folder; nothing where that is every chunk."""
        if self._readable is None and not root.strip("/"):
            return "", []
        where, parameters = below("lf.path", root)
        inside = (
            "SELECT lc.id FROM files lf JOIN chunks lc ON lc.file = lf.id "
            f"WHERE {where} AND {self.may('lf.path')}"
        )
        return f"AND {column} IN ({inside})", parameters

    def _chunk_rows(self, where: str, parameters: list[Any]) -> list[ChunkRow]:
        sql = (
            'SELECT c.id, f.path, f.title, c.ord, c.headings, c.line, c.start, c."end", '
            'substr(t.text, c.start + 1, c."end" - c.start), c.page FROM chunks c JOIN files f ON f.id = c.file '
            f"JOIN texts t ON t.file = c.file WHERE {where} AND {self.may('f.path')} ORDER BY f.path, c.ord"
        )
        return [ChunkRow._make(_decoded(row)) for row in self.rows(sql, parameters)]

    def _notes(self) -> int:
        counts = self._kept_counts()
        if "" not in counts:
            counts[""] = self._count_notes()
        return counts[""]

    def _count_notes(self) -> int:
        return int(self.rows(f"SELECT count(*) FROM texts t WHERE {self.may('t.file')}")[0][0])

    def _frequencies(self, found: Sequence[str]) -> dict[str, int]:
        """In how many of the notes that the caller may read each word stands."""
        counts = self._kept_counts()
        sql = f"SELECT count(*) FROM (SELECT 1 FROM literal l WHERE literal MATCH ? AND {self.may('l.rowid')} LIMIT ?)"
        for term in found:
            if term not in counts:
                counts[term] = self.rows(sql, (quoted(words.fold(term)), MOST_COUNTED))[0][0]
        return {term: counts[term] for term in found}

    def _kept_counts(self) -> dict[str, int]:
        """Counts since the index last changed much; a little out of date they choose the same words."""
        name = ("frequencies", self._readable)
        counts: dict[str, int] = self._index.answers.get(name, self._index.generation // 64, dict)
        if len(counts) > 50_000:
            counts.clear()
        return counts


MOST_COUNTED = 100_000


def _decoded(row: Sequence[Any]) -> list[Any]:
    """A row of a chunk with its headings as texts."""
    return [*row[:4], tuple(msgspec.json.decode(row[4])), *row[5:]]


def terms(query: str) -> list[str]:
    """The words of a query as the ranked index knows them; unspaced scripts as pairs of letters."""
    found = []
    # In lower case and not folded, since the index keeps ß as it is; and i with a dot is one letter, not two.
    plain = unicodedata.normalize("NFC", query).replace("İ", "i").lower()
    for run in WORD.findall(unmarked(plain)):
        at = 0
        for unspaced in UNSPACED.finditer(run):
            found += [run[at : unspaced.start()]]
            found += [p for p in pairs(unspaced[0]) if len(p) == 2 or len(unspaced[0]) == 1]
            at = unspaced.end()
        found += [run[at:]]
    return [term for term in found if term]


def quoted(term: str) -> str:
    """A word for FTS5, in which nothing acts as syntax; a single letter of an unspaced script begins something."""
    return f'"{term}" *' if len(term) == 1 and UNSPACED.match(term) else f'"{term}"'


def blend(
    lexical: Sequence[Scored], dense: Sequence[Scored], cosine: dict[int, float], weight: float
) -> list[Scored]:
    """Two lists as one, best first: BM25 over its best, and cosine between the least and the most of the pool."""
    words_of = {s.chunk: s for s in lexical}
    meaning_of = {s.chunk: s.by_meaning for s in dense}
    best = lexical[0].score if lexical else 1.0
    pool = [*words_of, *(c for c in meaning_of if c not in words_of)]
    known = [cosine[c] for c in pool if c in cosine]
    low, high = min(known), max(known)
    spread = high - low or 1.0
    found = []
    for chunk in pool:
        letter = words_of[chunk].score / best if chunk in words_of else 0.0
        sense = (cosine.get(chunk, low) - low) / spread
        rank = words_of[chunk].by_words if chunk in words_of else None
        found.append(Scored(chunk, (letter + weight * sense) / (1 + weight), rank, meaning_of.get(chunk)))
    found.sort(key=lambda s: (-s.score, s.chunk))
    return found
