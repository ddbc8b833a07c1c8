"""Text by pattern: regular expressions, narrowed by the word index and run where they can be stopped."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from knapper.index import literals, words
from knapper.index.patterns import POOL
from knapper.index.queries.base import below
from knapper.index.queries.search import HAS_TEXT, Literal, place
from knapper.index.rows import is_note
from knapper.page import Page

FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "u": re.UNICODE}


class Match(NamedTuple):
    """One match; lines and columns count from 0, in the page where there are pages."""

    path: str
    start: int
    line: int
    col: int
    match: str
    snippet: str
    page: int | None = None


class Patterns(Literal):
    """Finding places by a pattern."""

    def regex(
        self,
        page: Page,
        pattern: str,
        flags: str = "i",
        *,
        root: str = "",
        per_file: int = 10,
        seconds: float = 2.0,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[list[Match], Any]:
        """A page of matches in the order of paths and places, and the key where more follow."""
        mask = sum({FLAGS[f] for f in flags})
        path, start = page.after or ("", -1)
        files = self._may_match(pattern, mask, root, path)
        if not files:
            return [], None
        hits, more = POOL.search(
            self._index.db.path,
            pattern,
            mask,
            list(files),
            after=start if next(iter(files.values())) == path else -1,
            per_file=per_file,
            limit=page.limit,
            seconds=seconds,
            cancelled=cancelled,
        )
        found = [self._match(file, Match(files[file], *rest)) for file, *rest in hits]
        return found, [found[-1].path, found[-1].start] if more else None

    def _match(self, file: int, match: Match) -> Match:
        """A match in a file with pages by its place in its page."""
        if is_note(match.path):
            return match
        row = self.one("SELECT text FROM texts WHERE file = ?", (file,))
        page, line, col = place(row[0] if row else "", match.start, note=0)
        return match._replace(page=page, line=line, col=col)

    def _may_match(self, pattern: str, mask: int, root: str, first: str) -> dict[int, str]:
        """The readable notes that can match, from a path on, in the order of paths."""
        where, parameters = below("f.path", root)
        narrowing = self._narrowed(literals.required(pattern, mask), bool(mask & re.IGNORECASE))
        if narrowing is not None:
            where += " AND f.id IN (SELECT rowid FROM literal WHERE literal MATCH ?)"
            parameters = [*parameters, narrowing]
        sql = (
            f"SELECT f.id, f.path FROM files f WHERE {HAS_TEXT} AND f.path >= ? AND {where} "
            f"AND {self.may('f.path')} ORDER BY f.path"
        )
        return dict(self.rows(sql, [first, *parameters]))

    def _narrowed(self, clauses: list[literals.Clause], ignore_case: bool) -> str | None:
        """Every clause that narrows, as one expression for the word index."""
        found = []
        for clause in clauses:
            each = [self.narrow(words.one_i(text) if ignore_case else text) for text in clause]
            narrowed = [f"({one})" for one in each if one is not None]
            if len(narrowed) == len(clause):
                found.append(f"({' OR '.join(narrowed)})")
        return " AND ".join(found) if found else None
