"""Text by letter: every note that holds a string, of any script and any length."""

from __future__ import annotations

import math
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from knapper.index import words
from knapper.index.chunks import PAGE
from knapper.index.queries.base import Questions, below
from knapper.page import Page

MOST_TERMS = 300
FEWEST_TEXTS, MOST_TEXTS = 8, 64
SNIPPET = 200
Form = Callable[[str], str]
HAS_TEXT = "(f.note = 1 OR f.hash IS NOT NULL)"  # notes, and what else has been read
K1, B = 1.2, 0.75


class TextHit(NamedTuple):
    """One place where a note holds a string; lines and columns count from 0, in the page where there are pages."""

    path: str
    score: float
    line: int
    col: int
    snippet: str
    page: int | None = None


class Found(NamedTuple):
    """A note that holds the string, and where it first does."""

    score: float
    file: int
    path: str
    text: str
    at: int
    note: int = 1


class Literal(Questions):
    """Finding notes by the letters in them."""

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
        wanted = Wanted(query, case_sensitive=case_sensitive, whole_word=whole_word)
        find = self._found if self._readable is None else self._found_by_own_statistics
        *after, begun = page.after or (self._index.generation,)
        hits: list[Found] = []
        for found in find(wanted, root, after, begun):
            if len(hits) == page.limit:
                return [_hit(h, query) for h in hits], [hits[-1].score, hits[-1].file, begun]
            hits.append(found)
        return [_hit(h, query) for h in hits], None

    def count_chunks(self) -> int:
        return self.count(f"SELECT 1 FROM chunks c JOIN files f ON f.id = c.file WHERE {self.may('f.path')}")

    def _found(self, wanted: Wanted, root: str, after: Any, begun: int) -> Iterator[Found]:
        """Notes in the order of their score and then of their number; only what is taken from it is computed."""
        with self._index.db.read(self._readable) as conn:
            yield from self._those_with(conn, wanted, root, self._candidates(conn, wanted, after, begun))

    def _found_by_own_statistics(self, wanted: Wanted, root: str, after: Any, begun: int) -> Iterator[Found]:
        """The same for a caller who may not read everything: its scores know of nothing else than what it may read."""
        key = ("own", wanted.key, root)
        with self.at_once():
            _, ranking = self.kept_for_pages(key, begun, lambda: self._own_ranking(wanted, root, begun))
        with self._index.db.read(self._readable) as conn:
            yield from self._those_with(conn, wanted, root, ranking.after(after))

    def _those_with(
        self, conn: Any, wanted: Wanted, root: str, candidates: Iterable[tuple[float, int]]
    ) -> Iterator[Found]:
        for score, file, path, text, note in self._texts(conn, root, candidates):
            if (at := wanted.find(text)) is not None:
                yield Found(score, file, path, text, at, note)

    def _texts(
        self, conn: Any, root: str, candidates: Iterable[tuple[float, int]]
    ) -> Iterator[tuple[float, int, str, str, int]]:
        """The texts of files below a folder, in the order given: some at a time, which costs half of one by one."""
        where, parameters = below("f.path", root)
        rest, size = iter(candidates), FEWEST_TEXTS
        while some := {file: score for score, file in islice(rest, size)}:
            sql = (
                "SELECT f.id, f.path, t.text, f.note FROM files f JOIN texts t ON t.file = f.id "
                f"WHERE f.id IN ({', '.join('?' * len(some))}) AND {where} AND {self.may('f.path')}"
            )
            found = {row[0]: row for row in conn.execute(sql, [*some, *parameters])}
            yield from ((score, *found[file]) for file, score in some.items() if file in found)
            size = min(size * 2, MOST_TEXTS)

    def _own_ranking(self, wanted: Wanted, root: str, begun: int) -> Ranking:
        held = []
        with self._index.db.read(self._readable) as conn:
            for _, file, _, text, _ in self._texts(conn, root, self._candidates(conn, wanted, None, begun)):
                if times := wanted.count(text):
                    held.append((file, times, len(text)))
        notes = max(1, self.count(f"SELECT 1 FROM files f WHERE {HAS_TEXT} AND {self.may('f.path')}"))
        rarity = math.log(1 + (notes - len(held) + 0.5) / (len(held) + 0.5))
        mean = sum(length for *_, length in held) / len(held) if held else 1.0
        scored = []
        for file, times, length in held:
            norm = K1 * (1 - B + B * length / mean)
            scored.append((rarity * times * (K1 + 1) / (times + norm), file))
        return Ranking(sorted(scored, key=_best_first))

    def _candidates(self, conn: Any, wanted: Wanted, after: Any, begun: int) -> Iterator[tuple[float, int]]:
        """Files that may hold the string: by the word index where that narrows, else all, whole words first."""
        query, whole = wanted.query, wanted.whole_word
        narrowing = self.kept(("narrow", query, whole), lambda: self.narrow(query, whole_word=whole))
        ranked = narrowing or wanted.as_words()
        if ranked is not None and (not after or after[0] != 0):
            yield from self._ranking(conn, ranked, begun).after(after)
        if narrowing is None:
            yield from self._others(conn, wanted, ranked, after[1] if after and after[0] == 0 else 0)

    def _ranking(self, conn: Any, expression: str, begun: int) -> Ranking:
        """Every file that matches an expression: what the word index has to go through for any page of it."""

        def build() -> Ranking:
            sql = "SELECT -rank, rowid FROM literal WHERE literal MATCH ? ORDER BY rank, rowid"
            return Ranking(conn.execute(sql, (expression,)))

        with self.at_once():
            return self.kept_for_pages(expression, begun, build)[1]

    def _others(
        self, conn: Any, wanted: Wanted, ranked: str | None, after: int
    ) -> Iterator[tuple[float, int]]:
        """All further files in their order; SQLite looks for characters that have one form only."""
        conditions, values = ["file > ?"], [after]
        if ranked is not None:
            conditions.append("file NOT IN (SELECT rowid FROM literal WHERE literal MATCH ?)")
            values.append(ranked)  # type: ignore[arg-type]
        if wanted.has_one_form():
            conditions.append("instr(text, ?) > 0")
            values.append(wanted.query)  # type: ignore[arg-type]
        sql = f"SELECT 0.0, file FROM texts WHERE {' AND '.join(conditions)} ORDER BY file"
        yield from conn.execute(sql, values)

    def narrow(self, query: str, *, whole_word: bool = False) -> str | None:
        """An expression for the word index that every note with this string matches, or None where there is none."""
        vocabulary = self._index.vocabulary
        with self._index.db.read() as conn:
            vocabulary.refresh(conn)
        found = []
        for form in {words.fold(query): None, query.casefold(): None}:
            pieces = words.of_query(form)
            if whole_word:
                pieces = [
                    p._replace(open_left=False, open_right=False) if len(p.run) <= words.STEP else p
                    for p in pieces
                ]
            found.append(vocabulary.narrow(pieces, MOST_TERMS))
        if None in found:
            return None
        return found[0] if len(found) == 1 else " OR ".join(f"({one})" for one in found)


