"""Discovery and isolation of plugins: what loaded, what failed and why.

pluggy's own loader ends at the first failing import, so plugins are loaded here one by one; pluggy still checks each
implementation against the hookspecs and traces the calls.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import pluggy

from knapper import hookspecs
from knapper.errors import PluginError

log = logging.getLogger("knapper.plugins")
GROUP = "knapper"
HOOKS = tuple(name for name in vars(hookspecs) if name.startswith("knapper_"))


class _Manager(pluggy.PluginManager):
    """pluggy would look closely at every name of a module; what is a hook is known, and checked, before it is asked."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        return super().parse_hookimpl_opts(plugin, name) if name in HOOKS else None


class Plugin:
    """One plugin: where it comes from, what it implements, and why it failed if it did."""

    def __init__(self, name: str, distribution: str, version: str, module: str) -> None:
        self.name = name
        self.distribution = distribution
        self.version = version
        self.module = module
        self.object: ModuleType | None = None
        self.hooks: list[str] = []
        self.error: str | None = None

    @property
    def state(self) -> str:
        return "failed" if self.error else "loaded" if self.object else "disabled"

    def __repr__(self) -> str:
        return f"<plugin {self.name} of {self.distribution} {self.version}: {self.state}>"


class Plugins:
    """The plugins of one server. Tests give modules directly and nothing is discovered."""

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.all: list[Plugin] = []
        self._pm = _Manager("knapper")
        self._pm.add_hookspecs(hookspecs)

    @classmethod
    def discover(
        cls, *, only: Iterable[str] | None = None, disabled: Iterable[str] = (), strict: bool = False
    ) -> Plugins:
        """Load every installed plugin that the configuration allows, in the order of their names."""
        plugins = cls(strict=strict)
        if os.environ.get("KNAPPER_TRACE_HOOKS"):
            plugins.trace(sys.stderr.write)
        wanted, unwanted = None if only is None else set(only), set(disabled)
        for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
            plugin = _described(entry)
            plugins.all.append(plugin)
            if (wanted is None or entry.name in wanted) and entry.name not in unwanted:
                plugins._load(plugin, entry)
        return plugins

    def add(self, module: Any, name: str | None = None) -> Plugin:
        """Register a module or object as a plugin, as if it had been found under this name."""
        plugin = Plugin(
            name or str(getattr(module, "__name__", module)), "", "", getattr(module, "__name__", "")
        )
        self.all.append(plugin)
        try:
            self._register(plugin, module)
        except Exception as error:  # noqa: BLE001 - a plugin may fail in any way, and costs only itself
            self._fail(plugin, error)
        return plugin

    def ask(self, hook: str, **arguments: Any) -> Iterator[tuple[Plugin, Any]]:
        """What each plugin hands over for a hook, one by one; a plugin that raises is marked failed and left out."""
        for plugin in self.all:
            if plugin.object is None or plugin.error or hook not in plugin.hooks:
                continue
            others = [p.object for p in self.all if p.object is not None and p is not plugin]
            try:
                answers = self._pm.subset_hook_caller(hook, remove_plugins=others)(**arguments)
                for answer in answers:
                    yield from ((plugin, item) for item in _flat(answer))
            except Exception as error:  # noqa: BLE001 - as above
                self._fail(plugin, error, hook)

    def trace(self, write: Callable[[str], Any]) -> None:
        """Report every hook call to a writer of text."""
        self._pm.trace.root.setwriter(write)
        self._pm.enable_tracing()

    @property
    def failed(self) -> list[Plugin]:
        return [p for p in self.all if p.error]

    def fail(self, plugin: Plugin, error: Exception) -> None:
        """Record that what a plugin handed over cannot be used."""
        self._fail(plugin, error)

    def _load(self, plugin: Plugin, entry: EntryPoint) -> None:
        try:
            self._register(plugin, entry.load())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as above, a script that exits included
            self._fail(plugin, error)

    def _register(self, plugin: Plugin, module: Any) -> None:
        for other in self.all:
            if other.name == plugin.name and other.object is not None:
                theirs = other.distribution or other.module
                raise PluginError(
                    f"{theirs} already has a plugin named {plugin.name!r}; uninstall one of them"
                )
        hooks = _implemented(plugin.name, module)
        try:
            self._pm.register(module, name=plugin.name)
        except pluggy.PluginValidationError as error:
            self._pm.unregister(name=plugin.name)  # its hooks before the bad one are registered already
            raise PluginError(str(error).replace("\n", "; ")) from error
        plugin.object, plugin.hooks = module, hooks

    def _fail(self, plugin: Plugin, error: BaseException, hook: str = "") -> None:
        owner = f" of {plugin.distribution or plugin.module}".removesuffix(" of ")
        if self.strict:
            raise PluginError(f"plugin {plugin.name!r}{owner}: {error}") from error
        where = f" in {hook}" if hook else ""
        plugin.error = f"{type(error).__name__}{where}: {error}"
        log.warning("plugin %s%s failed and is left out: %s", plugin.name, owner, plugin.error)


def _described(entry: EntryPoint) -> Plugin:
    if entry.dist is None:
        return Plugin(entry.name, "", "", entry.module)
    told = entry.dist.metadata  # read anew each time it is asked for
    return Plugin(entry.name, told["Name"] or "", told["Version"] or "", entry.module)


def _flat(answer: Any) -> Iterator[Any]:
    if answer is None:
        return
    if isinstance(answer, Iterable) and not isinstance(answer, str):
        yield from answer
    else:
        yield answer


def _implemented(name: str, module: Any) -> list[str]:
    """The hooks a module implements; a name that is nearly a hook, or a hook without its mark, is an error."""
    found = []
    for attribute in dir(module):
        value = getattr(module, attribute)
        marked = getattr(value, "knapper_impl", None) is not None
        if not (marked or attribute.startswith("knapper_")) or not callable(value):
            continue
        if attribute not in HOOKS:
            near = get_close_matches(attribute, HOOKS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; the hooks are {', '.join(HOOKS)}"
            raise PluginError(f"plugin {name!r} implements {attribute!r}, which is not a hook{hint}")
        if not marked:
            raise PluginError(f"plugin {name!r} defines {attribute!r} without @hookimpl")
        found.append(attribute)
    return found
