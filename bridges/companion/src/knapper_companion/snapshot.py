"""What a probe found: whether the companion answers, what it is, and which plugins run beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from knapper import typed
from knapper_companion.names import API, API_FIELD, OLDEST, OLDEST_EARLIER

Reach = Literal["reachable", "missing", "unreachable"]


class Plugin(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plugin of Obsidian as the companion saw it."""

    installed: bool
    version: str | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One probe's findings; they are replaced as a whole."""

    companion: Reach
    plugins: dict[str, Plugin] = {}
    plugin_id: str | None = None
    plugin_version: str | None = None
    obsidian_version: str | None = None
    api_version: str | None = None
    shape_warnings: list[str] = []
    problem: str = ""
    answered: bool = False  # somebody is there, who does not answer as a companion does

    @property
    def incompatible(self) -> bool:
        """Whether it says that it speaks another version; one that says nothing is taken as it is."""
        return self.api_version not in (None, API)

    @property
    def outdated(self) -> bool:
        """Whether it is a companion from before the oldest that is known to work."""
        oldest = OLDEST if self.plugin_id else OLDEST_EARLIER
        return self.plugin_version is not None and _numbers(self.plugin_version) < _numbers(oldest)

    def has(self, names: Iterable[str], settings: Any) -> bool:
        """Whether a plugin runs there, by any of its names, as the vault's settings correct it."""
        wanted, corrected = set(names), settings.plugins
        if wanted & {*corrected.force_disabled}:
            return False
        if wanted & {*corrected.force_enabled}:
            return True
        return any(self.plugins[name].installed for name in wanted if name in self.plugins)

    def corrected(self, settings: Any) -> dict[str, Plugin]:
        """The plugins as the vault's settings correct them."""
        found, forced = dict(self.plugins), settings.plugins
        for name in forced.force_enabled:
            found[name] = Plugin(True, found[name].version if name in found else None)
        for name in forced.force_disabled:
            found[name] = Plugin(False)
        return found


MISSHAPEN = "this Obsidian lacks something that the companion relies on"
NOTHING = Snapshot(companion="missing")


class _Probe(msgspec.Struct):
    """The result of GET /probe; what it has beyond these fields is left alone."""

    plugin_id: str | None = None
    plugin_version: str | None = None
    obsidian_version: str | None = None
    api: str | None = msgspec.field(default=None, name=API_FIELD)
    capabilities: dict[str, Plugin] = {}
    shape_ok: bool = True
    shape_warnings: list[str] = []


def read(result: Any) -> Snapshot:
    """A probe's result as a snapshot; raises msgspec.ValidationError where it is something else."""
    probe = typed.convert(result, _Probe)
    return Snapshot(
        companion="reachable",
        plugins=probe.capabilities,
        plugin_id=probe.plugin_id,
        plugin_version=probe.plugin_version,
        obsidian_version=probe.obsidian_version,
        api_version=probe.api,
        shape_warnings=probe.shape_warnings or ([] if probe.shape_ok else [MISSHAPEN]),
    )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]
