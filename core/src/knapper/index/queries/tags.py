"""Tags of any script, hierarchical, wherever they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from knapper.index.queries.base import Questions, below
from knapper.index.rows import FRONTMATTER, INLINE, fold_tag
from knapper.page import Page

Source = Literal["frontmatter", "inline", "both"]
SOURCES: dict[int, Source] = {FRONTMATTER: "frontmatter", INLINE: "inline", FRONTMATTER | INLINE: "both"}


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
        mask = FRONTMATTER * frontmatter | INLINE * inline
        key = _by_count if by_count else _by_name
        found = self.kept(("tags", root, mask, by_count), lambda: sorted(self._all_tags(root, mask), key=key))
        cut = page.cut(found, key=key)
        last = list(key(cut.items[-1])) if cut.cursor else None
        return [(tag, count, source) for _, count, source, tag in cut.items], cut.total_count, last

    def _all_tags(self, root: str, mask: int) -> list[tuple[str, int, Source, str]]:
        """(key, notes, where it stands, tag) of every tag: there are few, and all are needed to count them."""
        where, parameters = below("f.path", root)
        join = "JOIN files f ON f.id = t.file" if parameters else ""
        sql = (
            "SELECT t.key, count(*), max(t.source & 1), max(t.source & 2), min(t.tag) FROM tags t "
            f"{join} WHERE t.source & {mask} AND {where} AND {self.may('t.file')} GROUP BY t.key"
        )
        rows = self.rows(sql, parameters)
        return [(key, count, SOURCES[(low | high) & mask], tag) for key, count, low, high, tag in rows]

    def tags_of(self, path: str) -> list[tuple[str, Source]]:
        """A note's tags in the order they are first met."""
        sql = (
            "SELECT t.tag, t.source FROM tags t JOIN files f ON f.id = t.file "
            f"WHERE f.path = ? AND {self.may('f.path')} ORDER BY t.ord"
        )
        return [(tag, SOURCES[source]) for tag, source in self.rows(sql, (path,))]

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
        keys = sorted({fold_tag(tag) for tag in tags})
        match, given = _matching(keys, hierarchical)
        where, parameters = below("f.path", root)
        each = [_matching([key], hierarchical) for key in keys] if every and len(keys) > 1 else []
        sought = [f"f.id IN (SELECT o.file FROM tags o WHERE {_of('o', one)})" for one, _ in each]
        looked_at = [
            f"EXISTS (SELECT 1 FROM tags o WHERE o.file = f.id AND {_of('+o', one)})" for one, _ in each
        ]
        shown = "SELECT f.path AS path, group_concat(t.source || t.tag, char(10)) FROM"
        sql, in_order = (
            f"{shown} {joined} WHERE {' AND '.join([*conditions, where, self.may('f.path')])}"
            for joined, conditions in (
                ("tags t JOIN files f ON f.id = t.file", [match, *sought]),
                ("files f CROSS JOIN tags t ON t.file = f.id", [_of("+t", match), *looked_at]),
            )
        )
        counted = None
        if not each and not parameters:
            counted = f"SELECT DISTINCT t.file FROM tags t WHERE {match} AND {self.may('t.file')}"
        grouped = "GROUP BY f.path"
        rows, total, last = self.paged(
            page,
            f"{sql} {grouped}",
            [*given, *(value for _, values in each for value in values), *parameters],
            ("path",),
            counted=counted,
            in_order=in_order,
            grouped=grouped,
            root=root,
        )
        return [(path, *_told(found)) for path, found in rows], total, last


def _by_count(item: tuple[str, int, Source, str]) -> tuple[int, str]:
    return -item[1], item[0]


def _by_name(item: tuple[str, int, Source, str]) -> tuple[str]:
    return (item[0],)


def _matching(keys: Sequence[str], hierarchical: bool) -> tuple[str, list[str]]:
    """The condition that a tag is one of these, or below one of these."""
    if not hierarchical:
        return f"t.key IN ({', '.join('?' * len(keys))})", list(keys)
    ranges = " OR ".join("t.key = ? OR (t.key >= ? AND t.key < ?)" for _ in keys)
    return f"({ranges})", [value for key in keys for value in (key, f"{key}/", f"{key}0")]


def _of(alias: str, match: str) -> str:
    """The same condition on another tag; with a plus SQLite does not look for the tag but looks at each that it meets."""
    return match.replace("t.key", f"{alias}.key")


def _told(own: str) -> tuple[list[str], Source]:
    """A note's tags, each on a line behind where it stands."""
    if "\n" not in own:  # as nearly always
        return [own[1:]], SOURCES[int(own[0])]
    found, stands = [], 0
    for one in own.split("\n"):
        found.append(one[1:])
        stands |= int(one[0])
    return sorted(found), SOURCES[stands]
