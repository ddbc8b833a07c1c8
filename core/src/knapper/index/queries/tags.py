"""Tags of any script, hierarchical, wherever they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from knapper.index.queries.base import Questions, below
from knapper.index.rows import fold_tag
from knapper.page import Page

Source = Literal["frontmatter", "inline", "both"]


class Tags(Questions):
    """Which tags there are and which notes have them."""

    def list_tags(
        self,
        page: Page,
        *,
        root: str = "",
        inline: bool = True,
        frontmatter: bool = True,
        by_count: bool = True,
    ) -> tuple[list[tuple[str, int, Source]], int | None, Any]:
        """A page of (tag, notes with it, where it stands)."""
        where, parameters = below("f.path", root)
        wanted = [str(kind) for kind, on in ((0, frontmatter), (1, inline)) if on] or ["-1"]
        sql = (
            "SELECT t.key AS key, count(DISTINCT t.file) AS notes, min(t.inline) AS low, max(t.inline) AS high, "
            "min(t.tag) AS tag FROM tags t JOIN files f ON f.id = t.file "
            f"WHERE {where} AND t.inline IN ({', '.join(wanted)}) AND {self.may('f.path')} GROUP BY t.key"
        )
        if by_count:
            sql = f"SELECT notes, key, low, high, tag FROM ({sql})"
            rows, total, last = self.paged(page, sql, parameters, ("notes DESC", "key"))
            return [(tag, notes, _source(low, high)) for notes, _, low, high, tag in rows], total, last
        rows, total, last = self.paged(page, sql, parameters, ("key",))
        return [(tag, notes, _source(low, high)) for _, notes, low, high, tag in rows], total, last

    def tags_of(self, path: str) -> list[tuple[str, bool, int, int]]:
        """A note's tags in the order they stand: (tag, inline, line, column)."""
        sql = (
            "SELECT t.tag, t.inline, t.line, t.col FROM tags t JOIN files f ON f.id = t.file "
            f"WHERE f.path = ? AND {self.may('f.path')} ORDER BY t.rowid"
        )
        return [(tag, bool(inline), line, col) for tag, inline, line, col in self.rows(sql, (path,))]

    def notes_by_tag(
        self,
        page: Page,
        tags: Sequence[str],
        *,
        every: bool = False,
        hierarchical: bool = True,
        root: str = "",
    ) -> tuple[list[tuple[str, list[str], Source]], int | None, Any]:
        """A page of (path, its matching tags, where they stand); a parent tag stands for its children."""
        keys = [fold_tag(tag) for tag in tags]
        matches, given = [], []
        for number, key in enumerate(keys):
            ranges = "t.key = ? OR (t.key >= ? AND t.key < ?)" if hierarchical else "t.key = ?"
            matches.append(f"SELECT {number} AS n, t.file, t.tag, t.inline FROM tags t WHERE {ranges}")
            given += [key, f"{key}/", f"{key}0"] if hierarchical else [key]
        where, parameters = below("f.path", root)
        needed = len(set(keys)) if every else 1
        sql = (
            "SELECT f.path AS path, group_concat(DISTINCT m.tag) AS tags, min(m.inline) AS low, max(m.inline) AS high "
            f"FROM ({' UNION ALL '.join(matches)}) m JOIN files f ON f.id = m.file WHERE {where} AND {self.may('f.path')} "
            f"GROUP BY f.id HAVING count(DISTINCT m.n) >= {needed}"
        )
        rows, total, last = self.paged(page, sql, [*given, *parameters], ("path",))
        return (
            [(path, sorted(tags.split(",")), _source(low, high)) for path, tags, low, high in rows],
            total,
            last,
        )


def _source(low: int, high: int) -> Source:
    if low != high:
        return "both"
    return "inline" if high else "frontmatter"
