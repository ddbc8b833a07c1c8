"""All that the loaded plugins handed over, by kind and by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knapper.domain import Domain, Tool
from knapper.errors import PluginError
from knapper.plugins import Plugin, Plugins


class Registry:
    """Domains, tools, embedders, verifiers, sinks and bridges; two of one name are an error naming both owners."""

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self.domains: dict[str, Domain] = {}
        self.tools: dict[str, Tool] = {}
        self.services: dict[str, Callable[..., Any]] = {}
        self.owners: dict[str, Plugin] = {}
        for plugin, domain in plugins.ask("knapper_domains"):
            self._domain(plugin, domain)
        self.embedders = self._named("knapper_embedders", "name")
        self.verifiers = self._named("knapper_verifiers", "name")
        self.sinks = self._named("knapper_sinks", "name")
        self.bridges = self._named("knapper_bridges", "key")

    def _domain(self, plugin: Plugin, domain: Any) -> None:
        if not isinstance(domain, Domain):
            self.plugins.fail(
                plugin, PluginError(f"knapper_domains handed over {domain!r}, which is not a Domain")
            )
            return
        self._claim("domain", domain.slug, plugin)
        self.domains[domain.slug] = domain
        for name, tool in domain.tools.items():
            self._claim("tool", name, plugin)
            self.tools[name] = tool
        for name, service in domain.services.items():
            self._claim("service", name, plugin)
            self.services[name] = service

    def _named(self, hook: str, attribute: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for plugin, item in self.plugins.ask(hook):
            name = getattr(item, attribute)
            self._claim(hook.removeprefix("knapper_")[:-1], name, plugin)
            found[name] = item
        return found

    def _claim(self, kind: str, name: str, plugin: Plugin) -> None:
        owner = self.owners.setdefault(f"{kind} {name}", plugin)
        if owner is not plugin:
            raise PluginError(
                f"{kind} {name!r} is defined by both {owner.distribution or owner.name} and "
                f"{plugin.distribution or plugin.name}; disable one of them in plugins.disabled"
            )

    def owner(self, tool: Tool) -> Plugin:
        return self.owners[f"tool {tool.name}"]
