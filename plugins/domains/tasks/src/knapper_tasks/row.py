"""TaskRow: one task of one note, as flat scalars that can become columns of an index."""

from typing import ClassVar

import msgspec

PRIORITIES = ("highest", "high", "medium", "none", "low", "lowest")
NO_PRIORITY = 3

DATE_FIELDS = ("created", "start", "scheduled", "due", "done", "cancelled")
CLOSED_TYPES = frozenset({"DONE", "CANCELLED", "NON_TASK"})


class TaskRow(msgspec.Struct, frozen=True, gc=False):
    """A task line taken apart; dates are ISO strings, possibly of days that do not exist."""

    indexed: ClassVar[tuple[str, ...]] = ("due",)  # columns that a table of these is searched by

    path: str = ""
    line: int = 0
    indent: str = ""
    marker: str = "-"
    symbol: str = " "
    status_type: str = "TODO"
    status_name: str = "Todo"
    description: str = ""
    priority: int = NO_PRIORITY
    created: str | None = None
    start: str | None = None
    scheduled: str | None = None
    due: str | None = None
    done: str | None = None
    cancelled: str | None = None
    scheduled_inferred: bool = False
    recurrence: str | None = None
    on_completion: str | None = None
    tags: tuple[str, ...] = ()
    id: str | None = None
    depends_on: tuple[str, ...] = ()
    heading: str | None = None
    block_link: str | None = None
    raw: str = ""

    @property
    def closed(self) -> bool:
        """Whether the plugin counts the task as done: done, cancelled, or not a task."""
        return self.status_type in CLOSED_TYPES

    @property
    def priority_name(self) -> str:
        return PRIORITIES[self.priority]
