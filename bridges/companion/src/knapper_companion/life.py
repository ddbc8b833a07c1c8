"""What runs beside a server: a probe of each vault at its start, and word to open panes of what was written."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from knapper_companion.link import link_of
from knapper_companion.panes import Panes
from knapper_companion.snapshot import Snapshot

log = logging.getLogger("knapper.companion")


@contextmanager
def life(app: Any) -> Iterator[None]:
    """Probe every vault in the background, again after each reload, and tell Obsidian of changes until the server stops."""

    def probe() -> None:
        for vault in app.vaults:
            _begin(vault.settings)

    panes = Panes(lambda vault: app.vaults.get(vault).settings)
    app.on_reload.append(probe)
    app.on_change.append(panes.changed)
    probe()
    try:
        yield
    finally:
        app.on_change.remove(panes.changed)
        app.on_reload.remove(probe)
        panes.close()


def _begin(settings: Any) -> None:
    if settings.rest_api_url is not None and settings.mode != "headless":
        threading.Thread(target=_probe, args=(settings,), name=f"probe-{settings.id}", daemon=True).start()


def _probe(settings: Any) -> None:
    found = link_of(settings).refresh(settings)
    level = logging.WARNING if settings.mode == "live" and found.companion != "reachable" else logging.INFO
    log.log(level, "vault %s: Obsidian is %s", settings.id, _described(found))
    if found.incompatible or found.outdated:
        log.warning("vault %s: the companion there is of another version; update it", settings.id)
    for warning in found.shape_warnings:
        log.warning("vault %s: the companion says: %.200s", settings.id, warning)


def _described(found: Snapshot) -> str:
    if found.companion != "reachable":
        return f"{found.companion}: {found.problem}"
    running = ", ".join(sorted(key for key, plugin in found.plugins.items() if plugin.installed))
    return f"reachable, with {running or 'no plugin that has a bridge'}"
