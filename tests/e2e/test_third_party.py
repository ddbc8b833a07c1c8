"""A plugin from outside the tree, in an environment of its own, as somebody else would install it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from devtools.environment import Installer, executable, installer
from devtools.members import ROOT, group, members

BROKEN = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "knapper-broken"
version = "1.0"
dependencies = ["knapper-core>=0.1,<1"]

[project.entry-points.knapper]
broken = "knapper_broken"
"""


class Elsewhere:
    """A folder outside the tree with an environment that has only the core's wheel."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = folder / "env"
        self._tools: Installer = installer(ROOT, Path(sys.prefix))
        self._tools.create(self.env, sys.executable, pip=self._tools.uv is None)

    def install(self, *arguments: str) -> None:
        self._tools.install(self.env, *arguments, compile_bytecode=False)

    def uninstall(self, name: str) -> None:
        self._tools.uninstall(self.env, name)

    def run(self, *command: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
        clean = {
            k: v for k, v in os.environ.items() if not k.startswith(("KNAPPER_", "PYTHON", "VIRTUAL_ENV"))
        }
        home = {
            "HOME": str(self.folder),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        program, *rest = command
        return subprocess.run(
            [executable(self.env, str(program)), *rest],
            cwd=self.folder,
            env=clean | home,
            input=text,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def json(self, *command: str | Path) -> Any:
        done = self.run(*command)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    folder = tmp_path_factory.mktemp("elsewhere")
    made = Elsewhere(folder)
    core = members(ROOT)[0]
    outside = [*core.dependencies, *group(ROOT, "test"), "hatchling>=1.27,<2"]
    try:
        made.install("--constraint", str(ROOT / "constraints.txt"), *outside)
    except SystemExit as error:
        pytest.skip(f"nothing can be installed here: {error}")
    build = [sys.executable, "-m", "devtools.builds", str(folder), str(core.path)]
    wheel = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    copytree(ROOT / "examples" / "knapper-echo", folder / "knapper-echo")
    copytree(ROOT / "tests" / "echo", folder / "tests")
    made.install("--no-deps", "--no-build-isolation", wheel, str(folder / "knapper-echo"))
    (folder / "Notes").mkdir()
    (folder / "Notes" / "a.md").write_text("First line\nSecond line\n", encoding="utf-8")
    return made


def test_its_own_tests_pass_there(elsewhere: Elsewhere) -> None:
    done = elsewhere.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 passed" in done.stdout


def test_the_server_finds_it_by_its_entry_point(elsewhere: Elsewhere) -> None:
    (plugin,) = elsewhere.json("knapper", "plugins", "--json")
    assert (plugin["name"], plugin["distribution"], plugin["state"]) == ("echo", "knapper-echo", "loaded")
    assert plugin["provides"] == [
        "domain echo",
        "tool say",
        "tool first_line",
        "tool write_down",
        "embedder echo",
        "verifier echo",
        "sink echo",
    ]


def test_its_tools_can_be_called_over_the_protocol(elsewhere: Elsewhere) -> None:
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "first_line", "arguments": {"path": "a.md"}}},
    ]
    text = "".join(json.dumps({"jsonrpc": "2.0"} | message) + "\n" for message in messages)
    done = elsewhere.run("knapper", "serve", "Notes", text=text)
    answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers[2]["result"]["structuredContent"] == {"path": "a.md", "text": "First line"}


def test_a_broken_plugin_costs_only_itself_and_no_command_that_helps(elsewhere: Elsewhere) -> None:
    broken = elsewhere.folder / "knapper-broken"
    package = broken / "src" / "knapper_broken"
    package.mkdir(parents=True)
    (broken / "pyproject.toml").write_text(BROKEN, encoding="utf-8")
    (package / "__init__.py").write_text("from a_library_of_2019 import everything\n", encoding="utf-8")
    elsewhere.install("--no-deps", "--no-build-isolation", str(broken))
    states = {plugin["name"]: plugin for plugin in elsewhere.json("knapper", "plugins", "--json")}
    assert (states["echo"]["state"], states["broken"]["state"]) == ("loaded", "failed")
    assert states["broken"]["error"] == "ModuleNotFoundError: No module named 'a_library_of_2019'"
    assert [tool["name"] for tool in elsewhere.json("knapper", "tools", "--json")] == [
        "first_line",
        "say",
        "write_down",
    ]

    elsewhere.uninstall("knapper-echo")  # the last test: from here on every plugin there is broken
    (plugin,) = elsewhere.json("knapper", "plugins", "--json")
    assert plugin["state"] == "failed"
    report = elsewhere.json("knapper", "doctor", "Notes", "--json")
    assert report["checks"]["plugins.loaded"]["summary"] == "0 of 1 plugins work"
    assert elsewhere.json("knapper", "config", "show", "Notes", "--json")["vaults"][0]["id"] == "main"
    assert elsewhere.run("knapper", "plugins", "--strict").returncode == 1
