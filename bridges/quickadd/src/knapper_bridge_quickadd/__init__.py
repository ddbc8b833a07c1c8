"""QuickAdd: choices of any kind, run by the plugin in a running Obsidian."""

from __future__ import annotations

from typing import Any

from knapper import Bridge, hookimpl
from knapper_companion import Remote, plugin_bridge


class Quickadd:
    """The plugin's own choices, as the domain quickadd asks for them."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def actions(self) -> Any:
        """Every choice that the plugin has."""
        return self._remote.ask("/quickadd/actions")

    def trigger(self, action_name: str, args: dict[str, Any]) -> Any:
        """Run a choice with these variables."""
        return self._remote.act("/quickadd/trigger", action_name=action_name, args=args)


@hookimpl
def knapper_bridges() -> Bridge:
    return plugin_bridge("quickadd", "quickadd", Quickadd)
