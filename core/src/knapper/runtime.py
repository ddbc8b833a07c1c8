"""A running server without its transports: settings, plugins, vaults and state, and the one way to call a tool."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knapper import plugins as discovery
from knapper.config.model import Settings
from knapper.config.paths import cache_dir, expanded, remember
from knapper.config.sections import sections
from knapper.dispatch.call import Call, Outcome
from knapper.dispatch.canonical import args_hash
from knapper.dispatch.pipeline import run
from knapper.dispatch.throttle import Throttle
from knapper.errors import PluginError, ToolError
from knapper.measures import declare
from knapper.metrics import Metrics
from knapper.registry import Registry
from knapper.server.view import ServerView
from knapper.sinks import Event, Hub
from knapper.store.audit import Audit
from knapper.store.confirmations import Approvals
from knapper.store.idempotency import Keys
from knapper.store.jobs import Jobs
from knapper.store.migrations import DomainTables
from knapper.store.scheduler import Scheduler
from knapper.store.snapshots import Snapshots
from knapper.store.state import State
from knapper.vaults import Vault, Vaults

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.domain import Domain, Tool
    from knapper.embed import Model

log = logging.getLogger("knapper")


class Runtime:
    """Built from settings, closed once; everything it opened is closed in reverse order."""

    def __init__(
        self,
        settings: Settings,
        plugins: discovery.Plugins,
        *,
        source: Callable[[], Settings] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.source = source or (lambda: settings)
        self.clock = clock
        self.started = clock()
        self.registry = Registry(plugins)
        self.tools: Mapping[str, Tool] = self.registry.tools
        self.sections = sections(settings, self.registry)
        self.folder = cache_dir(settings)
        self._stack = ExitStack()
        self.on_reload: list[Callable[[], None]] = []
        self.on_tools: list[Callable[[], None]] = []
        self._offered: dict[str, dict[str, Tool]] = {}
        self.on_change: list[Callable[[str, Sequence[str]], None]] = []
        self._models: dict[str, Model] = {}
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise

    def _open(self) -> None:
        settings = self.settings
        tables = [DomainTables(d.slug, d.tables) for d in self.registry.domains.values() if d.tables]
        places = {vault.id: expanded(vault.path) for vault in settings.vaults}
        self.state = State.open(self.folder / "state.db", domains=tables, vaults=places)
        self._stack.callback(self.state.close)
        self.keys = Keys(
            self.state, settings.idempotency_ttl_seconds, settings.idempotency_reclaim_seconds, now=self.clock
        )
        self.approvals = Approvals(self.state, settings.elicit_ttl_seconds, now=self.clock)
        self.snapshots = Snapshots(self.state, settings.snapshots.retention, now=self.clock)
        self.audit = Audit(self.state, now=self.clock)
        self._stack.callback(self.audit.close)
        self.metrics = Metrics()
        self.hub = Hub(self.metrics.take)
        self._stack.callback(self.hub.close)
        for name, sink in self.registry.sinks.items():
            self._add_sink(name, sink)
        self.throttle = Throttle(settings.throttle, time.monotonic)
        self.vaults = Vaults(self)
        self._stack.callback(self.vaults.close)
        self.jobs = Jobs(self.state, now=self.clock)
        self.view = ServerView(self)
        declare(self)

    def _add_sink(self, name: str, sink: Any) -> None:
        try:
            observer = sink.build(self)
        except Exception:
            log.exception("sink %s could not be built and is left out", name)
            return
        if observer is not None:
            self.hub.add(name, observer)

    def start(self) -> None:
        """Begin what runs by itself: watching, indexing, jobs, and what plugins hold for the server's life."""
        from knapper.maintenance import declare_jobs

        remember(self.folder)
        declare_jobs(self)
        scheduler = Scheduler(self.jobs)
        scheduler.start()
        self._stack.callback(scheduler.stop)
        self.vaults.start()
        for _, resource in self.registry.plugins.ask("knapper_lifespan", app=self):
            self._stack.enter_context(resource)
        self.hub.put(Event(ts=self.clock(), type="server.start"))
        self._stack.callback(lambda: self.hub.put(Event(ts=self.clock(), type="server.shutdown")))

    def close(self) -> None:
        self.vaults.stop()  # first of all: jobs that are waited for may wait for an index run themselves
        self._stack.close()

    def call(self, name: str, arguments: dict[str, Any] | None, caller: Caller, **how: Any) -> Outcome:
        """Call a tool through every gate. `how` may hold ask, cancelled, on_progress, client, elicit_token and trace."""
        raw = arguments or {}
        return run(Call(self, name, raw, caller, args_hash(name, raw), **how))

    def reload(self) -> tuple[list[str], list[str]]:
        """Read the configuration again, apply what can be applied live, and say what needs a restart."""
        from knapper.config.live import apply

        done = apply(self)
        for tell in self.on_reload:
            tell()
        return done

    def free_name(self, name: str, domain: Domain) -> bool:
        """Whether a domain may offer a tool of this name: no plugin, no other domain and no facade has it."""
        from knapper.server.facade import triad

        others = (tools for slug, tools in self._offered.items() if slug != domain.slug)
        return not any(name in taken for taken in (self.registry.tools, triad.tools, *others))

    def offer(self, domain: Domain, tools: Iterable[Tool]) -> None:
        """Replace the tools that a domain adds while the server runs, and tell whoever lists tools if any changed."""
        offered = {tool.name: tool for tool in tools}
        for name, tool in offered.items():
            domain.check(tool)
            if not self.free_name(name, domain):
                raise PluginError(f"domain {domain.slug!r} offers a tool {name!r}, which is there already")
        if offered == self._offered.get(domain.slug, {}):
            return
        self._offered[domain.slug] = offered
        added = {name: tool for each in self._offered.values() for name, tool in each.items()}
        self.tools = {**self.registry.tools, **added}
        for tell in self.on_tools:
            tell()

    def tell_changed(self, vault: str, paths: Sequence[str]) -> None:
        """Tell who wants to know which files a call has changed; they may not delay it, and cannot break it."""
        for tell in self.on_change:
            try:
                tell(vault, paths)
            except Exception:
                log.exception("an observer of changes failed")

    def section(self, domain: Domain) -> Any:
        return self.sections.get(domain.slug)

    def service(self, name: str) -> Callable[..., Any]:
        found = self.registry.services.get(name)
        if found is None:
            raise ToolError(
                "plugin_missing",
                f"no installed plugin offers {name!r}",
                plugin=name,
                reason="plugin_not_installed",
            )
        return found

    def bridge(self, key: str, vault: Vault) -> Any:
        found = self.registry.bridges.get(key)
        if found is None:
            raise ToolError(
                "plugin_missing",
                f"no bridge to {key!r} is installed",
                plugin=key,
                reason="companion_missing",
                hint=f"pip install knapper-bridge-{key}",
            )
        return found.connect(vault.settings)

    def embedding(self) -> Model:
        """The configured embedding model; loading it takes a moment, so it is done on first need."""
        return self._model

    @cached_property
    def _model(self) -> Model:
        name = self.settings.embeddings.provider
        found = self.registry.embedders.get(name)
        if found is None:
            raise ToolError(
                "embedding_provider_error",
                f"no installed plugin provides the embedder {name!r}",
                provider=name,
            )
        model: Model = found.build(self.settings.embeddings)
        return model

    @property
    def has_embedder(self) -> bool:
        return self.settings.index.vectors and self.settings.embeddings.provider in self.registry.embedders


def open_runtime(
    settings: Settings, *, strict: bool | None = None, source: Callable[[], Settings] | None = None
) -> Runtime:
    """A runtime with the installed plugins that the settings allow; `source` reads the settings again."""
    found = discovery.Plugins.discover(
        only=settings.plugins.only,
        disabled=settings.plugins.disabled,
        strict=settings.plugins.strict if strict is None else strict,
    )
    return Runtime(settings, found, source=source)


def state_path(settings: Settings) -> Path:
    """Where the state lives, for commands that open it without a server."""
    return cache_dir(settings) / "state.db"
