"""What tools may know about the server itself: health, plugins, limits, rules. Never a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper import __version__
from knapper.bridge import COMPANION, BridgeState
from knapper.dispatch.visibility import verdict
from knapper.store.stats import Stats

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.domain import Prompt, Resource, Tool
    from knapper.index.view import IndexView
    from knapper.metrics import Metrics
    from knapper.runtime import Runtime
    from knapper.store.jobs import JobStatus
    from knapper.store.snapshots import Snapshots
    from knapper.store.state import DomainStore
    from knapper.vault.acl import Op, Verdict
    from knapper.vaults import Vault


class ServerView:
    """A narrow window on the runtime, for the tools that report about it or maintain it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.version = __version__

    @property
    def uptime_ms(self) -> int:
        return int((self._runtime.clock() - self._runtime.started) * 1000)

    @property
    def settings(self) -> Any:
        """The configuration; secrets in it are opaque."""
        return self._runtime.settings

    @property
    def vaults(self) -> list[Vault]:
        return list(self._runtime.vaults)

    def vault(self, id: str | None) -> Vault:
        return self._runtime.vaults.get(id)

    def visible_vaults(self, caller: Caller) -> list[Vault]:
        """The vaults a caller may know of: its own where it is bound, else all."""
        return [v for v in self._runtime.vaults if caller.vault in (None, v.id)]

    def index_of(self, vault: Vault, caller: Caller) -> IndexView:
        return vault.index_view(caller)

    def plugins(self) -> list[dict[str, Any]]:
        """Every plugin that was found, what it implements, and why it failed where it did."""
        return [
            {
                "name": p.name,
                "distribution": p.distribution,
                "version": p.version,
                "state": p.state,
                "hooks": p.hooks,
            }
            | ({"error": p.error} if p.error else {})
            for p in self._runtime.registry.plugins.all
        ]

    def listed(self, caller: Caller | None = None) -> list[Tool]:
        """The tools a caller is shown."""
        from knapper.server.facade import listed

        return listed(self._runtime, caller)

    def tools(self, caller: Caller | None = None) -> list[str]:
        rules = self._runtime.settings.tool_visibility
        return sorted(n for n, t in self._runtime.tools.items() if verdict(t, rules, caller) == "listed")

    @property
    def prompts(self) -> dict[str, Prompt]:
        """Prompts that domains offer."""
        return self._runtime.registry.prompts

    @property
    def resources(self) -> list[Resource]:
        """Resources that domains offer under addresses of their own."""
        return list(self._runtime.registry.resources.values())

    def evaluate(self, vault: Vault, op: Op, path: str, exempt: frozenset[str] = frozenset()) -> Verdict:
        """The verdict of the evaluator that also enforces."""
        return vault.acl.evaluate(op, path, exempt)

    def stats(self) -> Stats:
        return Stats(self._runtime.state)

    @property
    def metrics(self) -> Metrics:
        """What is counted and measured, for whoever shows it."""
        return self._runtime.metrics

    @property
    def vectors_by_extension(self) -> bool:
        """Whether sqlite-vec searches the vectors, or numpy does."""
        return all(vault.index.vectors.engine == "sqlite-vec" for vault in self._runtime.vaults)

    def obsidian_plugins(self, vault: Vault) -> list[str]:
        """The community plugins that are enabled in the vault's own settings."""
        return vault.obsidian_plugins()

    def capabilities(self, vault: Vault) -> list[str]:
        """What can be done in a vault: the installed domains, and the bridges over which Obsidian answers."""
        bridges = self._runtime.registry.bridges.values()
        open_ = (b.key for b in bridges if b.state is None or b.state(vault.settings, False).state == "live")
        return sorted(self._runtime.registry.domains) + sorted(f"bridge:{key}" for key in open_)

    def obsidian(self, vault: Vault) -> BridgeState | None:
        """How a vault stands with a running Obsidian, as far as that is known; None without a companion."""
        found = self._runtime.registry.bridges.get(COMPANION)
        return found.state(vault.settings, False) if found and found.state else None

    def jobs(self) -> list[JobStatus]:
        """Every job on the schedule, and how it stands."""
        return self._runtime.jobs.status()

    def snapshots(self) -> Snapshots:
        return self._runtime.snapshots

    def store(self, domain: str) -> DomainStore:
        """A domain's own tables, for a service that it offers to tools of others."""
        return self._runtime.state.domain(domain)

    def reload(self) -> tuple[list[str], list[str]]:
        """Read the configuration again; what was applied, and what needs a restart."""
        return self._runtime.reload()

    def reset_cache(
        self, vault: Vault, *, index: bool, vectors: bool, keys: bool, log: bool
    ) -> dict[str, int]:
        """Drop derived or expired state of a vault and begin to build the index anew."""
        from knapper.maintenance import reset_cache

        return reset_cache(self._runtime, vault, index=index, vectors=vectors, keys=keys, log=log)
