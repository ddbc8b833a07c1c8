"""What a query answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from knapper_dataview.engine.rows import TaskRow


@dataclass(slots=True)
class ListResult:
    """The values of LIST; a row with an id and a value is a ListPair."""

    values: list[object]
    paths: list[str] = field(default_factory=list)
    kind: str = "list"


@dataclass(slots=True)
class TableResult:
    """The columns' names and the rows of TABLE."""

    headers: list[str]
    rows: list[list[object]]
    paths: list[str] = field(default_factory=list)
    kind: str = "table"


@dataclass(slots=True)
class TaskGroup:
    """Tasks, or groups of them, under one key."""

    key: object
    rows: list[TaskEntry]


@dataclass(slots=True)
class TaskResult:
    """The tasks of TASK, grouped as often as the query grouped them."""

    tasks: list[TaskEntry]
    paths: list[str] = field(default_factory=list)
    kind: str = "task"


@dataclass(slots=True)
class CalendarEntry:
    """A date and the note it stands for; the date is whatever the field held."""

    date: object
    link: object


@dataclass(slots=True)
class CalendarResult:
    """The entries of CALENDAR."""

    entries: list[CalendarEntry]
    paths: list[str] = field(default_factory=list)
    kind: str = "calendar"


TaskEntry = TaskRow | TaskGroup
Result = ListResult | TableResult | TaskResult | CalendarResult
