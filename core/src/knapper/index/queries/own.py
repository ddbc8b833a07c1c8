"""BM25 from what one caller may read: what the index itself counts would tell of notes the caller may not.

How rare a word is and how long passages are on average go into every score, and into the order. For a caller with folder
rules both are counted anew among the passages it may read; the formula is that of FTS5.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from knapper.index.chunks import TOKENIZER, UNSPACED
from knapper.index.queries.patterns import Patterns
from knapper.store.sqlite import sqlite_module

if TYPE_CHECKING:
    import sqlite3

WEIGHTS = (5.0, 3.0, 2.0, 1.0)  # title, names, headings, body
K1, B = 1.2, 0.75
LEAST = 1e-6  # what a word of most passages is worth
Hits = dict[int, float]  # how often a word is in a passage, its places weighed

_stemming = threading.Lock()


class Own(Patterns):
    """Passages by words, for a caller who may not read everything."""

    def _by_own_statistics(self, terms: Sequence[str]) -> list[tuple[int, float]]:
        """Every readable passage that holds one of some words, with its score, best first."""
        with self.at_once():
            lengths = self.kept("lengths of passages", self._lengths)
            found = [self._holding(term) for term in terms]
        mean = sum(lengths.values()) / max(1, len(lengths))
        scores: dict[int, float] = {}
        for hits in found:
            rarity = math.log((len(lengths) - len(hits) + 0.5) / (len(hits) + 0.5))
            rarity = rarity if rarity > 0 else LEAST
            for chunk, times in hits.items():
                norm = K1 * (1 - B + B * lengths[chunk] / mean)
                scores[chunk] = scores.get(chunk, 0.0) + rarity * times * (K1 + 1) / (times + norm)
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))

    def _lengths(self) -> dict[int, int]:
        """How many words each readable passage has."""
        sql = (
            f"SELECT d.id, d.sz FROM ranked_docsize d JOIN chunks c ON c.id = d.id WHERE {self.may('c.file')}"
        )
        return {chunk: sum(_numbers(sizes)) for chunk, sizes in self.rows(sql)}

    def _holding(self, term: str) -> Hits:
        """The readable passages that hold a word."""
        title, names, headings, body = WEIGHTS
        is_it, values = "v.term = ?", list(stems(term))
        if len(term) == 1 and UNSPACED.match(term):
            is_it, values = "v.term >= ? AND v.term < ?", [term, chr(ord(term) + 1)]
        elif len(values) != 1:
            is_it = f"v.term IN ({', '.join('?' * len(values))})"
        sql = (
            f"SELECT v.doc, sum(CASE v.col WHEN 'title' THEN {title} WHEN 'names' THEN {names} "
            f"WHEN 'headings' THEN {headings} ELSE {body} END) FROM ranked_words v JOIN chunks c ON c.id = v.doc "
            f"WHERE {is_it} AND {self.may('c.file')} GROUP BY v.doc"
        )
        return dict(self.rows(sql, values))


@lru_cache(4096)
def stems(term: str) -> tuple[str, ...]:
    """A word as the ranked index has it."""
    with _stemming:
        conn = _stemmer()
        conn.execute("INSERT INTO given VALUES (?)", (term,))
        found = conn.execute("SELECT term FROM stems ORDER BY offset").fetchall()
        conn.execute("DELETE FROM given")
    return tuple(stem for (stem,) in found)


@lru_cache(1)
def _stemmer() -> sqlite3.Connection:
    conn: sqlite3.Connection = sqlite_module().connect(
        ":memory:", check_same_thread=False, isolation_level=None
    )
    conn.execute(f"CREATE VIRTUAL TABLE given USING fts5(word, tokenize='{TOKENIZER}')")
    conn.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(given, instance)")
    return conn


def _numbers(sizes: bytes) -> Iterable[int]:
    """SQLite's numbers of variable length: seven bits a byte, the highest bit says that it goes on."""
    value = 0
    for byte in sizes:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value = 0
