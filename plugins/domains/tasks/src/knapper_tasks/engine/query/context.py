"""Context: what a query knows besides the tasks: its own file, the day, and who depends on whom."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.script.budget import Budget
from knapper_tasks.engine.settings import Settings
from knapper_tasks.row import TaskRow

if TYPE_CHECKING:
    from knapper.script.scope import Clock

PropertiesOf = Callable[[str], Mapping[str, Any]]


class QueryFile(msgspec.Struct, frozen=True):
    """The note in which a query stands, and its properties."""

    path: str
    properties: Mapping[str, Any] = {}


class Search:
    """One run of a query over all tasks of a vault."""

    def __init__(
        self,
        settings: Settings,
        today: date,
        *,
        file: QueryFile | None = None,
        rows: Sequence[TaskRow] = (),
        properties_of: PropertiesOf | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.settings = settings
        self.today = today
        self.day = today.toordinal()
        self.file = file
        self.rows = rows
        self.properties_of = properties_of
        self.budget = budget or Budget()

    @cached_property
    def clock(self) -> "Clock":
        """The day as scripts see it: its first moment."""
        from knapper.script.scope import Clock

        return Clock(datetime.combine(self.today, time()))

    @cached_property
    def _open(self) -> list[TaskRow]:
        return [row for row in self.rows if not row.closed and (row.id or row.depends_on)]

    @cached_property
    def _open_ids(self) -> frozenset[str]:
        return frozenset(row.id for row in self._open if row.id)

    @cached_property
    def _needed_ids(self) -> frozenset[str]:
        return frozenset(identifier for row in self._open for identifier in row.depends_on)

    def blocked(self, row: TaskRow) -> bool:
        """Whether a task waits for another that is not done."""
        return bool(row.depends_on) and not row.closed and not self._open_ids.isdisjoint(row.depends_on)

    def blocking(self, row: TaskRow) -> bool:
        """Whether another task that is not done waits for this one."""
        return row.id is not None and not row.closed and row.id in self._needed_ids
