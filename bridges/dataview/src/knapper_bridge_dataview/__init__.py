"""Dataview: queries and expressions, answered by the plugin in a running Obsidian."""

from __future__ import annotations

from typing import Any

from knapper import Bridge, hookimpl
from knapper_companion import Remote, plugin_bridge


class Dataview:
    """The plugin's own engine, as the domain dataview asks it."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def dql(self, dql: str, format: str | None) -> Any:
        """What a query finds: headers, rows and the paths of notes."""
        return self._remote.ask("/dataview/dql", dql=dql, format=format)

    def validate(self, dql: str) -> Any:
        """Whether a query is well formed."""
        return self._remote.ask("/dataview/validate", dql=dql)

    def eval(self, path: str, expression: str) -> Any:
        """The value of an expression in a note, and its type."""
        return self._remote.ask("/dataview/eval", path=path, expression=expression)


@hookimpl
def knapper_bridges() -> Bridge:
    return plugin_bridge("dataview", "dataview", Dataview)
