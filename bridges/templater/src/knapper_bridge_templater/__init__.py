"""Templater: templates with JavaScript, run by the plugin in a running Obsidian."""

from __future__ import annotations

from typing import Any

from knapper import Bridge, hookimpl
from knapper_companion import Remote, plugin_bridge


class Templater:
    """The plugin's own templates, as the domain templater asks for them."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def list(self) -> Any:
        """The templates of the folder that the plugin is set to."""
        return self._remote.ask("/templater/list")

    def execute(self, template: str, target: str, overwrite: bool, args: dict[str, Any]) -> Any:
        """Run a template into a note."""
        given = {"template": template, "target": target, "overwrite": overwrite, "args": args}
        return self._remote.act("/templater/execute", **given)


@hookimpl
def knapper_bridges() -> Bridge:
    return plugin_bridge("templater", "templater-obsidian", Templater, timeout="templater_timeout_ms")
