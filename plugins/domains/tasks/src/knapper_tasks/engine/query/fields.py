"""Fields: the texts of a task that instructions search, sort and group by."""

import re
from collections.abc import Callable
from functools import lru_cache

from knapper_tasks.engine.days import earliest
from knapper_tasks.engine.settings import Settings
from knapper_tasks.row import TaskRow

Getter = Callable[[TaskRow], str]

_LINK = re.compile(r"\[\[?([^\]]*)\]\]?")
_MARKED = tuple(
    re.compile(pattern)
    for pattern in (r"\*\*([^*]+)\*\*", r"\*([^*]+)\*", "==([^=]+)==", "__([^_]+)__", "_([^_]+)_")
)


@lru_cache(maxsize=16384)
def folder_of(path: str) -> str:
    """The folder of a note with a slash at its end; `/` for the vault's own."""
    return path.rpartition("/")[0] + "/"


@lru_cache(maxsize=16384)
def root_of(path: str) -> str:
    """The topmost folder of a note with a slash at its end; `/` where there is none."""
    return path.partition("/")[0] + "/" if "/" in path else "/"


def filename_of(path: str) -> str:
    """The name of a note's file."""
    return path.rpartition("/")[2]


def without_extension(path: str) -> str:
    """A path without its `.md`."""
    return path.removesuffix(".md")


@lru_cache(maxsize=16384)
def name_of(path: str) -> str | None:
    """A note's name, None for files that are not notes."""
    return without_extension(filename_of(path)) if path.endswith(".md") else None


def described(settings: Settings) -> Getter:
    """The description without the global filter, as searching and sorting see it."""
    global_filter = settings.global_filter
    if not global_filter:
        return lambda row: row.description
    return lambda row: row.description.replace(global_filter, "", 1).strip()


def text_fields(settings: Settings) -> dict[str, Getter]:
    """The fields with text filters, by name."""
    return {
        "status.name": lambda row: row.status_name,
        "path": lambda row: row.path,
        "folder": lambda row: folder_of(row.path),
        "root": lambda row: root_of(row.path),
        "description": described(settings),
        "heading": lambda row: row.heading or "",
        "filename": lambda row: filename_of(row.path),
        "recurrence": lambda row: row.recurrence or "",
        "id": lambda row: row.id or "",
    }


def happens(row: TaskRow) -> str | None:
    """The first day on which a task starts, is scheduled or is due."""
    return earliest(row.start, row.scheduled, row.due)


DateGetter = Callable[[TaskRow], str | None]

DATES: dict[str, DateGetter] = {
    "happens": happens,
    "cancelled": lambda row: row.cancelled,
    "created": lambda row: row.created,
    "start": lambda row: row.start,
    "scheduled": lambda row: row.scheduled,
    "due": lambda row: row.due,
    "done": lambda row: row.done,
}


def shown(description: str) -> str:
    """A description as it is sorted: a leading link by its alias, leading emphasis without its marks."""
    link = _LINK.match(description)
    if link:
        description = link[1].partition("|")[2] if "|" in link[1] else link[1]
        description += link.string[link.end() :]
    for pattern in _MARKED:
        if marked := pattern.match(description):
            description = marked[1] + description[marked.end() :]
    return description
