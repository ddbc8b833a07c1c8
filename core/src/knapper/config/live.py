"""Applying a changed configuration to a running server, as far as that can be done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from knapper.dispatch.throttle import Throttle

if TYPE_CHECKING:
    from knapper.runtime import Runtime

LIVE = frozenset({"acl", "throttle", "tool_visibility", "governor", "writes", "snapshots"})
LIVE_IN_VAULT = frozenset({"acl", "kind", "bridges", "plugins", "commands", "mode", "auto_mode_explain"})


def apply(runtime: Runtime) -> tuple[list[str], list[str]]:
    """What of the configuration as it is now was applied, and what needs a restart."""
    new, old = runtime.source(), runtime.settings
    changed = [name for name in type(new).model_fields if getattr(new, name) != getattr(old, name)]
    live = [name for name in changed if name in LIVE]
    later = [name for name in changed if name not in LIVE and name != "vaults"]
    runtime.settings = old.model_copy(update={name: getattr(new, name) for name in live})
    if "throttle" in live:
        runtime.throttle = Throttle(new.throttle, time.monotonic)
    vaults_live, vaults_later = _vaults(runtime, new)
    return live + vaults_live, later + vaults_later


def _vaults(runtime: Runtime, new: Any) -> tuple[list[str], list[str]]:
    live, later = [], []
    known = {vault.id: vault for vault in runtime.vaults}
    for settings in new.vaults:
        vault = known.pop(settings.id, None)
        if vault is None:
            later.append(f"vaults.{settings.id}")
            continue
        different = [
            n for n in type(settings).model_fields if getattr(settings, n) != getattr(vault.settings, n)
        ]
        live += [f"vaults.{settings.id}.{name}" for name in different if name in LIVE_IN_VAULT]
        later += [f"vaults.{settings.id}.{name}" for name in different if name not in LIVE_IN_VAULT]
        update = {name: getattr(settings, name) for name in different if name in LIVE_IN_VAULT}
        vault.apply(vault.settings.model_copy(update=update))
    return live, later + [f"vaults.{id}" for id in known]
