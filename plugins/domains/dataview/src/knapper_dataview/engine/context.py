"""What an expression is evaluated in: the vault, the note it stands in, the time, and the budget."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo

from msgspec.msgpack import Ext

from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.comparison import compare
from knapper_dataview.engine.pages import Page, unpacked
from knapper_dataview.engine.rows import SCALARS, PageRow
from knapper_dataview.engine.settings import Settings
from knapper_dataview.engine.source import Source
from knapper_dataview.engine.values import Link


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
        self._normal: dict[str, str] = {}
        self._rows: dict[str, PageRow] = {}

    def this(self) -> object:
        """The note the expression stands in, an empty object where there is none."""
        row = self.row(self.origin)
        return {} if row is None else row

    def normalize(self, linkpath: str) -> str:
        """A link's path as the note the query stands in resolves it, else unchanged."""
        found = self._normal.get(linkpath)
        if found is None:
            found = self._normal[linkpath] = self.source.resolve(linkpath, self.origin) or linkpath
        return found

    def compare(self, first: object, second: object) -> int:
        """Order two values, links by the files they mean."""
        return compare(first, second, self.normalize)

    def hydrate(self, value: object, path: str) -> object:
        """A stored value made whole: its links resolved from the note it is in, its dates in the local zone."""
        if type(value) in SCALARS:
            return value
        if isinstance(value, Ext):
            value = unpacked(value)
        if isinstance(value, Link):
            return value.at(self.source.resolve(value.path, path) or value.path)
        if isinstance(value, datetime):
            return value.replace(tzinfo=self.zone) if value.tzinfo is None else value
        if isinstance(value, list):
            return [self.hydrate(element, path) for element in value]
        if isinstance(value, dict):
            return {key: self.hydrate(element, path) for key, element in value.items()}
        return value

    def row(self, path: str) -> PageRow | None:
        """A note's row, by its path."""
        return next(iter(self.rows([path])), None)

    def rows(self, paths: list[str], wanted: Callable[[Page], bool] | None = None) -> list[PageRow]:
        """The rows of these notes, or of those that are wanted, each made once."""
        kept = self._rows
        if not kept:
            pages = self.source.pages(paths)
            rows = [PageRow(page, self) for page in pages if wanted is None or wanted(page)]
            self._rows = {row.page.path: row for row in rows}
            return rows
        for page in self.source.pages([path for path in paths if path not in kept]):
            kept[page.path] = PageRow(page, self)
        found = [kept[path] for path in paths if path in kept]
        return found if wanted is None else [row for row in found if wanted(row.page)]

    def release(self) -> None:
        """Forget the rows, which know this context: the query is answered."""
        self._rows = {}