class Ranking:
    """Files with their scores, best first and then by their number."""

    def __init__(self, scored: Iterable[tuple[float, int]]) -> None:
        self._scores, self._files = array("d"), array("q")
        for score, file in scored:
            self._scores.append(score)
            self._files.append(file)

    def after(self, key: Any) -> Iterator[tuple[float, int]]:
        """Those behind a score and a number, or all of them."""
        start = 0
        if key:
            wanted = _best_first(key)
            places = range(len(self._files))
            start = bisect_right(places, wanted, key=lambda n: (-self._scores[n], self._files[n]))
        for place in range(start, len(self._files)):
            yield self._scores[place], self._files[place]


def _best_first(scored: Sequence[Any]) -> tuple[float, int]:
    return -scored[0], scored[1]


class Wanted:
    """A string to be found, and what counts as finding it.

    Composed and decomposed letters are the same, and so are the ends of lines. A text also holds what stands in it as it
    is written: the e of a decomposed é is a letter of its own to whoever compares characters.
    """

    def __init__(self, query: str, *, case_sensitive: bool, whole_word: bool) -> None:
        self.query = query
        self.whole_word = whole_word
        self.key = (query, case_sensitive, whole_word)
        self._fold: Form = _as_it_is if case_sensitive else str.casefold
        self._plain_ends = "\n" in query
        self._compared, self._written = self._compare(query), self._fold(query)

    def find(self, text: str) -> int | None:
        """Where a text first holds it, as an offset into the text as written."""
        if not self.whole_word and (plain := text.find(self.query)) >= 0:
            text = text[: plain + len(self.query)]  # what else stands for it can only be before
            if text.isascii() and not self._plain_ends:  # every letter keeps its place
                return self._fold(text).find(self._compared)
        found = []
        for hay, needle, form in self._forms(text):
            if (at := next(self._places(hay, needle), None)) is not None:
                found.append(_place_of(text, hay, at, form))
        return min(found, default=None)

    def count(self, text: str) -> int:
        return max(sum(1 for _ in self._places(hay, needle)) for hay, needle, _ in self._forms(text))

    def as_words(self) -> str | None:
        """The string as whole words for the word index, which rank before words that only contain it."""
        found = words.RUN.findall(words.fold(self.query))
        return f'"{" ".join(found)}"' if found and max(map(len, found)) <= words.STEP else None

    def has_one_form(self) -> bool:
        """Whether the string is written in one way only: no case, no end of a line, and nothing that Unicode composes."""
        text = self.query
        return (
            "\n" not in text
            and text.lower() == text.upper() == text
            and unicodedata.is_normalized("NFD", text)
            and unicodedata.is_normalized("NFC", text)
            and not any(map(unicodedata.combining, text))  # marks may stand in another order
        )

    def _compare(self, text: str, written: str | None = None) -> str:
        """A text as it is compared; whoever has it as it is written may give it."""
        ends = text.replace("\r\n", "\n") if self._plain_ends else text
        composed = words.composed(ends)
        return words.composed(self._fold(composed) if written is None or composed is not text else written)

    def _forms(self, text: str) -> Iterator[tuple[str, str, Form]]:
        """The forms in which a text is compared, each with the string in it: one, unless it changes how the text reads."""
        written = self._fold(text)
        if text.isascii() and not (self._plain_ends and "\r" in text):
            yield written, self._compared, self._fold
            return
        hay = self._compare(text, written)
        yield hay, self._compared, self._compare
        if written != hay:
            yield written, self._written, self._fold

    def _places(self, hay: str, needle: str) -> Iterator[int]:
        at = hay.find(needle)
        while at >= 0:
            if not self.whole_word or _is_whole(hay, at, at + len(needle)):
                yield at
            at = hay.find(needle, at + 1)


