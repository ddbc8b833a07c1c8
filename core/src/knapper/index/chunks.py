"""Chunks: a note cut at its headings, for ranked search and for vectors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from knapper.index.credentials import credentials

if TYPE_CHECKING:
    import sqlite3

    from knapper.index.rows import NoteRows

TOKENIZER = "porter unicode61 remove_diacritics 2"
TABLES = f"""
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    headings TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    line INTEGER NOT NULL,
    hash BLOB NOT NULL,
    page INTEGER
);
CREATE UNIQUE INDEX chunks_by_file ON chunks (file, ord);
CREATE VIRTUAL TABLE ranked USING fts5(title, names, headings, body, content='', tokenize='{TOKENIZER}');
CREATE VIRTUAL TABLE ranked_words USING fts5vocab(ranked, instance);
"""
PAGE = "\f"  # stands between the pages of a file that is not a note
UNRANKED = b""  # in place of a hash: read by its id, but no answer to a query
# The marks of embeds are left over, and are no letters.
LINK = re.compile(r"\[\[[^\]\n]*\]\]|\[[^\]\n]*\]\([^)\n]*\)|https?://\S+")
WORDS = re.compile(r"\w+")
BLANK_LINE = re.compile(r"\n(?=[^\S\n]*\n)")  # whichever way lines end, and whatever blanks are left on it
END_OF_LINE = re.compile("\n")
THIN = 20  # letters beside the links
THIN_MOST = 4000
# Scripts that do not put spaces between words, and Hangul, whose words carry their particles.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3006\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]+"
)


MARKED = re.compile("[\u0370-\u03ff\u1f00-\u1fff]+|[\u0401\u0451]")


class Chunk(NamedTuple):
    """A stretch of a note's text under its headings, or of a page of another file; its line counts in the page then."""

    headings: tuple[str, ...]
    start: int
    end: int
    line: int
    page: int | None = None


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


def cut_pages(text: str, target: int, most: int) -> Iterator[Chunk]:
    """The pages of a text one by one, counted from 1; long ones split at blank lines, lines counted in each page."""
    start = 0
    for page, written in enumerate(text.split(PAGE), 1):
        lines = text.count("\n", 0, start)
        for chunk in _section(text, (), start, start + len(written), target, most):
            yield chunk._replace(line=chunk.line - lines, page=page)
        start += len(written) + 1


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
    for mark, limit in ((BLANK_LINE, target), (BLANK_LINE, most), (END_OF_LINE, most)):
        places = [found.start() for found in mark.finditer(text, start + 1, start + limit)]
        if places:
            return places[-1]
    return start + most


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def segmented(text: str) -> str:
    """Text as the ranked index takes it: where words are not set apart, every two letters that follow each other."""
    if text.isascii():
        return text
    return UNSPACED.sub(
        lambda run: f" {' '.join(pairs(run[0]))} ", unmarked(unicodedata.normalize("NFC", text))
    )


def unmarked(text: str) -> str:
    """Text without the accents that people leave out and the index does not know of: those of Greek, and of ё."""
    return MARKED.sub(_bare, text)


def _bare(found: re.Match[str]) -> str:
    letters = (c for c in unicodedata.normalize("NFD", found[0]) if not unicodedata.combining(c))
    return "".join(letters).casefold()


def pairs(run: str) -> Iterator[str]:
    """Overlapping pairs, and the last letter alone, so that every letter begins something."""
    yield from (run[n : n + 2] for n in range(len(run) - 1))
    yield run[-1]


def _names(path: str, aliases: Iterable[str], tags: Iterable[str]) -> str:
    return "\n".join([path.rpartition("/")[2].rpartition(".")[0], *aliases, *tags])


def is_thin(text: str) -> bool:
    """Whether a stretch says nothing but where to look: ranked, it would answer with the note's title alone."""
    if len(text) >= THIN_MOST or not ("[" in text or "://" in text):
        return False
    rest, links = LINK.subn("", text)
    letters = accumulate(len(word[0]) for word in WORDS.finditer(rest))
    return links > 0 and not any(count >= THIN for count in letters)


