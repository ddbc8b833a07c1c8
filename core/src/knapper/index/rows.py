"""From a file's bytes to the rows the index keeps of it; runs in worker processes too, so it knows no database."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from knapper.domain import Extractor
from knapper.index import chunks, words
from knapper.index.chunks import Prepared
from knapper.vault.markdown import Parsed, parse
from knapper.vault.resolve import link_key

log = logging.getLogger("knapper.index")
TOO_LARGE = "FILE_TOO_LARGE_FOR_INDEXING"
UNREADABLE = "FILE_READ_FAILED"
UNPARSED = "FILE_PARSE_FAILED"
BOM = b"\xef\xbb\xbf"
NOTE = (".md", ".markdown")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
DATETIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?")


CELLS = (str, int, float, bytes)


class Stat(NamedTuple):
    """What tells a changed file from an unchanged one without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


Value = tuple[str, int, str | None, str, str | None, float | None]  # key, item, name, type, text, number


class Note(NamedTuple):
    """A note as extractors see it."""

    path: str
    text: str
    parsed: Parsed
    stat: Stat


class Reading(NamedTuple):
    """How a note is read: who takes what from it, how large it may be, and how it is cut."""

    extractors: Sequence[Extractor]
    max_bytes: int
    chunk_chars: int
    max_chunk_chars: int


class NoteRows(msgspec.Struct, array_like=True):
    """All rows of one note, ready to be inserted."""

    path: str
    stat: tuple[int, int, int, int]
    hash: str
    title: str
    text: str
    properties: bytes | None = None
    problem: str | None = None
    aliases: list[str] = []
    tags: list[tuple[str, str, int]] = []
    values: list[Value] = []
    links: list[tuple[str, str, str, str | None, str | None, str, int, str | None, int, int]] = []
    headings: list[tuple[int, int, str, int]] = []
    blocks: list[tuple[str, int]] = []
    extracts: dict[str, list[list[Any]]] = {}
    words: str = ""
    terms: list[str] = []
    words_of_title: str = ""
    words_of_names: str = ""
    chunks: list[Prepared] = []
    withheld: list[str] = []


def is_note(path: str) -> bool:
    return path.lower().endswith(NOTE)


def note_rows(path: str, data: bytes, stat: Stat, reading: Reading) -> NoteRows:
    """Parse a note; what cannot be read as text, or is too large, is kept as a file with its problem named."""
    digest = sha256(data).hexdigest()
    problem = _no_text(data, reading.max_bytes)
    if problem:
        return without_text(path, digest, stat, problem)
    text = data.removeprefix(BOM).decode()
    try:
        parsed = parse(text)
    except Exception:  # one note that breaks the parser costs only itself
        log.exception("a note could not be parsed")
        return without_text(path, digest, stat, UNPARSED)
    rows = NoteRows(path, stat, digest, _title(parsed, _stem(path)), text)
    if parsed.frontmatter_error is not None:
        rows.problem = "FRONTMATTER_PARSE_FAILED"
    _metadata(rows, parsed)
    note = Note(path, text, parsed, stat)
    for extractor in reading.extractors:
        rows.extracts[extractor.name] = _extract(extractor, note)
    found = words.of_text(text)
    rows.words, rows.terms = " ".join(found), list(set(found))
    outline = [(h.level, h.text, h.start, h.end) for h in parsed.headings]
    chunks.prepare(rows, parsed.body, outline, reading.chunk_chars, reading.max_chunk_chars)
    return rows


def without_text(path: str, digest: str, stat: Stat, problem: str) -> NoteRows:
    """A note that is known by name and facts only."""
    return NoteRows(path, stat, digest, _stem(path), "", None, problem)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _extract(extractor: Extractor, note: Note) -> list[list[Any]]:
    try:
        return [_cells(row) for row in extractor.fn(note)]
    except Exception:  # a plugin that fails on a note costs that note's rows of that plugin
        log.exception("the extractor %s failed on a note", extractor.name)
        return []


