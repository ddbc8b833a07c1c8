"""An Obsidian on loopback as a bridge meets it: the Local REST API, the companion's routes, and plugins behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from knapper.config.model import VaultSettings
from knapper.testing import Calls, VaultFolder
from knapper.testing_http import Asked, Loopback, Reply, loopback
from tests.companion.vaults import KEY, PATIENCE, failed, ok, settings, without_companion

PREFIX = "/obsidian-tc/v1"
PLUGINS = ("dataview", "excalidraw", "make-md", "quickadd", "tasks", "templater", "text-extractor")
Route = Callable[[Any], Any]
__all__ = ["Obsidian", "failed", "obsidian", "ok"]


class Obsidian:
    """What runs there, and how each route answers: with a result, or with a Reply of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plugins = dict.fromkeys(PLUGINS, True)
        self.companion = True
        self.routes: dict[str, Route] = {}
        self.http = Loopback(self._answer)

    @property
    def asked(self) -> list[tuple[str, Any]]:
        """The routes and bodies that were asked, without probes; each came with the key."""
        requests = [asked for asked in self.http.asked if asked.path != f"{PREFIX}/probe"]
        assert {asked.headers.get("authorization") for asked in requests} <= {f"Bearer {KEY}"}
        return [(asked.path.removeprefix(PREFIX), asked.body) for asked in requests]

    def says(self, route: str, result: Any) -> None:
        """Answer a route with the same result whatever is asked."""
        self.routes[route] = lambda _: result

    def settings(self, **given: Any) -> VaultSettings:
        """A vault that finds its Obsidian here."""
        return settings(self.folder, self.http.url, **given)

    def serve(self, call: Calls, **given: Any) -> None:
        """Have calls go to a vault that finds its Obsidian here."""
        patience = {"probe_timeout_ms": PATIENCE, "timeout_ms": PATIENCE, **given.pop("bridges", {})}
        place = {"id": "main", "path": str(self.folder), "rest_api_url": self.http.url, "rest_api_key": KEY}
        call.settings["vaults"] = [{**place, "bridges": patience, **given}]

    def _answer(self, asked: Asked) -> Reply:
        route = asked.path.removeprefix(PREFIX)
        if asked.path.startswith(PREFIX) and not self.companion:
            return without_companion(asked)
        if route == "/probe":
            known = {key: {"installed": there} for key, there in self.plugins.items()}
            return ok({"obsidianTcApiVersion": "1", "plugin_version": "1.7.0", "capabilities": known})
        if route not in self.routes:
            return without_companion(asked)
        found = self.routes[route](asked.body)
        return found if isinstance(found, Reply) else ok(found)


@pytest.fixture
def obsidian(vault: VaultFolder) -> Iterator[Obsidian]:
    """A running Obsidian with every plugin, which answers what a test has it say."""
    found = Obsidian(vault.path)
    with loopback(found._answer) as found.http:
        yield found
