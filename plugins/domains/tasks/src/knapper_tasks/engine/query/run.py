"""Run: a parsed query, and its answer over tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

import msgspec

from knapper.script.budget import Budget
from knapper_tasks.engine.settings import Settings
from knapper_tasks.row import TaskRow

from .context import PropertiesOf, QueryFile, Search
from .explain import explained
from .facts import Facts, both
from .grouping import Group, group_rows, limited
from .model import Filter, Grouper, Layout, Predicate, Sorter, naming
from .sorting import sort_rows

# Rows between two looks at the clock.
_CHUNK = 1024


class Result(msgspec.Struct, frozen=True):
    """What a query found: `total` tasks of the `before_limit` that match, in groups."""

    total: int
    before_limit: int
    groups: list[Group]

    @property
    def rows(self) -> list[TaskRow]:
        """The tasks in order; one that stands in several groups comes once."""
        seen: dict[int, TaskRow] = {}
        for group in self.groups:
            for row in group.rows:
                seen.setdefault(id(row), row)
        return list(seen.values())


@dataclass
class Query:
    """A query that was understood."""

    settings: Settings
    today: date
    file: QueryFile | None = None
    filters: list[Filter] = field(default_factory=list)
    sorters: list[Sorter] = field(default_factory=list)
    groupers: list[Grouper] = field(default_factory=list)
    columns: Grouper | None = None
    limit: int | None = None
    group_limit: int | None = None
    ignores_global: bool = False
    layout: Layout = field(default_factory=Layout)

    def run(
        self,
        rows: Iterable[TaskRow],
        *,
        everything: Sequence[TaskRow] | None = None,
        properties_of: PropertiesOf | None = None,
        budget: Budget | None = None,
    ) -> Result:
        """Find the tasks among `rows`.

        `everything` are all tasks of the vault, where `rows` were narrowed by facts: dependencies are
        looked up there. `properties_of` answers the properties of a note by its path.
        """
        given = list(rows)
        search = Search(
            self.settings,
            self.today,
            file=self.file,
            rows=given if everything is None else everything,
            properties_of=properties_of,
            budget=budget,
        )
        found = sort_rows(self._matching(given, search), self.sorters, search)
        shown = found if self.limit is None else found[: self.limit]
        levels = [self.columns, *self.groupers] if self.columns else self.groupers
        groups = group_rows(shown, levels, search)
        if self.group_limit is None or not levels:
            return Result(len(shown), len(found), groups)
        groups = limited(groups, self.group_limit)
        unique = {id(row) for group in groups for row in group.rows}
        return Result(len(unique), len(found), groups)

    def _matching(self, rows: list[TaskRow], search: Search) -> list[TaskRow]:
        for condition in self.filters:
            with naming(condition):
                rows = _kept(rows, condition.bind(search), search.budget)
        return rows

    def explain(self) -> str:
        """How the query was understood, in words."""
        levels = [self.columns, *self.groupers] if self.columns else self.groupers
        return explained(self.filters, levels, self.sorters, self.limit, self.group_limit)


def _kept(rows: list[TaskRow], test: Predicate, budget: Budget) -> list[TaskRow]:
    kept: list[TaskRow] = []
    for start in range(0, len(rows), _CHUNK):
        kept += [row for row in rows[start : start + _CHUNK] if test(row)]
        budget.look()
    return kept


def narrow(query: Query) -> Facts:
    """Facts by which an index may leave tasks out before the query runs; see Facts."""
    return both(condition.facts for condition in query.filters)
