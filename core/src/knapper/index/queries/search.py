"""Text: by letter, ranked, and by meaning."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

from knapper.index import words
from knapper.index.queries.base import Questions, below
from knapper.page import Page

MOST_TERMS = 300
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
        hits: list[TextHit] = []
        last: list[Any] = []
        for score, file, path, text in self._candidates(query, root, page.after, whole_word):
            place = find(text, query, case_sensitive=case_sensitive, whole_word=whole_word)
            if place is None:
                continue
            if len(hits) == page.limit:
                return hits, last
            hits.append(TextHit(path, score, *_line_col(text, place), snippet(text, place, len(query))))
            last = [score, file]
        return hits, None

    def count_chunks(self) -> int:
        return self.count(f"SELECT 1 FROM chunks c JOIN files f ON f.id = c.file WHERE {self.may('f.path')}")

    def _candidates(
        self, query: str, root: str, after: Any, whole_word: bool
    ) -> Iterator[tuple[float, int, str, str]]:
        """Texts that may hold the query, best first: by the word index where that narrows, else all of them."""
        narrowing = self.narrow(query, whole_word=whole_word)
        where, parameters = below("f.path", root)
        text = f"SELECT f.path, t.text FROM files f JOIN texts t ON t.file = f.id WHERE f.id = ? AND {where} AND {self.may('f.path')}"
        with self._index.db.read(self._readable) as conn:
            for score, file in self._ranked_files(conn, narrowing, query, after):
                row = conn.execute(text, [file, *parameters]).fetchone()
                if row is not None:
                    yield score, file, *row

    def _ranked_files(
        self, conn: Any, narrowing: str | None, query: str, after: Any
    ) -> Iterator[tuple[float, int]]:
        """Files in the order of their score and then of their number; only what is taken from it is computed."""
        score, file = after or (None, 0)
        if narrowing is not None:
            sql = "SELECT -rank, rowid FROM literal WHERE literal MATCH ? ORDER BY rank, rowid"
            for found in conn.execute(sql, (narrowing,)):
                if score is None or found[0] < score or (found[0] == score and found[1] > file):
                    yield found
            return
        # Too common to narrow, or no letter in it: in the order of the files, and SQLite looks for exact characters.
        exact = "" if any(c.isalpha() for c in query) else "AND instr(text, ?) > 0"
        sql = f"SELECT 0.0, file FROM texts WHERE file > ? {exact} ORDER BY file"
        yield from conn.execute(sql, (file, query) if exact else (file,))

    def narrow(self, query: str, *, whole_word: bool = False) -> str | None:
        """An expression for the word index that every note with this string matches, or None where there is none."""
        with self._index.db.read() as conn:
            self._index.vocabulary.refresh(conn)
        groups = []
        for piece in words.of_query(words.fold(query)):
            if whole_word and len(piece.run) <= words.STEP:
                piece = piece._replace(open_left=False, open_right=False)
            terms = self._index.vocabulary.matching(piece, MOST_TERMS)
            if terms is not None:
                groups.append("(" + " OR ".join(f'"{term}"' for term in terms or ["\x01"]) + ")")
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
