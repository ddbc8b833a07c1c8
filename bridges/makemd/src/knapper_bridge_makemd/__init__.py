"""make.md: spaces and their tables, read by the plugin in a running Obsidian."""

from __future__ import annotations

from typing import Any

from knapper import Bridge, hookimpl
from knapper_companion import Remote, plugin_bridge


class Makemd:
    """The plugin's own spaces, as the domain makemd asks for them."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def spaces(self) -> Any:
        """Every space of the vault."""
        return self._remote.ask("/makemd/spaces")

    def query(self, space_id: str, filter: Any, sort: Any, *, limit: int, cursor: str | None) -> Any:
        """The items of a space."""
        given = {"space_id": space_id, "filter": filter, "sort": sort, "limit": limit, "cursor": cursor}
        return self._remote.ask("/makemd/query", **given)


@hookimpl
def knapper_bridges() -> Bridge:
    return plugin_bridge("makemd", "make-md", Makemd, capability="make-md")
