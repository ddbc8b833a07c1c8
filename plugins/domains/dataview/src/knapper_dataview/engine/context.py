"""What an expression is evaluated in: the vault, the note it stands in, the time, and the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.comparison import compare
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.pages import Page
from knapper_dataview.engine.rows import PageRow
from knapper_dataview.engine.settings import Settings
from knapper_dataview.engine.source import Source
from knapper_dataview.engine.values import Link

_SCALARS = frozenset({str, int, float, bool, type(None), Duration})


class Context:
    """One evaluation's surroundings; `now` has the zone that local dates are in."""

    def __init__(
        self,
        source: Source,
        origin: str,
        now: datetime,
        settings: Settings | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.source: Source = source
        self.origin = origin
        self.now = now
        self.zone: tzinfo | None = now.tzinfo
        self.settings = settings or Settings()
        self.budget = budget or Budget()
        self.variables: dict[str, object] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}
        self._rows: dict[str, PageRow] = {}

    def this(self) -> object:
        """The note the expression stands in, an empty object where there is none."""
        return self.row(self.origin) or {}

    def resolve(self, linkpath: str, source_path: str) -> str | None:
        """The file a link in a note means."""
        key = (linkpath, source_path)
        try:
            return self._resolved[key]
        except KeyError:
            found = self._resolved[key] = self.source.resolve(linkpath, source_path)
            return found

    def normalize(self, linkpath: str) -> str:
        """A link's path as the note the query stands in resolves it, else unchanged."""
        return self.resolve(linkpath, self.origin) or linkpath

    def compare(self, first: object, second: object) -> int:
        """Order two values, links by the files they mean."""
        return compare(first, second, self.normalize)

    def hydrate(self, value: object, path: str) -> object:
        """A stored value made whole: its links resolved from the note it is in, its dates in the local zone."""
        if type(value) in _SCALARS:
            return value
        if isinstance(value, Link):
            return value.at(self.resolve(value.path, path) or value.path)
        if isinstance(value, datetime):
            return value.replace(tzinfo=self.zone) if value.tzinfo is None else value
        if isinstance(value, list):
            return [self.hydrate(element, path) for element in value]
        if isinstance(value, dict):
            return {key: self.hydrate(element, path) for key, element in value.items()}
        return value

    def row(self, path: str) -> PageRow | None:
        """A note's row, by its path."""
        return next(self.rows([path]), None)

    def rows(self, paths: Iterable[str]) -> Iterator[PageRow]:
        """The rows of these notes."""
        kept = self._rows
        wanted = list(paths)
        missing = [path for path in wanted if path not in kept]
        for page in self.source.pages(missing):
            kept[page.path] = PageRow(page, self)
        return (kept[path] for path in wanted if path in kept)

    def row_of(self, page: Page) -> PageRow:
        """The row of a page already at hand."""
        row = self._rows.get(page.path)
        if row is None:
            row = self._rows[page.path] = PageRow(page, self)
        return row
