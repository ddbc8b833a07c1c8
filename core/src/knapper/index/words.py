"""Literal text: which notes can hold a string, of any script and any length.

A trigram index was measured against this: it takes six times the space, five times as long to build, and cannot answer
one- and two-character queries. Here every note's text is split into runs of letters and digits; the runs are indexed as
words, and the distinct words are kept apart. A string is looked up by the words it could be part of: its inner runs are
whole words, its first may be the end of one, its last the beginning, and a single run may be anywhere inside a word.
What comes out is a superset; the text itself decides.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

TABLES = """
CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE literal USING fts5(text, content='', tokenize='ascii');
"""
RUN = re.compile(r"[^\W_]+")
WINDOW, STEP = 128, 64  # longer runs are indexed as overlapping pieces, so that no word outgrows the index


def fold(text: str) -> str:
    """Text as it is compared when case does not matter."""
    return (
        text
        if text.isascii() or unicodedata.is_normalized("NFC", text)
        else unicodedata.normalize("NFC", text)
    ).casefold()


def split(folded: str) -> list[str]:
    """The words of a folded text, in order."""
    found = RUN.findall(folded)
    if max(map(len, found), default=0) <= WINDOW:
        return found
    return [piece for run in found for piece in pieces(run)]


def pieces(run: str) -> list[str]:
    if len(run) <= WINDOW:
        return [run]
    return [run[start : start + WINDOW] for start in range(0, len(run) - STEP, STEP)]


def add(conn: sqlite3.Connection, file: int, text: str, seen: set[str] | None = None) -> None:
    """Index a note's text; `seen` spares the words that a long run has already written."""
    found = split(fold(text))
    conn.execute("INSERT INTO literal (rowid, text) VALUES (?, ?)", (file, " ".join(found)))
    fresh = set(found) if seen is None else set(found) - seen
    if seen is not None:
        seen |= fresh
    conn.executemany("INSERT OR IGNORE INTO terms (term) VALUES (?)", [(term,) for term in fresh])


def remove(conn: sqlite3.Connection, file: int) -> None:
    """Take a note's text out; a contentless index needs to be told what it held."""
    row = conn.execute("SELECT text FROM texts WHERE file = ?", (file,)).fetchone()
    if row is not None:
        old = " ".join(split(fold(row[0])))
        conn.execute("INSERT INTO literal (literal, rowid, text) VALUES ('delete', ?, ?)", (file, old))


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

    def refresh(self, conn: sqlite3.Connection) -> None:
        """Take in the words that were added since, by this process or another; words are never removed."""
        rows = conn.execute("SELECT id, term FROM terms WHERE id > ? ORDER BY id", (self._last,)).fetchall()
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
