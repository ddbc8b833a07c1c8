"""Literal text: which notes can hold a string, of any script and any length.

A trigram index was measured against this: it takes six times the space, five times as long to build, and cannot answer
one- and two-character queries. Here every note's text is split into runs of letters and digits; the runs are indexed as
words, and the distinct words are kept apart. A string is looked up by the words it could be part of: its inner runs are
whole words, its first may be the end of one, its last the beginning, and a single run may be anywhere inside a word.
What comes out is a superset; the text itself decides.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

TABLES = """
CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE literal USING fts5(text, content='', tokenize='ascii');
"""
RUN = re.compile(r"[^\W_]+")
# Of a text that is ASCII, what is left when these are blanks is its runs: found in a quarter of the time.
BLANKS = bytes(n if chr(n).isalnum() else 32 for n in range(128)).ljust(256)
MERGED_PAGES = 500
MOST_PIECES = 1999  # that a full-text table can be in
MOST_ALIKE = 20_000  # words that are compared with one that is nowhere
WINDOW, STEP = 128, 64  # longer runs are indexed as overlapping pieces, so that no word outgrows the index


def fold(text: str) -> str:
    """Text as it is compared when case does not matter."""
    # Composed again at the end: folding takes some letters apart, such as the Greek iota with two accents.
    return composed(composed(text).casefold())


def composed(text: str) -> str:
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def split(folded: str) -> list[str]:
    """The words of a folded text, in order."""
    found = folded.encode().translate(BLANKS).decode().split() if folded.isascii() else RUN.findall(folded)
    if max(map(len, found), default=0) <= WINDOW:
        return found
    return [piece for run in found for piece in pieces(run)]


def pieces(run: str) -> list[str]:
    if len(run) <= WINDOW:
        return [run]
    return [run[start : start + WINDOW] for start in range(0, len(run) - STEP, STEP)]


def of_text(text: str) -> list[str]:
    """The words a note is indexed under: as they are compared, and as patterns see them where that differs."""
    folded = fold(text)
    found = split(folded)
    if text.isascii():
        return found
    if (plain := text.casefold()) != folded:
        found += split(plain)
    if "İ" in text or "ı" in text:
        form = one_i(text)
        found += split(folded := fold(form))
        if (plain := form.casefold()) != folded:
            found += split(plain)
    return found


def one_i(text: str) -> str:
    """Text with one kind of i: to a pattern that ignores case they are the same, casefold keeps them apart."""
    return text.replace("İ", "i").replace("ı", "i")


def add(conn: sqlite3.Connection, notes: Iterable[tuple[int, str]], terms: Iterable[str]) -> None:
    """Index the words of notes, by number and joined by spaces, and keep the distinct ones."""
    conn.executemany("INSERT OR IGNORE INTO terms (term) VALUES (?)", [(term,) for term in terms])
    conn.executemany("INSERT INTO literal (rowid, text) VALUES (?, ?)", list(notes))


def remove(conn: sqlite3.Connection, file: int) -> None:
    """Take a note's text out; a contentless index needs to be told what it held."""
    row = conn.execute("SELECT text FROM texts WHERE file = ?", (file,)).fetchone()
    if row is not None:
        old = " ".join(of_text(row[0]))
        conn.execute("INSERT INTO literal (literal, rowid, text) VALUES ('delete', ?, ?)", (file, old))


def merge(conn: sqlite3.Connection, table: str, *, begin: bool) -> bool:
    """Fold together some of what many commits have left in a full-text table; whether there is more to fold.

    In steps, so that nobody who wants to write waits for all of it.
    """
    before = conn.total_changes
    pages = -MERGED_PAGES if begin else MERGED_PAGES  # the sign has it fold everything into one
    conn.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))
    return conn.total_changes - before >= 2


