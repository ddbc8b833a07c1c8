"""The tool that changes a task. What changes it is imported by its first call."""

from __future__ import annotations

from typing import Annotated

import msgspec

from knapper import Context, Doc, Record, WritePath
from knapper_tasks.domain import tasks
from knapper_tasks.finding import Day
from knapper_tasks.record import Priority, Status, Task


class Changes(msgspec.Struct, forbid_unknown_fields=True):
    status: Status | msgspec.UnsetType = msgspec.UNSET
    description: str | msgspec.UnsetType = msgspec.UNSET
    due: Day | msgspec.UnsetType | None = msgspec.UNSET
    scheduled: Day | msgspec.UnsetType | None = msgspec.UNSET
    start: Day | msgspec.UnsetType | None = msgspec.UNSET
    done: Day | msgspec.UnsetType | None = msgspec.UNSET
    priority: Priority | msgspec.UnsetType = msgspec.UNSET
    recurrence: str | msgspec.UnsetType | None = msgspec.UNSET
    add_tags: list[str] = []
    remove_tags: list[str] = []


class UpdatedTask(Record):
    path: str
    line: int
    prev_state: Task
    new_state: Task
    content_hash: str
    updated_at: str
    created_line: int | None = None


@tasks.tool(
    "write:tasks",
    confirm="reopening a task done more than 7 days ago",
    words="todo complete finish tick check reschedule postpone done",
)
def update_task(
    ctx: Context,
    path: WritePath,
    line: Annotated[int, Doc("From 1, as list_tasks gives it.", ge=1)],
    set: Annotated[Changes, Doc("What to change; null removes a date or the recurrence.")],
    expected_text: Annotated[str | None, Doc("Only if the line still has this text.")] = None,
    prev_hash: Annotated[str | None, Doc("Only if the note still has this content_hash.")] = None,
) -> UpdatedTask:
    """Change a task's status, text, dates, priority, recurrence or tags. Completing a recurring task adds the next one."""
    from knapper_tasks import editing

    return editing.updated(ctx, path, line, set, expected_text, prev_hash)