def _no_text(data: bytes, max_bytes: int) -> str | None:
    if len(data) > max_bytes:
        return TOO_LARGE
    if b"\0" in data:
        return "FILE_BINARY"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "FILE_NOT_UTF8"
    return None


def _title(parsed: Parsed, stem: str) -> str:
    title = (parsed.frontmatter or {}).get("title")
    if isinstance(title, str) and title.strip():
        return title.strip()
    first = next((h for h in parsed.headings if h.level == 1 and h.text.strip()), None)
    return first.text.strip() if first else stem


def _metadata(rows: NoteRows, parsed: Parsed) -> None:
    if parsed.frontmatter is not None:
        rows.properties = msgspec.json.encode(parsed.frontmatter)
        rows.values = _all_values(parsed.frontmatter)
        rows.aliases = _strings(parsed.frontmatter.get("aliases"))
    rows.tags = _tags(parsed)
    rows.links = [
        (
            link_key(k.path),
            k.path,
            k.subpath or "",
            None if k.target == k.path + (k.subpath or "") else k.target,
            None if k.display == k.target else k.display,
            k.kind,
            int(k.embed),
            k.key,
            k.line,
            k.col,
        )
        for k in parsed.links
    ]
    rows.headings = [(n, h.level, h.text, h.line) for n, h in enumerate(parsed.headings)]
    rows.blocks = [(name, parsed.line(block.start)) for name, block in parsed.blocks.items()]


FRONTMATTER, INLINE = 1, 2
WHOLE = -1


def _tags(parsed: Parsed) -> list[tuple[str, str, int]]:
    """Each tag once, in the order it is first met, with where it stands: frontmatter, inline or both."""
    found: dict[str, tuple[str, int]] = {}
    for tag in parsed.frontmatter_tags:
        found.setdefault(fold_tag(tag), (tag.lstrip("#"), FRONTMATTER))
    for one in parsed.tags:
        key = fold_tag(one.tag)
        tag, source = found.get(key, (one.tag.lstrip("#"), 0))
        found[key] = (tag, source | INLINE)
    return [(key, tag, source) for key, (tag, source) in found.items()]


def fold_tag(tag: str) -> str:
    """Tags are equal whatever their case."""
    return tag.lstrip("#").casefold()


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str) and item.strip()]
    return []


def _all_values(properties: dict[str, Any]) -> list[Value]:
    """Every property; of names that differ in their case only, the first is the one that is counted."""
    found: list[Value] = []
    counted: set[str] = set()
    for name, raw in properties.items():
        for key, item, written, kind, text, number in _values(str(name), raw):
            again = item == WHOLE and key in counted
            found.append((key, item - again, written, kind, text, number))
        counted.add(str(name).casefold())
    return found


def _values(name: str, raw: Any) -> Iterable[Value]:
    """A property as rows: the whole value as item -1, and each element of a list on its own."""
    key = name.casefold()
    written = None if name == key else name
    yield (key, WHOLE, written, *typed(raw))
    if isinstance(raw, list):
        for position, item in enumerate(raw):
            yield (key, position, written, *typed(item))


def typed(value: Any) -> tuple[str, str | None, float | None]:
    """A property value's type and its comparable forms."""
    if value is None:
        return "null", None, None
    if isinstance(value, bool):
        return "checkbox", "true" if value else "false", float(value)
    if isinstance(value, (int, float)):
        return "number", None, float(value)
    if isinstance(value, str):
        kind = "date" if DATE.fullmatch(value) else "datetime" if DATETIME.fullmatch(value) else "text"
        return kind, value, None
    return "list" if isinstance(value, list) else "object", None, None


def _cells(row: msgspec.Struct) -> list[Any]:
    return [
        value if value is None or isinstance(value, CELLS) else msgspec.json.encode(value).decode()
        for value in msgspec.structs.astuple(row)
    ]
