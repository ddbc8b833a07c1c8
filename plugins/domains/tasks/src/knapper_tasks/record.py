"""A task as callers see it."""

from __future__ import annotations

from typing import Literal

from knapper import Record
from knapper_tasks.row import TaskRow

Status = Literal["todo", "done", "cancelled", "in_progress", "on_hold", "non_task"]
Priority = Literal["highest", "high", "medium", "normal", "low", "lowest"]
PRIORITY: tuple[Priority, ...] = ("highest", "high", "medium", "normal", "low", "lowest")


class Task(Record):
    path: str
    line: int
    status: str
    status_symbol: str
    description: str
    priority: str
    tags: list[str]
    depends_on: list[str]
    due: str | None = None
    scheduled: str | None = None
    start: str | None = None
    created: str | None = None
    done: str | None = None
    cancelled: str | None = None
    recurrence: str | None = None
    id: str | None = None
    heading: str | None = None


def task(row: TaskRow) -> Task:
    return Task(
        path=row.path,
        line=row.line + 1,
        status=row.status_type.lower(),
        status_symbol=row.symbol,
        description=row.description,
        priority=PRIORITY[row.priority],
        tags=list(row.tags),
        depends_on=list(row.depends_on),
        due=row.due,
        scheduled=row.scheduled,
        start=row.start,
        created=row.created,
        done=row.done,
        cancelled=row.cancelled,
        recurrence=row.recurrence,
        id=row.id,
        heading=row.heading,
    )
