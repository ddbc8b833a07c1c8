"""Tasks: queries, answered by the Tasks plugin in a running Obsidian."""

from __future__ import annotations

from typing import Any

from knapper import Bridge, hookimpl
from knapper_companion import Remote, plugin_bridge


class Tasks:
    """The plugin's own search, as the domain tasks asks it."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def filter(self, filter: str, *, limit: int, cursor: str | None) -> Any:
        """The tasks that a query finds, and the cursor of what follows."""
        return self._remote.ask("/tasks/filter", filter=filter, limit=limit, cursor=cursor)


@hookimpl
def knapper_bridges() -> Bridge:
    return plugin_bridge("tasks", "obsidian-tasks-plugin", Tasks)
