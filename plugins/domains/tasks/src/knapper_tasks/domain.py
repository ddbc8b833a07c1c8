"""The tasks domain itself, and what the index keeps of every note for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knapper import Domain
from knapper_tasks.row import TaskRow

if TYPE_CHECKING:
    from knapper.index.rows import Note

tasks = Domain("tasks", summary="List, query and change the tasks in notes.", group="structured")


@tasks.extract(TaskRow)
def found(note: Note) -> list[TaskRow]:
    """The tasks of a note, read by the plugin's defaults; a vault's own settings are applied when it is asked."""
    from knapper_tasks.engine import extract
    from knapper_tasks.engine.settings import PLAIN

    parsed = note.parsed
    lines = [item.line for item in parsed.list_items if item.task is not None]
    if not lines:
        return []
    return extract(
        note.path, note.text, PLAIN, lines=lines, headings=[(h.line, h.text) for h in parsed.headings]
    )
