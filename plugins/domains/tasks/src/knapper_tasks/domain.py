"""The tasks domain itself, and what the index keeps of every note for it."""

from __future__ import annotations

from knapper import Context, Domain
from knapper.index.rows import Note
from knapper_tasks.engine import Settings, TaskRow, extract, settings_from_data

tasks = Domain("tasks", summary="List, query and change the tasks in notes.", group="structured")

PLAIN = Settings()


@tasks.extract(TaskRow)
def found(note: Note) -> list[TaskRow]:
    """The tasks of a note, read by the plugin's defaults; a vault's own settings are applied when it is asked."""
    parsed = note.parsed
    lines = [item.line for item in parsed.list_items if item.task is not None]
    if not lines:
        return []
    return extract(
        note.path, note.text, PLAIN, lines=lines, headings=[(h.line, h.text) for h in parsed.headings]
    )


def settings_of(ctx: Context) -> Settings:
    """The vault's own settings of the Tasks plugin; its defaults where it is not installed."""
    return settings_from_data(ctx.vault.settings("plugins/obsidian-tasks-plugin/data"))
