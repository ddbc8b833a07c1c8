"""Where Obsidian would put a deleted file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from knapper.errors import ToolError
from knapper.vault import paths
from knapper.vault.disk import Disk

FOLDER = ".trash"


def settings(disk: Disk, name: str) -> dict[str, Any]:
    """One of Obsidian's own settings files (`app`, `daily-notes`); empty where it is missing or broken."""
    found = _setting(disk, name)
    return found if isinstance(found, dict) else {}


def plugin_settings(disk: Disk, plugin: str) -> dict[str, Any]:
    """A community plugin's settings; empty where it is switched off, since what it left behind counts no more."""
    enabled = _setting(disk, "community-plugins")
    if isinstance(enabled, list) and plugin not in enabled:
        return {}
    return settings(disk, f"plugins/{plugin}/data")


def _setting(disk: Disk, name: str) -> Any:
    try:
        return json.loads(disk.read(disk.locate(paths.canonical(f".obsidian/{name}.json"))).text)
    except (ToolError, ValueError, RecursionError):
        return None


def kept(disk: Disk) -> bool:
    """Whether a deleted file is kept in the vault's `.trash`.

    Obsidian's default is the desktop's own trash. A server has no desktop to ask, so what would go there is kept in
    `.trash`, where people find it just as well; only `none` deletes for good.
    """
    return settings(disk, "app").get("trashOption") != "none"


def place(path: str, occupied: Callable[[str], bool]) -> str:
    """The first free name in the trash: `.trash/folder/a.md`, then `.trash/folder/a (1).md`.

    Where something in the trash that is no folder has the folder's name, `.trash/a.md`.
    """
    try:
        return free(paths.join(FOLDER, path), occupied)
    except ToolError as error:
        if error.code != "path_invalid":
            raise
        return free(paths.join(FOLDER, paths.name(path)), occupied)


def free(path: str, occupied: Callable[[str], bool]) -> str:
    """The path, or the first numbered one that nobody has."""
    candidate, number = path, 0
    while occupied(candidate):
        number += 1
        candidate = paths.labelled(path, str(number))
    return candidate
