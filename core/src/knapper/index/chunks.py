"""Chunks: a note cut at its headings, for ranked search and for vectors."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    import sqlite3

    from knapper.index.rows import NoteRows

TABLES = """
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    headings TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    line INTEGER NOT NULL,
    hash TEXT NOT NULL
);
CREATE UNIQUE INDEX chunks_by_file ON chunks (file, ord);
CREATE INDEX chunks_by_hash ON chunks (hash);
CREATE VIRTUAL TABLE ranked USING fts5(title, headings, body, content='', tokenize='porter unicode61 remove_diacritics 2');
"""


class Chunk(NamedTuple):
    """A stretch of a note's text under its headings."""

    headings: tuple[str, ...]
    start: int
    end: int
    line: int


def cut(
    text: str, body: int, headings: list[tuple[int, str, int, int]], target: int, most: int
) -> Iterator[Chunk]:
    """Sections between headings (level, text, start, end of the heading line); long ones split at blank lines."""
    stack: list[tuple[int, str]] = []
    start = body
    for level, name, begins, ends in [*headings, (0, "", len(text), len(text))]:
        yield from _section(text, tuple(h for _, h in stack), start, begins, target, most)
        while stack and stack[-1][0] >= level:
            stack.pop()
        stack.append((level, name))
        start = ends


def _section(
    text: str, path: tuple[str, ...], start: int, end: int, target: int, most: int
) -> Iterator[Chunk]:
    start, end = _trim(text, start, end)
    while end - start > most:
        at = _boundary(text, start, target, most)
        yield Chunk(path, *_trim(text, start, at), text.count("\n", 0, start))
        start, _ = _trim(text, at, end)
    if end > start:
        yield Chunk(path, start, end, text.count("\n", 0, start))


def _boundary(text: str, start: int, target: int, most: int) -> int:
    """Where to cut: the last blank line before the target, else before the limit, else a line, else the limit."""
    for mark, limit in (("\n\n", target), ("\n\n", most), ("\n", most)):
        at = text.rfind(mark, start + 1, start + limit)
        if at > start:
            return at
    return start + most


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def add(conn: sqlite3.Connection, file: int, rows: NoteRows, target: int, most: int) -> None:
    """Index a note's chunks under ids of their own, which are never used again."""
    row = conn.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
    first = row[0] + 1 if row else 1
    found, ranked = [], []
    for number, chunk in enumerate(cut(rows.text, rows.body, rows.outline, target, most)):
        body, path = rows.text[chunk.start : chunk.end], "\n".join(chunk.headings)
        digest = sha256(f"{rows.title}\n{path}\n\n{body}".encode()).hexdigest()[:32]
        headings = msgspec.json.encode(chunk.headings).decode()
        found.append((first + number, file, number, headings, chunk.start, chunk.end, chunk.line, digest))
        ranked.append((first + number, rows.title, path, body))
    conn.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", found)
    conn.executemany("INSERT INTO ranked (rowid, title, headings, body) VALUES (?, ?, ?, ?)", ranked)


def remove(conn: sqlite3.Connection, file: int) -> None:
    """Take a note's chunks out of the ranked index with the words they went in with."""
    rows = conn.execute(
        'SELECT c.id, f.title, c.headings, substr(t.text, c.start + 1, c."end" - c.start) '
        "FROM chunks c JOIN files f ON f.id = c.file JOIN texts t ON t.file = c.file WHERE c.file = ?",
        (file,),
    ).fetchall()
    for chunk, title, headings, body in rows:
        path = "\n".join(msgspec.json.decode(headings))
        conn.execute(
            "INSERT INTO ranked (ranked, rowid, title, headings, body) VALUES ('delete', ?, ?, ?, ?)",
            (chunk, title, path, body),
        )
    conn.execute("DELETE FROM chunks WHERE file = ?", (file,))
