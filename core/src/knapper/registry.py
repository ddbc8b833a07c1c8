"""All that the loaded plugins handed over, by kind and by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from knapper.bridge import Bridge
from knapper.domain import Domain, Prompt, Resource, Tool
from knapper.embed import Embedder
from knapper.errors import PluginError
from knapper.plugins import Plugin, Plugins
from knapper.sinks import Sink
from knapper.verify import Verifier


class Handed(NamedTuple):
    """One object, and the plugin it came from."""

    plugin: Plugin
    item: Any


class Registry:
    """Domains, tools, embedders, verifiers, sinks and bridges; two of one name are an error naming both owners."""

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self.domains: dict[str, Domain] = {}
        self.tools: dict[str, Tool] = {}
        self.services: dict[str, Callable[..., Any]] = {}
        self.prompts: dict[str, Prompt] = {}
        self.resources: dict[str, Resource] = {}
        self.owners: dict[str, Plugin] = {}
        # All are asked before anything is used: a plugin that fails late leaves nothing behind.
        domains = self._ask("knapper_domains", Domain)
        embedders = self._ask("knapper_embedders", Embedder)
        verifiers = self._ask("knapper_verifiers", Verifier)
        sinks = self._ask("knapper_sinks", Sink)
        bridges = self._ask("knapper_bridges", Bridge)
        for plugin, domain in _usable(domains):
            self._domain(plugin, domain)
        self.embedders: dict[str, Embedder] = self._named("embedder", embedders)
        self.verifiers: dict[str, Verifier] = self._named("verifier", verifiers)
        self.sinks: dict[str, Sink] = self._named("sink", sinks)
        self.bridges: dict[str, Bridge] = self._named("bridge", bridges)

    def _ask(self, hook: str, kind: type) -> list[Handed]:
        found = []
        for plugin, item in self.plugins.ask(hook):
            if isinstance(item, kind):
                found.append(Handed(plugin, item))
            else:
                text = f"{hook} handed over {item!r}, which is not a {kind.__name__}"
                self.plugins.fail(plugin, PluginError(text))
        return found

    def _domain(self, plugin: Plugin, domain: Domain) -> None:
        self._claim("domain", domain.slug, plugin)
        self.domains[domain.slug] = domain
        for name, tool in domain.tools.items():
            self._claim("tool", name, plugin)
            self.tools[name] = tool
        for name, service in domain.services.items():
            self._claim("service", name, plugin)
            self.services[name] = service
        for prompt in domain.prompts:
            self._claim("prompt", prompt.name, plugin)
            self.prompts[prompt.name] = prompt
        for resource in domain.resources:
            self._claim("resource", resource.uri, plugin)
            self.resources[resource.uri] = resource

    def _named(self, kind: str, handed: list[Handed]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for plugin, item in _usable(handed):
            name = item.key if kind == "bridge" else item.name
            self._claim(kind, name, plugin)
            found[name] = item
        return found

    def _claim(self, kind: str, name: str, plugin: Plugin) -> None:
        owner = self.owners.get(f"{kind} {name}")
        if owner is not None:
            raise PluginError(
                f"{kind} {name!r} is defined by both {owner.distribution or owner.name} and "
                f"{plugin.distribution or plugin.name}; disable one of them in plugins.disabled"
            )
        self.owners[f"{kind} {name}"] = plugin

    def owner(self, tool: Tool) -> Plugin:
        return self.owners[f"tool {tool.name}"]


def _usable(handed: list[Handed]) -> list[Handed]:
    return [one for one in handed if one.plugin.error is None]
