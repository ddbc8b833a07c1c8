"""Tasks: the checkboxes of all notes, with their dates and priorities, as the Obsidian Tasks plugin reads them."""

from knapper import hookimpl
from knapper.domain import Domain
from knapper_tasks import changing, finding
from knapper_tasks.domain import tasks

__all__ = ["changing", "finding", "tasks"]


@hookimpl
def knapper_domains() -> Domain:
    return tasks
