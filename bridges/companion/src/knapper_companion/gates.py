"""Whether a live engine can be asked: the first thing that stands in its way, in a fixed order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from knapper.errors import ToolError
from knapper_companion.link import Link, link_of
from knapper_companion.names import API, HOST, PLUGIN
from knapper_companion.snapshot import Snapshot

INSTALL = (
    "Run `knapper plugin install --vault PATH`, then enable knapper-companion and Local REST API in Obsidian."
)


class Target(NamedTuple):
    """A plugin that is asked for: the bridge's key, the plugin's id, and what the companion calls it."""

    key: str
    plugin_id: str
    capability: str

    @property
    def names(self) -> set[str]:
        return {self.key, self.plugin_id, self.capability}


Gate = Callable[[Snapshot, Any, Target], ToolError | None]


def headless(settings: Any, target: Target) -> ToolError:
    """The first gate, which is passed without a probe."""
    message = (
        f"{target.key!r} needs a running Obsidian, and the mode of the vault {settings.id!r} is headless"
    )
    hint = "Use engine native, or set the vault's mode to auto."
    return ToolError("requires_live_obsidian", message, tool=target.key, hint=hint)


def incompatible(found: Snapshot, settings: Any, target: Target) -> ToolError | None:
    if not found.incompatible:
        return None
    message = f"the companion in Obsidian speaks version {found.api_version!r}, and this server {API!r}"
    details = {"plugin": target.key, "companion_api": found.api_version, "expected_api": API}
    return ToolError("plugin_incompatible", message, **details, hint=INSTALL)


def unreachable(found: Snapshot, settings: Any, target: Target) -> ToolError | None:
    if found.companion != "unreachable":
        return None
    message = f"Obsidian cannot be asked for {target.key!r}: {found.problem}"
    hint = f"Start Obsidian with the vault open and the plugin {HOST} enabled."
    return ToolError("plugin_unreachable", message, plugin=target.key, companion="unreachable", hint=hint)


def without_companion(found: Snapshot, settings: Any, target: Target) -> ToolError | None:
    if found.companion != "missing":
        return None
    message = f"{target.key!r} needs the plugin {PLUGIN} in Obsidian: {found.problem}"
    hint = INSTALL if settings.rest_api_url else f"{INSTALL} Then set rest_api_url and rest_api_key."
    return ToolError("plugin_missing", message, plugin=target.key, reason="companion_missing", hint=hint)


def without_plugin(found: Snapshot, settings: Any, target: Target) -> ToolError | None:
    if found.has(target.names, settings):
        return None
    off = target.names & {*settings.plugins.force_disabled}
    why = "is switched off by force_disabled" if off else "does not run in Obsidian"
    hint = f"Install and enable {target.plugin_id} in Obsidian."
    details = {"plugin": target.plugin_id, "reason": "plugin_not_installed", "hint": hint}
    return ToolError("plugin_missing", f"the plugin {target.plugin_id!r} {why}", **details)


def without_any(found: Snapshot, settings: Any, target: Target) -> ToolError | None:
    """For what the companion does by itself, a missing one is only one more way of not being reached."""
    if found.companion == "reachable":
        return None
    message = f"Obsidian cannot be asked for {target.key!r}: {found.problem}"
    details = {"plugin": target.key, "companion": found.companion, "hint": INSTALL}
    return ToolError("plugin_unreachable", message, **details)


OF_A_PLUGIN: tuple[Gate, ...] = (incompatible, unreachable, without_companion, without_plugin)
OF_THE_COMPANION: tuple[Gate, ...] = (incompatible, without_any)


def passed(settings: Any, target: Target, gates: tuple[Gate, ...]) -> Link:
    """The link, or the first refusal; before refusing, Obsidian is asked again where the last probe is old."""
    if settings.mode == "headless":
        raise headless(settings, target)
    link = link_of(settings)
    refused = first(gates, link.snapshot(settings), settings, target)
    if refused and link.stale:
        refused = first(gates, link.renewed(settings), settings, target)
    if refused:
        raise refused
    return link


def first(gates: tuple[Gate, ...], found: Snapshot, settings: Any, target: Target) -> ToolError | None:
    """The first gate's refusal, or None where all let through."""
    refusals = (gate(found, settings, target) for gate in gates)
    return next((refusal for refusal in refusals if refusal is not None), None)