class Prepared(msgspec.Struct, array_like=True):
    """A chunk as it is inserted; what the ranked index takes is here where it is not simply the text."""

    headings: str
    start: int
    end: int
    line: int
    hash: bytes
    words_of_headings: str
    words_of_body: str | None = None
    page: int | None = None


def prepare(
    rows: NoteRows, body: int, outline: list[tuple[int, str, int, int]], target: int, most: int
) -> None:
    """Cut a note into chunks and lay them out for the ranked index; done where the note is parsed."""
    lay_out(rows, cut(rows.text, body, outline, target, most))


def lay_out(rows: NoteRows, found: Iterable[Chunk]) -> None:
    """Chunks of a text with the words under which the ranked index has them."""
    rows.words_of_names = segmented(_names(rows.path, rows.aliases, (tag for _, tag, _ in rows.tags)))
    rows.words_of_title = segmented(rows.title)
    for chunk in found:
        text, path = rows.text[chunk.start : chunk.end], "\n".join(chunk.headings)
        digest = sha256(f"{rows.title}\n{path}\n\n{text}".encode()).digest()[:16]
        headings = msgspec.json.encode(chunk.headings).decode()
        words = None if text.isascii() else segmented(text)
        rows.chunks.append(Prepared(headings, *chunk[1:4], digest, segmented(path), words, chunk.page))
    thin = [one for one in rows.chunks if is_thin(rows.text[one.start : one.end])]
    if len(thin) < len(rows.chunks):
        for one in thin:
            one.hash = UNRANKED
    for held in credentials(rows.text):
        for one in rows.chunks:
            if one.start < held.end and held.start < one.end:
                one.hash = UNRANKED
                rows.withheld.append(held.kind)


def add(conn: sqlite3.Connection, notes: Iterable[tuple[int, NoteRows]]) -> None:
    """Index the chunks of notes under ids of their own, which are never used again."""
    row = conn.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
    id = row[0] if row else 0
    found, ranked = [], []
    for file, rows in notes:
        for number, chunk in enumerate(rows.chunks):
            id += 1
            place = (chunk.start, chunk.end, chunk.line)
            found.append((id, file, number, chunk.headings, *place, chunk.hash, chunk.page))
            if chunk.hash == UNRANKED:
                continue
            body = chunk.words_of_body
            ranked.append(
                (
                    id,
                    rows.words_of_title,
                    rows.words_of_names,
                    chunk.words_of_headings,
                    rows.text[chunk.start : chunk.end] if body is None else body,
                )
            )
    conn.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", found)
    conn.executemany(
        "INSERT INTO ranked (rowid, title, names, headings, body) VALUES (?, ?, ?, ?, ?)", ranked
    )


def remove(conn: sqlite3.Connection, file: int) -> None:
    """Take a note's chunks out of the ranked index with the words they went in with."""
    rows = conn.execute(
        'SELECT c.id, f.title, f.path, c.headings, substr(t.text, c.start + 1, c."end" - c.start) '
        "FROM chunks c JOIN files f ON f.id = c.file JOIN texts t ON t.file = c.file WHERE c.file = ? AND c.hash != ?",
        (file, UNRANKED),
    ).fetchall()
    conn.execute("DELETE FROM chunks WHERE file = ?", (file,))
    if not rows:
        return
    aliases = [a for (a,) in conn.execute("SELECT alias FROM aliases WHERE file = ? ORDER BY rowid", (file,))]
    tags = [t for (t,) in conn.execute("SELECT tag FROM tags WHERE file = ? ORDER BY ord", (file,))]
    names = segmented(_names(rows[0][2], aliases, tags))
    gone = [
        (chunk, segmented(title), names, segmented("\n".join(msgspec.json.decode(headings))), segmented(body))
        for chunk, title, _, headings, body in rows
    ]
    conn.executemany(
        "INSERT INTO ranked (ranked, rowid, title, names, headings, body) VALUES ('delete', ?, ?, ?, ?, ?)",
        gone,
    )
