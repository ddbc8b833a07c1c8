"""Links: who points at whom, what points nowhere, what nobody points at."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from knapper.index.queries.base import Questions, below
from knapper.page import Page
from knapper.vault.resolve import link_key

WRITTEN = "coalesce(l.written, l.path || l.subpath)"
SHOWN = f"coalesce(l.display, {WRITTEN})"


class LinkRow(NamedTuple):
    """One link as it stands in its note; lines and columns count from 0."""

    written: str
    path: str
    subpath: str
    display: str
    kind: str
    embed: int
    property: str | None
    line: int
    col: int
    target: str | None


class Links(Questions):
    """The graph of the vault, as far as the caller may see it."""

    def outgoing(self, path: str) -> list[LinkRow]:
        """A note's links in the order they stand; a target the caller may not read is not resolved for it."""
        sql = (
            f"SELECT {WRITTEN}, l.path, l.subpath, {SHOWN}, l.kind, l.embed, l.property, l.line, l.col, "
            f"CASE WHEN t.id IS NULL THEN NULL WHEN {self.may('t.path')} THEN t.path END "
            "FROM links l JOIN files f ON f.id = l.file LEFT JOIN files t ON t.id = l.target "
            f"WHERE f.path = ? AND {self.may('f.path')} ORDER BY l.id"
        )
        return [LinkRow(*row) for row in self.rows(sql, (path,))]

    def backlinks(
        self, page: Page, path: str, *, embeds: bool = True
    ) -> tuple[list[tuple[str, int]], int | None, Any]:
        """A page of (note, number of links in it) that point at a file; links to itself do not count."""
        target = "(SELECT id FROM files WHERE path = ?1)"
        inside = (
            f"FROM links l WHERE l.target = {target} AND l.file != {target} "
            f"{'' if embeds else 'AND l.embed = 0 '}AND {self.may('l.file')}"
        )
        grouped = f"SELECT l.file, count(*) AS links {inside} GROUP BY l.file"
        sql = f"SELECT f.path AS path, g.links FROM ({grouped}) g JOIN files f ON f.id = g.file"
        of_one = f"{inside} AND l.file = f.id"
        in_order = (
            f"SELECT f.path AS path, (SELECT count(*) {of_one}) AS links FROM files f "
            f"WHERE {self.may('f.path')} AND EXISTS (SELECT 1 {of_one})"
        )
        counted = f"SELECT DISTINCT l.file {inside}"
        rows, total, last = self.paged(page, sql, (path,), ("path",), counted=counted, in_order=in_order)
        return [(source, links) for source, links in rows], total, last

    def backlink_lines(self, path: str, source: str, *, embeds: bool = True) -> list[int]:
        """The lines of a note on which it links to a file."""
        sql = (
            "SELECT l.line FROM links l JOIN files t ON t.id = l.target "
            f"JOIN files s ON s.id = l.file WHERE t.path = ? AND s.path = ? "
            f"{'' if embeds else 'AND l.embed = 0 '}AND {self.may('s.path')} ORDER BY l.id"
        )
        return [row[0] for row in self.rows(sql, (path, source))]

    def referring(self, path: str) -> list[str]:
        """The readable notes that link to or embed a file."""
        sql = (
            "SELECT DISTINCT s.path FROM links l JOIN files t ON t.id = l.target JOIN files s ON s.id = l.file "
            f"WHERE t.path = ? AND s.id != t.id AND {self.may('s.path')} ORDER BY s.path"
        )
        return [row[0] for row in self.rows(sql, (path,))]

    def linking(self, keys: Iterable[str]) -> list[str]:
        """Notes with a link of one of these names, whoever may read them: for rewriting, which checks each write."""
        return self._unfiltered(
            "SELECT DISTINCT f.path FROM links l JOIN files f ON f.id = l.file WHERE l.key = ?", keys
        )

    def oversized(self) -> list[str]:
        """Notes whose links are not known, since they are too large for the index: for rewriting, as above."""
        return self._unfiltered(
            "SELECT path FROM files WHERE size > ? AND note = 1", [self._index.reading.max_bytes]
        )

    def named(self, keys: Iterable[str]) -> list[str]:
        """Files of one of these names, whoever may read them: what a link means does not depend on the caller."""
        return self._unfiltered("SELECT path FROM files WHERE key = ?", keys)

    def canvases(self) -> list[str]:
        """Every canvas, whoever may read it: for rewriting, which checks each write."""
        return self._unfiltered("SELECT path FROM files WHERE note = 0 AND ext = ?", ["canvas"])

    def _unfiltered(self, sql: str, values: Iterable[str | int]) -> list[str]:
        with self._index.db.read() as conn:
            return sorted({row[0] for value in values for row in conn.execute(sql, (value,))})

    def orphans(
        self, page: Page, *, root: str = "", exclude: Sequence[str] = (), no_outgoing: bool = False
    ) -> tuple[list[tuple[str, int]], int | None, Any]:
        """A page of (note, number of its own links) that no readable note links to."""
        where, parameters = below("f.path", root)
        for prefix in exclude:
            inside, values = below("f.path", prefix)
            where += f" AND NOT ({inside} OR f.path = ?)"
            parameters = [*parameters, *values, prefix]
        linked = f"SELECT 1 FROM links l WHERE l.target = f.id AND l.file != f.id AND {self.may('l.file')}"
        sql = (
            "SELECT f.path AS path, (SELECT count(*) FROM links o WHERE o.file = f.id) AS links FROM files f "
            f"INDEXED BY notes_by_path WHERE f.note = 1 AND {where} AND NOT EXISTS ({linked}) AND {self.may('f.path')}"
        )
        if no_outgoing:
            sql = f"SELECT * FROM ({sql}) WHERE links = 0"
        rows, total, last = self.paged(page, sql, parameters, ("path",))
        return [(path, links) for path, links in rows], total, last

    def unresolved(
        self, page: Page, *, root: str = "", by_source: bool = False
    ) -> tuple[list[tuple[str, list[tuple[str, int]]]], int | None, Any]:
        """A page of what links point at in vain, each with the notes and lines; `by_source` note by note.

        A link to a file that the caller may not read leads nowhere for it.
        """
        with self.at_once():
            return self._in_vain_by_note(page, root) if by_source else self._in_vain_by_target(page, root)

    def _in_vain_by_target(
        self, page: Page, root: str
    ) -> tuple[list[tuple[str, list[tuple[str, int]]]], int, Any]:
        """All of what is linked to in vain is kept, in order: without it no page and no total could be told."""
        sql, parameters = self._in_vain("l.path", root)
        names: list[str] = self.kept(
            ("in vain", root), lambda: [name for (name,) in self.rows(f"{sql} ORDER BY l.path", parameters)]
        )
        start = 0 if page.after is None else bisect_right(names, page.after[0])
        cut = names[start : start + page.limit]
        found: dict[str, list[tuple[str, int]]] = {name: [] for name in cut}
        for source, target, line in self._places_of(cut, root):
            if target in found:
                found[target].append((source, line))
        return list(found.items()), len(names), cut[-1:] if start + page.limit < len(names) else None

    def _in_vain_by_note(
        self, page: Page, root: str
    ) -> tuple[list[tuple[str, list[tuple[str, int]]]], int, Any]:
        total = self.count(*self._in_vain("l.file, l.path", root))
        after = tuple(page.after or ("", ""))
        where, parameters = below("s.path", root)
        # Enough notes for a page, and the one in which the page before may have ended.
        sql = (
            f"SELECT s.path FROM files s INDEXED BY notes_by_path WHERE s.note = 1 AND s.path >= ? AND {where} "
            f"AND {self.may('s.path')} AND EXISTS (SELECT 1 FROM links l WHERE l.file = s.id AND {self._leads_nowhere()}) "
            "ORDER BY s.path LIMIT ?"
        )
        start = max(after[0], self._first())
        notes = [path for (path,) in self.rows(sql, [start, *parameters, page.limit + 2])]
        found: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for source, target, line in self._places_in_vain("s.path", notes, root):
            found.setdefault((source, target), []).append((source, line))
        keys = sorted(key for key in found if key > after)
        last = list(keys[page.limit - 1]) if len(keys) > page.limit else None
        return [(key[1], found[key]) for key in keys[: page.limit]], total, last

    def _places_of(self, names: Sequence[str], root: str) -> list[Any]:
        """Where the links of a page of names stand. Who may read everything has them side by side in one index."""
        if self._readable is not None or not names:
            return self._places_in_vain("l.key", sorted({*map(link_key, names)}), root)
        where, parameters = below("s.path", root)
        sql = (
            "SELECT s.path, l.path, l.line FROM links l INDEXED BY links_in_vain JOIN files s ON s.id = l.file "
            f"WHERE l.target IS NULL AND l.path != '' AND l.path BETWEEN ? AND ? AND {where}"
        )
        return sorted(self.rows(sql, [names[0], names[-1], *parameters]))

    def _places_in_vain(self, column: str, values: Sequence[str], root: str) -> list[Any]:
        """(note, what it links to in vain, line) of all links with one of these values."""
        where, parameters = below("s.path", root)
        sql = (
            f"SELECT s.path, l.path, l.line FROM links l JOIN files s ON s.id = l.file WHERE {column} IN "
            f"({', '.join('?' * len(values))}) AND {self._leads_nowhere()} AND {where} AND {self.may('l.file')} "
            "ORDER BY s.path, l.line, l.id"
        )
        return self.rows(sql, [*values, *parameters])

    def _leads_nowhere(self) -> str:
        return f"l.path != '' AND (l.target IS NULL OR NOT {self.may('l.target')})"

    def _in_vain(self, columns: str, root: str) -> tuple[str, list[Any]]:
        """What is in the links that lead nowhere, each once: found by what they lack, not by looking at all links."""
        where, parameters = below("s.path", root)
        join = "JOIN files s ON s.id = l.file" if parameters else ""
        found = "SELECT l.file, l.path FROM links l INDEXED BY links_in_vain WHERE l.target IS NULL AND l.path != ''"
        if self._readable is not None:
            found += (
                " UNION ALL SELECT l.file, l.path FROM files t CROSS JOIN links l ON l.target = t.id "
                f"WHERE NOT {self.may('t.path')}"
            )
        return (
            f"SELECT DISTINCT {columns} FROM ({found}) l {join} WHERE {where} AND {self.may('l.file')}",
            parameters,
        )

    def references(
        self,
        page: Page,
        *,
        root: str = "",
        extensions: Sequence[str] = (),
        referenced_only: bool = False,
        orphans_only: bool = False,
        canvases: Mapping[str, int] | None = None,
    ) -> tuple[list[tuple[str, int, int, int]], int | None, Any]:
        """A page of files that are not notes: (path, size, mtime_ns, notes that link to or embed it).

        `canvases` is how many canvases name each file; they count like notes.
        """
        where, parameters = below("f.path", root)
        if extensions:
            where += f" AND f.ext IN ({', '.join('?' * len(extensions))})"
            parameters = [*parameters, *[e.lower().lstrip(".") for e in extensions]]
        count = (
            "SELECT count(DISTINCT l.file) FROM links l JOIN files s ON s.id = l.file "
            f"WHERE l.target = f.id AND {self.may('s.path')}"
        )
        sql = (
            f"SELECT f.path AS path, f.size, f.mtime_ns, ({count}) + coalesce(c.value, 0) AS refs FROM files f "
            f"LEFT JOIN (SELECT key, value FROM json_each(?)) c ON c.key = f.path WHERE f.note = 0 AND f.ext NOT IN ('canvas', 'base') AND {where} AND {self.may('f.path')}"
        )
        if referenced_only or orphans_only:
            sql = f"SELECT * FROM ({sql}) WHERE refs {'> 0' if referenced_only else '= 0'}"
        named = json.dumps(canvases or {}, sort_keys=True)
        rows, total, last = self.paged(page, sql, [named, *parameters], ("path",))
        return [tuple(row) for row in rows], total, last

    def edges(self) -> list[tuple[str, str, int]]:
        """Every pair of readable notes of which the first links to the second, and how often."""
        sql = (
            "SELECT s.path, t.path, count(*) FROM links l JOIN files s ON s.id = l.file JOIN files t ON t.id = l.target "
            f"WHERE s.note = 1 AND t.note = 1 AND s.id != t.id AND {self.may('s.path')} AND {self.may('t.path')} "
            "GROUP BY s.id, t.id ORDER BY s.path, t.path"
        )
        return [tuple(row) for row in self.rows(sql)]