def set_merging(conn: sqlite3.Connection, table: str, *, on: bool) -> None:
    """Whether each commit also folds together what earlier ones have left; a long run does better to fold once."""
    for setting, value in (("automerge", 4 if on else 0), ("crisismerge", 16 if on else MOST_PIECES)):
        conn.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('{setting}', ?)", (value,))


def is_merging(conn: sqlite3.Connection, table: str) -> bool:
    row = conn.execute(f"SELECT v FROM {table}_config WHERE k = 'automerge'").fetchone()
    return row is None or row[0] != 0


class Piece(NamedTuple):
    """A run of a query, and whether a longer word may begin before it or go on after it."""

    run: str
    open_left: bool
    open_right: bool


def of_query(folded: str) -> list[Piece]:
    """The runs of a literal query, each with how it may sit in a word."""
    found = []
    for match in RUN.finditer(folded):
        run = match[0]
        left, right = match.start() == 0, match.end() == len(folded)
        if len(run) > STEP:  # indexed in pieces: any piece of this much lies whole in one of them
            run, left, right = run[:STEP], True, True
        found.append(Piece(run, left, right))
    return found


class Vocabulary:
    """All words of a vault in one string, which a substring search goes through at memory speed."""

    def __init__(self) -> None:
        self._text = "\n"
        self._last = 0
        self._lock = threading.Lock()

    def refresh(self, conn: sqlite3.Connection) -> None:
        """Take in the words that were added since, by this process or another; words are never removed."""
        with self._lock:
            sql = "SELECT id, term FROM terms WHERE id > ? ORDER BY id"
            rows = conn.execute(sql, (self._last,)).fetchall()
            if rows:
                self._text += "\n".join(term for _, term in rows) + "\n"
                self._last = rows[-1][0]

    def matching(self, piece: Piece, most: int) -> list[str] | None:
        """The words that a piece of a query may be part of, or None where they are more than `most`."""
        needle = ("" if piece.open_left else "\n") + piece.run + ("" if piece.open_right else "\n")
        text, found, at = self._text, [], 0
        while (hit := text.find(needle, at)) >= 0:
            start = hit + 1 if needle[0] == "\n" else text.rfind("\n", 0, hit) + 1
            at = text.find("\n", hit + len(needle) - 1)
            found.append(text[start:at])
            if len(found) > most:
                return None
        return found

    def alike(self, word: str) -> list[str]:
        """The words that one slip away from a word: a letter more, less or another, or two that changed places."""
        half = len(word) // 2  # a slip is in one half only, or at the seam, where either outer half is whole
        found: dict[str, None] = {}
        for piece in (Piece(word[: half - 1], False, True), Piece(word[half + 1 :], True, False)):
            found |= dict.fromkeys(self.matching(piece, MOST_ALIKE) or ())
        return [other for other in found if one_slip(word, other)]

    def narrow(self, pieces: Sequence[Piece], most: int) -> str | None:
        """An expression for the word index that every text with these pieces matches; None where none narrows.

        Whole words that follow each other are looked up as a phrase, the last of them as the beginning of a word.
        """
        groups = []
        phrase: list[str] = []
        for piece in pieces:
            if (
                len(piece.run) <= STEP
                and not piece.open_left
                and not (piece.open_right and len(piece.run) < 2)
            ):
                phrase.append(piece.run)
                if piece.open_right:
                    groups.append(f'"{" ".join(phrase)}" *')
                    phrase = []
                continue
            groups += _phrase(phrase)
            phrase = []
            terms = self.matching(piece, most)
            if terms is not None:
                groups.append(_any_of(terms))
        groups += _phrase(phrase)
        return " AND ".join(groups) if groups else None


def one_slip(one: str, other: str) -> bool:
    """Whether a single mistake in typing makes one word of another."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _phrase(found: list[str]) -> list[str]:
    return [f'"{" ".join(found)}"'] if found else []


def _any_of(terms: Iterable[str]) -> str:
    # No word has a control character in it: it stands for "none at all".
    return "(" + " OR ".join(f'"{term}"' for term in terms or ["\x01"]) + ")"
