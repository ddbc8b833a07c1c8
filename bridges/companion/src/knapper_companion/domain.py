"""The tool that looks again at what runs in Obsidian."""

from __future__ import annotations

from typing import Any, Literal

from knapper import Context, Domain, Record
from knapper_companion import state
from knapper_companion.link import link_of
from knapper_companion.snapshot import NOTHING, Plugin

companion = Domain("companion", summary="What runs in Obsidian beside the server.", group="admin")


class Capabilities(Record):
    vault: str
    probed_at: str
    companion: Literal["reachable", "missing", "unreachable"]
    mode: Literal["live", "headless"]
    state: Literal["live", "degraded", "headless", "unknown"]
    reason: str
    plugins: dict[str, Plugin]
    changed: list[str]
    plugin_version: str | None = None
    obsidian_version: str | None = None
    api_version: str | None = None
    shape_warnings: list[str] | None = None
    problem: str | None = None


@companion.tool(
    "admin:vault",
    reach="what the server knows of Obsidian's plugins",
    words="detect plugins connected reconnect",
)
def refresh_plugin_capabilities(ctx: Context) -> Capabilities:
    """Look again whether Obsidian answers for a vault and which of its plugins run there."""
    settings: Any = ctx.vault_settings
    link = link_of(settings)
    before = link.known or NOTHING
    found = before if settings.mode == "headless" else link.refresh(settings)
    stands = state.of_vault(settings)
    return Capabilities(
        vault=ctx.vault.vault,
        probed_at=ctx.stamp(),
        companion=found.companion,
        mode=state.mode(settings, found),
        state=stands.state,
        reason=stands.reason,
        plugins=found.corrected(settings),
        changed=_changed(before.corrected(settings), found.corrected(settings)),
        plugin_version=found.plugin_version,
        obsidian_version=found.obsidian_version,
        api_version=found.api_version,
        shape_warnings=found.shape_warnings or None,
        problem=found.problem or None,
    )


def _changed(before: dict[str, Plugin], now: dict[str, Plugin]) -> list[str]:
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
