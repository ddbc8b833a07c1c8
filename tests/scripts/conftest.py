"""A vault with scripts, the command that trusts them, and servers that load them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from knapper.caller import LOCAL, Caller
from knapper.cli.app import main
from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper_scripts import scripts
from knapper_scripts.life import Loader
from tests.server.conftest import Pipe

ME = Caller("me", LOCAL, authenticated=True)
SERVE = [sys.executable, "-c", "import sys; from knapper.cli import main; sys.exit(main())", "serve"]
COUNT = '''"""Count words."""

from knapper import Context, ReadPath

SCOPES = ("read:notes",)


def tool(ctx: Context, path: ReadPath) -> int:
    """Count the words of a note."""
    return len(ctx.vault.read(path).text.split())
'''
Run = Callable[..., str]


def saying(text: str, doc: str = "Say something.") -> str:
    """A script whose tool says a text."""
    return f'SCOPES = ("read:notes",)\n\ndef tool(ctx) -> str:\n    """{doc}"""\n    return {text!r}\n'


@pytest.fixture
def config(vault: VaultFolder, tmp_path: Path) -> Path:
    """A configuration with scripts switched on."""
    file = tmp_path / "knapper.json"
    settings: dict[str, Any] = {
        "vaults": [{"id": "main", "path": str(vault.path)}],
        "cache_dir": str(tmp_path / "cache"),
        "plugins": {"only": ["scripts"]},
        "tool_facade": {"mode": "flat"},
        "scripts": {"enabled": True},
    }
    file.write_text(json.dumps(settings))
    return file


@pytest.fixture
def run(config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `knapper scripts …`, and give back what it printed; its exit code where that is asked for."""
    monkeypatch.setenv("KNAPPER_PLUGINS__ONLY", '["scripts"]')

    def run(*words: str, code: int = 0) -> str:
        assert main(["scripts", words[0], "--config", str(config), *words[1:]]) == code
        out, err = capsys.readouterr()
        return out if code == 0 else err

    return run


class Tools:
    """A server in this process, whose scripts are looked at when the test says so."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.told = 0
        runtime.on_tools.append(self._tell)
        self._loader = Loader(runtime, runtime.section(scripts))

    def _tell(self) -> None:
        self.told += 1

    def look(self) -> list[str]:
        """The tools after a look at the files."""
        self._loader.look()
        return sorted(self.runtime.tools)

    def call(self, tool: str, caller: Caller = ME, **arguments: Any) -> Any:
        """What a call gives, or the code of its error."""
        outcome = self.runtime.call(tool, arguments, caller)
        return outcome.error["code"] if outcome.error else json.loads(outcome.payload)["result"]


@pytest.fixture
def tools(call: Calls, config: Path) -> Tools:
    call.settings = json.loads(config.read_text())
    return Tools(call.runtime(scripts))


@pytest.fixture
def serve(config: Path) -> Iterator[Callable[[], Pipe]]:
    """Start a server on stdio that follows the scripts by itself."""
    started: list[Pipe] = []

    def start() -> Pipe:
        started.append(Pipe([*SERVE, str(config)], dict(os.environ)))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
