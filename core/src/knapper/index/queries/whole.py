"""What query engines need of many files at once, held between queries for as long as nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from knapper.index.queries.base import Questions, below
from knapper.index.queries.files import COLUMNS, FileRow
from knapper.index.queries.links import SHOWN, WRITTEN, LinkRow
from knapper.index.rows import fold_tag, typed
from knapper.vault.resolve import Resolver, link_key

T = TypeVar("T")
FEW_FILES = 1_000  # read each time; more are held, unless there are so many that memory would tell
MOST_FILES = 50_000


class Narrowed(NamedTuple):
    """Facts that all hold for the files an engine wants; each is sound, none has to be complete."""

    properties: Sequence[tuple[str, Any]] = ()
    tags: Sequence[Sequence[str]] = ()  # one of each, or one below it
    folders: Sequence[str] = ()
    extensions: Sequence[str] = ()
    links_to: Sequence[str] = ()


NOTHING_KNOWN = Narrowed()


class Whole(Questions):
    """Files by the facts a query implies, and their tags and links in bulk."""

    @property
    def generation(self) -> int:
        """Grows with every change to the index by any process; equal numbers mean equal answers."""
        return self._index.generation

    @property
    def restricted(self) -> bool:
        """Whether the folder rules may keep something from this caller."""
        return self._readable is not None

    def select(self, narrowed: Narrowed = NOTHING_KNOWN) -> list[FileRow]:
        """The files the caller may read that have all these facts, in the order of paths."""
        conditions, values = _conditions(narrowed)
        where = f"FROM files f WHERE {' AND '.join(conditions)} AND {self.may('f.path')} ORDER BY f.path"
        ids = self.rows(f"SELECT f.id {where}", values)
        known = self._held("files", self._load_files) if len(ids) > FEW_FILES else {}
        try:
            return [known[id] for (id,) in ids]
        except KeyError:
            return [FileRow(*row) for row in self.rows(f"SELECT {COLUMNS} {where}", values)]

    def file_tags(self) -> dict[int, list[str]]:
        """Every file's tags by the file's number, frontmatter first; for files the caller was given."""
        return self._held("tags", self._load_tags)

    def file_links(self) -> dict[int, list[LinkRow]]:
        """Every file's links by the file's number; a target that cannot be read must be dropped by the asker."""
        return self._held("links", self._load_links)

    def file_backlinks(self) -> dict[str, list[str]]:
        """For every file the files that link to it; those that cannot be read must be dropped by the asker."""
        return self._held("backlinks", self._load_backlinks)

    def meaning(self, linkpath: str, source: str) -> str | None:
        """What a link means among the files this caller may read, from names in memory: for following many links."""
        found = self._names.resolve(linkpath, source)
        if found is None or self.readable(found):
            return found
        return next((path for path in self._names.candidates(linkpath, source) if self.readable(path)), None)

    def mentions(self, linkpath: str) -> list[str]:
        """Notes with a link written like this that leads nowhere, as far as this caller can see."""
        sql = (
            "SELECT DISTINCT s.path FROM links l JOIN files s ON s.id = l.file LEFT JOIN files t ON t.id = l.target "
            f"WHERE l.key = ? AND l.path = ? AND (t.id IS NULL OR NOT {self.may('t.path')}) AND {self.may('s.path')} "
            "ORDER BY s.path"
        )
        return [row[0] for row in self.rows(sql, (link_key(linkpath), linkpath))]

    def _held(self, name: str, build: Callable[[], T]) -> T:
        now = self.generation
        held = self._index.held.get(name)
        if held is None or held[0] != now:
            held = (now, build())
            self._index.held[name] = held
        value: T = held[1]
        return value

    @cached_property
    def _names(self) -> Resolver:
        return self._held("names", self._load_names)

    def _load_names(self) -> Resolver:
        return Resolver(row[0] for row in self._raw("SELECT path FROM files"))

    def _load_files(self) -> dict[int, FileRow]:
        if self._raw("SELECT count(*) FROM files")[0][0] > MOST_FILES:
            return {}
        return {row[0]: FileRow(*row) for row in self._raw(f"SELECT {COLUMNS} FROM files f")}

    def _load_tags(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for file, tag in self._raw("SELECT file, tag FROM tags ORDER BY file, ord"):
            found.setdefault(file, []).append(tag)
        return found

    def _load_links(self) -> dict[int, list[LinkRow]]:
        sql = (
            f"SELECT l.file, {WRITTEN}, l.path, l.subpath, {SHOWN}, l.kind, l.embed, l.property, l.line, l.col, t.path "
            "FROM links l LEFT JOIN files t ON t.id = l.target ORDER BY l.id"
        )
        found: dict[int, list[LinkRow]] = {}
        for file, *cells in self._raw(sql):
            found.setdefault(file, []).append(LinkRow(*cells))
        return found

    def _load_backlinks(self) -> dict[str, list[str]]:
        sql = (
            "SELECT DISTINCT t.path, s.path FROM links l JOIN files t ON t.id = l.target "
            "JOIN files s ON s.id = l.file ORDER BY t.path, s.path"
        )
        found: dict[str, list[str]] = {}
        for target, source in self._raw(sql):
            found.setdefault(target, []).append(source)
        return found

    def _raw(self, sql: str) -> list[Any]:
        with self._index.db.read() as conn:
            return conn.execute(sql).fetchall()


def _conditions(narrowed: Narrowed) -> tuple[list[str], list[Any]]:
    conditions, values = ["1"], []
    for key, value in narrowed.properties:
        condition, given = _equal(value)
        conditions.append(f"f.id IN (SELECT p.file FROM properties p WHERE p.key = ? AND {condition})")
        values += [key.casefold(), *given]
    for some in narrowed.tags:
        ranges = " OR ".join("t.key = ? OR (t.key >= ? AND t.key < ?)" for _ in some)
        conditions.append(f"f.id IN (SELECT t.file FROM tags t WHERE {ranges})")
        values += [value for tag in some for key in [fold_tag(tag)] for value in (key, f"{key}/", f"{key}0")]
    for folder in narrowed.folders:
        condition, given = below("f.path", folder)
        conditions.append(condition)
        values += given
    for extension in narrowed.extensions:
        conditions.append("f.ext = ?")
        values.append(extension.lower().lstrip("."))
    for target in narrowed.links_to:
        conditions.append(
            "f.id IN (SELECT l.file FROM links l JOIN files t ON t.id = l.target WHERE t.path = ?)"
        )
        values.append(target)
    return conditions, values


def _equal(value: Any) -> tuple[str, list[Any]]:
    kind, text, number = typed(value)
    if kind == "null":
        return "p.type = 'null'", []
    if number is not None and text is None:
        return "p.number = ?", [number]
    return ("p.text = ?", [text]) if text is not None else ("1", [])
