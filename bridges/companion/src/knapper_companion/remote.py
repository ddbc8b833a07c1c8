"""What a bridge is made of: a plugin's key and id, and an engine that asks the companion for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knapper.bridge import Bridge
from knapper.errors import ToolError
from knapper_companion import gates, state
from knapper_companion.gates import Target
from knapper_companion.link import Link, link_of
from knapper_companion.names import PLUGIN
from knapper_companion.transport import Answer


class Remote:
    """The companion of a vault, asked on behalf of one plugin."""

    def __init__(self, link: Link, settings: Any, plugin: str, timeout: str = "timeout_ms") -> None:
        self._link = link
        self._plugin = plugin
        self._milliseconds: int = getattr(settings.bridges, timeout)

    def ask(self, route: str, **body: Any) -> Any:
        """The result of a route such as `/dataview/dql`; arguments that are None are left out."""
        return self._link.post(route, body, self._plugin, self._milliseconds)

    def act(self, route: str, **body: Any) -> Any:
        """The same for what changes something: where no answer came, the error says that it may have been done."""
        return self._link.post(route, body, self._plugin, self._milliseconds, acts=True)

    def native(self, method: str, path: str) -> Answer:
        """The answer of the Local REST API itself, which has no envelope."""
        acts = method != "GET"
        return self._link.ask(method, path, None, self._plugin, self._milliseconds, acts=acts)


def plugin_bridge(
    key: str,
    plugin_id: str,
    engine: Callable[[Remote], Any],
    *,
    capability: str = "",
    timeout: str = "timeout_ms",
) -> Bridge:
    """A bridge to a plugin that runs beside the companion; `timeout` names the field of the vault's `bridges` settings."""
    target = Target(key, plugin_id, capability or key)

    def connect(settings: Any) -> Any:
        link = gates.passed(settings, target, gates.OF_A_PLUGIN)
        return engine(Remote(link, settings, key, timeout))

    return Bridge(key, plugin_id, connect, lambda settings, ask: state.of_plugin(settings, target, ask=ask))


def companion_bridge(
    key: str, engine: Callable[[Remote], Any], *, fallback: Callable[[Remote], Any] | None = None
) -> Bridge:
    """A bridge to what the companion does by itself; `fallback` makes do with the Local REST API where there is none."""
    target = Target(key, PLUGIN, key)

    def connect(settings: Any) -> Any:
        try:
            return engine(Remote(gates.passed(settings, target, gates.OF_THE_COMPANION), settings, key))
        except ToolError as error:
            if fallback is None or error.code != "plugin_unreachable" or not settings.rest_api_url:
                raise
        return fallback(Remote(link_of(settings), settings, key))

    return Bridge(key, PLUGIN, connect, lambda settings, ask: state.of_vault(settings, ask=ask))
