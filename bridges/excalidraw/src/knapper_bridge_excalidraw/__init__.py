"""Excalidraw: the texts of drawings, read by the plugin in a running Obsidian."""

from __future__ import annotations

from typing import Any

from knapper import Bridge, hookimpl
from knapper_companion import Remote, plugin_bridge


class Excalidraw:
    """The plugin's own reading of a drawing, as the domain excalidraw asks for it."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def read(self, path: str, *, format: str) -> Any:
        """The texts of a drawing."""
        return self._remote.ask("/excalidraw/read", path=path, format=format)


@hookimpl
def knapper_bridges() -> Bridge:
    return plugin_bridge("excalidraw", "obsidian-excalidraw-plugin", Excalidraw)
