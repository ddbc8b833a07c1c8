"""How a vault stands with Obsidian: live, degraded or headless, and why."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

from knapper.bridge import BridgeState
from knapper.config.paths import expanded
from knapper_companion import gates
from knapper_companion.gates import Target
from knapper_companion.link import link_of
from knapper_companion.names import HOST
from knapper_companion.snapshot import Snapshot


def of_vault(settings: Any, *, ask: bool = False) -> BridgeState:
    """What is known, without a request; with `ask`, from a probe made now."""
    if settings.mode == "headless":
        return BridgeState("headless", "mode-headless")
    link = link_of(settings)
    found = link.refresh(settings) if ask else link.known
    if found is None:
        return BridgeState("unknown", "not-probed") if link.configured else _without(settings)
    if found.incompatible:
        return BridgeState("degraded", "version-skew")
    if found.companion == "reachable":
        return BridgeState("live", "companion-reachable")
    if found.companion == "missing":
        return BridgeState("headless", "companion-missing") if link.configured else _without(settings)
    return BridgeState("degraded", "companion-unreachable") if found.answered else _silent(settings)


def of_plugin(settings: Any, target: Target, *, ask: bool = False) -> BridgeState:
    """The same for one plugin: live only where it runs there."""
    found = of_vault(settings, ask=ask)
    known = link_of(settings).known
    if found.state != "live" or known is None:
        return found
    if gates.without_plugin(known, settings, target) is None:
        return found
    off = target.names & {*settings.plugins.force_disabled}
    return BridgeState("headless", "plugin-disabled" if off else "plugin-not-installed")


def mode(settings: Any, found: Snapshot) -> Literal["live", "headless"]:
    """The mode in effect: what is configured, and for auto what the probe found."""
    reached = settings.rest_api_url is not None and found.companion == "reachable"
    return "live" if settings.mode == "live" or (settings.mode == "auto" and reached) else "headless"


def _without(settings: Any) -> BridgeState:
    """No address is configured: the vault's own folder says how far Obsidian is prepared."""
    folder = expanded(settings.path) / ".obsidian"
    return _on_disk(folder) or BridgeState("headless", "companion-missing")


def _silent(settings: Any) -> BridgeState:
    """Nobody answers: the vault's own folder may say why."""
    folder = expanded(settings.path) / ".obsidian"
    if not os.path.isdir(folder):  # noqa: PTH112 (Path.is_dir raises in a folder that may not be entered)
        return BridgeState("degraded", "companion-unreachable")
    return _on_disk(folder) or BridgeState("degraded", "enabled-but-unreachable")


def _on_disk(folder: Path) -> BridgeState | None:
    """Why the Local REST API cannot run by what Obsidian keeps in the vault; None where it could."""
    if not os.path.isfile(folder / "plugins" / HOST / "manifest.json"):  # noqa: PTH113 (Path.is_file may raise)
        return BridgeState("headless", "plugin-not-installed")
    return None if HOST in _enabled(folder) else BridgeState("headless", "plugin-disabled")


def _enabled(folder: Path) -> list[Any]:
    try:
        listed = json.loads((folder / "community-plugins.json").read_bytes())
    except (OSError, ValueError):
        return []
    return listed if isinstance(listed, list) else []
