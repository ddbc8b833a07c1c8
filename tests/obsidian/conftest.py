"""Calls as the contract's clients see them: the data of an answer, or the number and name of an error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from knapper.server.results import of_outcome
from knapper.server.wire import ProtocolError
from knapper.testing import Calls, VaultFolder
from knapper_obsidian import obsidian
from tests.server.conftest import Pipe

SERVE = [sys.executable, "-c", "import sys; from knapper.cli import main; sys.exit(main())", "serve"]
POWERLESS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


class Error(NamedTuple):
    """An error of the protocol: its number, the contract's name for it, and what else it says."""

    number: int
    name: str
    data: dict[str, Any]
    message: str


class Contract:
    """The domain's tools, called as the contract describes them."""

    def __init__(self, call: Calls) -> None:
        self._call = call

    def __call__(self, tool: str, **arguments: Any) -> Any:
        """The data of a success."""
        answer = self._call(obsidian, f"obsidian_{tool}", **arguments)
        assert answer["success"] is True
        return answer["data"]

    def confirmed(self, tool: str, **arguments: Any) -> Any:
        """The data of a success that a person has agreed to."""
        return self._call.confirmed(obsidian, f"obsidian_{tool}", **arguments)["data"]

    def error(self, tool: str, **arguments: Any) -> Error:
        """The error that a client gets."""
        with pytest.raises(ProtocolError) as raised:
            of_outcome(self._call.outcome(obsidian, f"obsidian_{tool}", **arguments), "2024-11-05")
        data = dict(raised.value.data or {})
        return Error(raised.value.code, data["errorCode"], data, raised.value.message)


@pytest.fixture
def contract(call: Calls) -> Contract:
    return Contract(call)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which Obsidian's own list of vaults can be put."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


Start = Callable[..., Pipe]


@pytest.fixture
def serve(vault: VaultFolder, tmp_path: Path) -> Iterator[Start]:
    """Start a server on stdio that has these nine tools and no other."""
    started: list[Pipe] = []
    env = {
        **os.environ,
        "KNAPPER_CACHE_DIR": str(tmp_path / "cache"),
        "KNAPPER_PLUGINS__ONLY": '["obsidian"]',
        "KNAPPER_TOOL_FACADE__MODE": "flat",
    }

    def start(*arguments: str, before: list[str] | None = None) -> Pipe:
        started.append(Pipe([*(before or []), *SERVE, str(vault.path), *arguments], env))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


@pytest.fixture
def powerless() -> list[str]:
    """What to start a server with, so that the modes of files hold for it too where the tests run as root."""
    if os.name != "posix":
        pytest.skip("modes of files are POSIX's")
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root is stopped by no mode, and setpriv is not here")
    return POWERLESS
