from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from knapper import ToolError, hookimpl
from knapper.bridge import Bridge
from knapper.testing import Calls, VaultFolder
from tests.live_obsidian import Obsidian, obsidian
from tests.obsidian.conftest import Contract

__all__ = ["obsidian"]  # a fixture
ENOUGH = 30.0
RECORD = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"
STUBBORN = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
signal.pause()
"""


class Companion:
    """A companion that keeps what it was asked, or does not answer."""

    def __init__(self, problem: ToolError | None = None) -> None:
        self.problem = problem
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(self, route: str, **body: Any) -> dict[str, Any]:
        if self.problem:
            raise self.problem
        self.asked.append((route, body))
        return {}

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("companion", "knapper-companion", lambda settings: self)


def away() -> Companion:
    return Companion(ToolError("plugin_unreachable", "Obsidian does not answer", plugin="companion"))


def in_mode(vault: VaultFolder, mode: str) -> dict[str, Any]:
    return {"vaults": [{"id": "main", "path": str(vault.path), "mode": mode}]}


@pytest.fixture(autouse=True)
def _no_list_of_vaults(home: Path) -> None:
    """Whatever Obsidian is on the machine of the tests."""


def test_the_companion_shows_a_note(contract: Contract, call: Calls, vault: VaultFolder) -> None:
    vault["Cook/Soup.md"] = "s"
    companion = Companion()
    call.plugins = [companion]
    assert contract("open_note", file="Soup", newtab=True) == {"path": "Cook/Soup.md", "opened": True}
    assert companion.asked == [("/notes/open", {"path": "Cook/Soup.md", "newtab": True})]


@pytest.mark.parametrize("companion", [[], [away()]], ids=["none", "away"])
def test_where_obsidian_cannot_be_asked_the_link_is_handed_back(
    contract: Contract, call: Calls, vault: VaultFolder, companion: list[Companion]
) -> None:
    vault["Cook/Leek & Soup.md"] = "s"
    call.plugins = companion
    assert contract("open_note", file="Leek & Soup", newtab=True) == {
        "path": "Cook/Leek & Soup.md",
        "opened": False,
        "uri": "obsidian://open?vault=vault&file=Cook%2FLeek%20%26%20Soup.md&paneType=tab",
    }


def test_a_vault_that_needs_obsidian_says_that_it_does_not_run(
    contract: Contract, call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "a"
    call.settings, call.plugins = in_mode(vault, "live"), [away()]
    error = contract.error("open_note", file="a")
    assert (error.number, error.name) == (-32001, "OBSIDIAN_NOT_RUNNING")
    assert contract("read_note", file="a")["content"] == "a"


def test_a_vault_without_obsidian_never_asks_it(contract: Contract, call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a"
    companion = Companion()
    call.settings, call.plugins = in_mode(vault, "headless"), [companion]
    assert contract("open_note", file="a")["opened"] is False
    assert companion.asked == []


def test_what_is_not_there_is_not_opened(contract: Contract, call: Calls, vault: VaultFolder) -> None:
    companion = Companion()
    call.plugins = [companion]
    assert contract.error("open_note", path="Gone.md").name == "FILE_NOT_FOUND"
    assert companion.asked == []


def test_the_configured_opener_gets_the_link_as_one_argument(
    contract: Contract, call: Calls, vault: VaultFolder, tmp_path: Path
) -> None:
    vault["--flag; x.md"] = "s"
    call.settings = {"obsidian": {"opener": [sys.executable, "-c", RECORD, str(tmp_path / "got")]}}
    assert contract("open_note", file="--flag; x")["opened"] is True
    assert (tmp_path / "got").read_text() == "obsidian://open?vault=vault&file=--flag%3B%20x.md"


@pytest.mark.parametrize("opener", [["/no/such/program"], [sys.executable, "-c", "raise SystemExit(3)"]])
def test_an_opener_that_fails_is_told(
    contract: Contract, call: Calls, vault: VaultFolder, opener: list[str]
) -> None:
    vault["a.md"] = "a"
    call.settings = {"obsidian": {"opener": opener}}
    assert contract.error("open_note", file="a").name == "OBSIDIAN_NOT_RUNNING"


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_tool_stops_at_its_own_limit_and_its_child_is_gone(
    contract: Contract, call: Calls, vault: VaultFolder, tmp_path: Path
) -> None:
    vault["a.md"] = "a"
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    call.settings = {
        "obsidian": {
            "opener": [sys.executable, "-c", STUBBORN, str(pid)],
            "timeouts": {"obsidian_open_note": 1.5},
        }
    }
    child: list[int] = []
    reader = threading.Thread(target=lambda: child.append(int(pid.read_text())), daemon=True)
    reader.start()
    error = contract.error("open_note", file="a")
    assert (error.number, error.name, error.data["seconds"]) == (-32006, "TIMEOUT", 1.5)
    reader.join(ENOUGH)
    assert ended(child[0])


def ended(pid: int) -> bool:
    """Wait until a child of this process is gone: killed, and its end taken note of."""
    pause = threading.Event()
    for _ in range(int(ENOUGH / 0.05)):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        pause.wait(0.05)
    return False


def test_a_limit_is_for_a_tool_that_there_is(call: Calls, contract: Contract, vault: VaultFolder) -> None:
    from knapper import ConfigError

    call.settings = {"obsidian": {"timeouts": {"obsidian_raed_note": 1}}}
    with pytest.raises(ConfigError, match="there is no tool 'obsidian_raed_note'"):
        contract("read_note", path="a.md")


def test_each_tool_has_the_limit_of_its_kind() -> None:
    from knapper_obsidian.domain import ObsidianSettings, obsidian

    assert obsidian.limit is not None
    usual = {name: obsidian.limit(ObsidianSettings(), tool) for name, tool in obsidian.tools.items()}
    assert {name.removeprefix("obsidian_"): seconds for name, seconds in usual.items()} == {
        "read_note": 10,
        "file_info": 10,
        "create_note": 30,
        "append_note": 30,
        "prepend_note": 30,
        "delete_note": 30,
        "open_note": 30,
        "move_note": 60,
        "rename_note": 60,
    }


def test_a_running_obsidian_is_told_over_the_companions_own_route(
    contract: Contract, call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    call.plugins = [pytest.importorskip("knapper_companion")]
    obsidian.serve(call)
    obsidian.says("/notes/open", {"path": "Cook/Soup.md"})
    vault["Cook/Soup.md"] = "s"
    assert contract("open_note", file="Soup") == {"path": "Cook/Soup.md", "opened": True}
    assert obsidian.asked == [("/notes/open", {"path": "Cook/Soup.md", "newtab": False})]


def test_an_obsidian_without_the_companion_leaves_the_link(
    contract: Contract, call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    call.plugins = [pytest.importorskip("knapper_companion")]
    obsidian.companion = False
    obsidian.serve(call)
    vault["a.md"] = "a"
    assert contract("open_note", file="a")["uri"] == "obsidian://open?vault=vault&file=a.md"