def _as_it_is(text: str) -> str:
    return text


def _place_of(text: str, hay: str, at: int, form: Form) -> int:
    """The offset in the text as written, where a form may have changed lengths before it."""
    if form is _as_it_is or ("\r" not in text and text[: at + 1].isascii()):
        return at
    start = 0
    for _ in range(hay.count("\n", 0, at)):
        start = text.index("\n", start) + 1
    column = at - (hay.rfind("\n", 0, at) + 1)
    row = text[start:].partition("\n")[0]
    if len(form(row[:column])) == column < len(form(row[: column + 1])):  # as nearly always
        return start + column
    widths = range(1, len(row) + 1)
    return start + bisect_right(widths, column, key=lambda width: len(form(row[:width])))


def _hit(found: Found, query: str) -> TextHit:
    page, line, col = place(found.text, found.at, found.note)
    shown = snippet(found.text, found.at, len(query))
    return TextHit(found.path, found.score, line, col, shown, page)


def _is_whole(hay: str, start: int, end: int) -> bool:
    return not (start > 0 and _is_letter(hay[start - 1]) and _is_letter(hay[start])) and not (
        end < len(hay) and _is_letter(hay[end - 1]) and _is_letter(hay[end])
    )


def _is_letter(char: str) -> bool:
    """Whether a character is part of a word; an accent is, and so are the vowel signs of Indian scripts."""
    return char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"


def place(text: str, offset: int, note: int = 1) -> tuple[int | None, int, int]:
    """The line and column of an offset, and in a file that is not a note its page, from which they count then."""
    page = None if note else text.count(PAGE, 0, offset) + 1
    start = 0 if note else text.rfind(PAGE, 0, offset) + 1
    line = text.count("\n", start, offset)
    return page, line, offset - max(start, text.rfind("\n", start, offset) + 1)


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
