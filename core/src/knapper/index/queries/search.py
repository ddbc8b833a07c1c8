"""Text: by letter, ranked, and by meaning."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from typing import Any, NamedTuple

from knapper.index import words
from knapper.index.queries.base import Questions, below
from knapper.page import Page

MOST_TERMS = 2000
SNIPPET = 200


class TextHit(NamedTuple):
    """One place where a note holds a string; lines and columns count from 0."""

    path: str
    score: float
    line: int
    col: int
    snippet: str


class Search(Questions):
    """Finding notes by what they say."""

    def literal(
        self,
        page: Page,
        query: str,
        *,
        case_sensitive: bool = False,
        whole_word: bool = False,
        root: str = "",
    ) -> tuple[list[TextHit], Any]:
        """A page of the notes that hold a string, best first, each with its first place, and the key where more follow."""
        where, parameters = below("f.path", root)
        after = page.after
        hits: list[TextHit] = []
        for score, path, text in self._candidates(query, where, parameters, after):
            place = find(text, query, case_sensitive=case_sensitive, whole_word=whole_word)
            if place is None:
                continue
            if len(hits) == page.limit:
                return hits, [hits[-1].score, hits[-1].path]
            hits.append(TextHit(path, score, *_line_col(text, place), snippet(text, place, len(query))))
        return hits, None

    def count_chunks(self) -> int:
        return self.count(f"SELECT 1 FROM chunks c JOIN files f ON f.id = c.file WHERE {self.may('f.path')}")

    def _candidates(self, query: str, where: str, parameters: list[Any], after: Any) -> Any:
        """Texts that may hold the query, best first: by the word index where that narrows, else all."""
        narrowing = self.narrow(query)
        with self._index.db.read(self._readable) as conn:
            if narrowing is None:
                sql = f"SELECT 0.0 AS score, f.path AS path, t.text FROM texts t JOIN files f ON f.id = t.file WHERE {where} AND {self.may('f.path')}"
                given = parameters
            else:
                sql = (
                    "SELECT -l.rank AS score, f.path AS path, t.text FROM literal l JOIN files f ON f.id = l.rowid "
                    f"JOIN texts t ON t.file = f.id WHERE l.literal MATCH ? AND {where} AND {self.may('f.path')}"
                )
                given = [narrowing, *parameters]
            if after is not None:
                sql = f"SELECT * FROM ({sql}) WHERE score < ? OR (score = ? AND path > ?)"
                given = [*given, after[0], after[0], after[1]]
            yield from conn.execute(f"{sql} ORDER BY score DESC, path", given)

    def narrow(self, query: str) -> str | None:
        """An expression for the word index that every note with this string matches, or None where there is none."""
        pieces = words.of_query(words.fold(query))
        with self._index.db.read() as conn:
            self._index.vocabulary.refresh(conn)
        groups = []
        for piece in pieces:
            terms = self._index.vocabulary.matching(piece, MOST_TERMS)
            if terms is None:
                continue
            groups.append("(" + " OR ".join(f'"{t}"' for t in terms) + ")" if terms else '"\x01"')
        return " AND ".join(groups) if groups else None


def find(text: str, query: str, *, case_sensitive: bool, whole_word: bool) -> int | None:
    """Where a text first holds a string, as an offset into the text."""
    if case_sensitive:
        hay, needle = unicodedata.normalize("NFC", text), unicodedata.normalize("NFC", query)
    else:
        hay, needle = words.fold(text), words.fold(query)
    at = hay.find(needle)
    while at >= 0 and whole_word and not _is_whole(hay, at, at + len(needle)):
        at = hay.find(needle, at + 1)
    if at < 0:
        return None
    return at if len(hay) == len(text) else _original(text, hay, at, case_sensitive)


def _is_whole(hay: str, start: int, end: int) -> bool:
    def joins(a: str, b: str) -> bool:
        return (a.isalnum() or a == "_") and (b.isalnum() or b == "_")

    return not (start > 0 and joins(hay[start - 1], hay[start])) and not (
        end < len(hay) and joins(hay[end - 1], hay[end])
    )


def _original(text: str, hay: str, at: int, case_sensitive: bool) -> int:
    """The offset in the text as written, where folding or normalising changed lengths before it."""
    line = hay.count("\n", 0, at)
    start = 0
    for _ in range(line):
        start = text.index("\n", start) + 1
    column = at - (hay.rfind("\n", 0, at) + 1)
    row = text[start:].partition("\n")[0]
    for width in range(len(row) + 1):
        folded = unicodedata.normalize("NFC", row[:width]) if case_sensitive else words.fold(row[:width])
        if len(folded) >= column:
            return start + width
    return start


def _line_col(text: str, offset: int) -> tuple[int, int]:
    line = text.count("\n", 0, offset)
    return line, offset - (text.rfind("\n", 0, offset) + 1)


def snippet(text: str, at: int, length: int, most: int = SNIPPET) -> str:
    """The line around a place, cut to size with the place inside."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    if end - start > most:
        start = max(start, at - max(0, (most - length) // 2))
        end = min(end, start + most)
    return text[start:end].strip()


def line_starts(text: str) -> list[int]:
    """Offsets at which lines begin, for many look-ups in one text."""
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def line_of(starts: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(starts, offset) - 1
    return line, offset - starts[line]
