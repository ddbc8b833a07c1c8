"""Fallback: the scheduled date that a note's name gives to its undated tasks."""

import re
from datetime import date

from .settings import Settings

_DATED = (re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})"), re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})"))


def date_of_name(path: str, settings: Settings) -> str | None:
    """The date in a note's name, where the settings ask for it."""
    if not settings.filename_as_scheduled:
        return None
    folders = settings.filename_folders
    if folders and not any(path.startswith(folder.rstrip("/") + "/") for folder in folders):
        return None
    name = path.rpartition("/")[2].rpartition(".")[0]
    return _by_format(name, settings.filename_format) or _by_digits(name)


def _by_format(name: str, form: str) -> str | None:
    if not form:
        return None
    from knapper.vault import moment

    when = moment.parse(name, form)
    return None if when is None else when.date().isoformat()


def _by_digits(name: str) -> str | None:
    found = next((match for pattern in _DATED if (match := pattern.search(name))), None)
    if found is None:
        return None
    try:
        return date(*map(int, found.groups())).isoformat()
    except ValueError:
        return None
