"""Obsidian for tests: the built companion in Node, in an app with the plugins a test names, over a real vault folder.

    with obsidian(vault.path, plugins={"dataview": {"queries": {"LIST": {"type": "list", "values": []}}}}) as app:
        call.settings = {"vaults": [app.vault()]}

What each plugin's double takes is in app/plugins.mjs. Where Node is missing, the test is skipped and says so.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import knapper_companion
from knapper.config.model import VaultSettings
from tests.companion.vaults import KEY, PATIENCE

if TYPE_CHECKING:
    from tests.companion.certificates import (
        Certificate,  # what makes them is not installed for every bridge's tests
    )

APP = Path(__file__).parent / "app" / "obsidian.mjs"
BUILT = Path(knapper_companion.__file__).parent / "plugin"


class Obsidian:
    """A running app: where it listens, and what can be done in it."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, tls: Certificate | None) -> None:
        self._process = process
        self.folder = folder
        self._tls = tls
        self.url = ""

    def listen(self, config: dict[str, Any]) -> None:
        port = self._exchange(config)["port"]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"

    def vault(self, **given: Any) -> dict[str, Any]:
        """The vault's entry of a configuration that finds this app."""
        patience = ("timeout_ms", "probe_timeout_ms", "ocr_timeout_ms", "templater_timeout_ms")
        base = {
            "id": "main",
            "path": str(self.folder),
            "rest_api_url": self.url,
            "rest_api_key": KEY,
            "rest_api_certificate": self._tls.digest if self._tls else None,
            "bridges": dict.fromkeys(patience, PATIENCE),
        }
        return {**base, **given}

    def settings(self, **given: Any) -> VaultSettings:
        return VaultSettings.model_validate(self.vault(**given))

    def do(self, act: str, **given: Any) -> Any:
        """Do something that a person, or the app itself, would do; the acts are in app/obsidian.mjs."""
        answer = self._exchange({"act": act, **given})
        assert "done" in answer, answer
        return answer["done"]

    def state(self) -> dict[str, Any]:
        """The open panes, and what was asked, done, said and noticed since the last look."""
        found: dict[str, Any] = self.do("state")
        return found

    def events(self, *kinds: str) -> list[Any]:
        """What happened since the last look, of these kinds."""
        return [detail for what, detail in self.state()["events"] if what in kinds]

    def _exchange(self, line: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "Obsidian's double ended; its stderr says why"
        found: dict[str, Any] = json.loads(answer)
        return found


def node() -> str:
    """Node, or the test is skipped."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node is not installed, and the plugin inside Obsidian runs in it")
    return found


@contextmanager
def obsidian(
    folder: Path,
    *,
    plugins: dict[str, Any] | None = None,
    tls: Certificate | None = None,
    built: Path = BUILT,
    **config: Any,
) -> Iterator[Obsidian]:
    """The app with these plugins running, for as long as the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    given = {"vault": str(folder), "key": KEY, "plugins": plugins or {}, "tls": None, **config}
    if tls is not None:
        given["tls"] = {"certificate": str(tls.certificate), "key": str(tls.key)}
    given |= {"main": str(built / "main.js"), "manifest": str(built / "manifest.json")}
    pipe = subprocess.PIPE
    command = [node(), str(APP)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
        found = Obsidian(process, folder, tls)
        try:
            found.listen(given)
            yield found
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(60)
