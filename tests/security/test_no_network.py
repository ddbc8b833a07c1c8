"""With the default configuration the server connects to nothing: every tool is called while every attempt is noted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Pipe

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMMAND = [sys.executable, "-c", "import sys; from knapper.cli import main; sys.exit(main())"]
ALONE = ["unshare", "--map-root-user", "--net"]


def environment(folder: Path) -> dict[str, str]:
    """A machine on which nothing is configured, and a Python that reports every use of the network."""
    path = [str(HERE / "offline"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KNAPPER_", "XDG_"))}
    report = {"KNAPPER_TEST_NETWORK_REPORT": str(folder / "attempts")}
    return kept | report | {"PYTHONPATH": os.pathsep.join(filter(None, path)), "HOME": str(folder)}


def attempts(folder: Path) -> list[str]:
    report = folder / "attempts"
    return report.read_text().splitlines() if report.exists() else []


def every_tool(folder: Path, *before: str) -> dict[str, Any]:
    (folder / "vault").mkdir(parents=True)
    done = subprocess.run(
        [*before, sys.executable, "-m", "tests.security.offline.every_tool", str(folder / "vault")],
        env=environment(folder),
        cwd=ROOT,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_report_notices_an_attempt(tmp_path: Path) -> None:
    attempt = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')"
    done = subprocess.run(
        [sys.executable, "-c", attempt], env=environment(tmp_path), capture_output=True, check=False
    )
    assert done.returncode != 0
    assert any(line.startswith("urllib.Request") for line in attempts(tmp_path))


@pytest.mark.timeout(600)
def test_no_tool_of_any_installed_plugin_uses_the_network(tmp_path: Path) -> None:
    found = every_tool(tmp_path / "watched")
    assert attempts(tmp_path / "watched") == []
    assert found["ready"], "the index and its vectors are made without a network too"
    assert {"read_note False", "write_note False", "server_health False"} <= set(found["codes"])
    assert found["codes"]["server_health False"] == "ok"
    if (
        shutil.which("unshare")
        and subprocess.run([*ALONE, "true"], check=False, capture_output=True).returncode == 0
    ):
        # Without any interface, code below Python's notice cannot reach anything either, and nothing misses it.
        assert every_tool(tmp_path / "alone", *ALONE)["codes"] == found["codes"]


def test_a_whole_server_on_stdio_uses_no_network(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("text\n")
    pipe = Pipe([*COMMAND, "serve", str(vault)], environment(tmp_path))
    try:
        pipe.initialize()
        pipe.ask(1, "tools/list")
        pipe.call(2, "find_capability", query="search notes by meaning")
        pipe.call(3, "call_capability", name="read_note", args={"path": "a.md"})
        pipe.ask(4, "resources/list")
        pipe.ask(5, "prompts/list")
        pipe.call(6, "call_capability", name="server_health", args={})
        assert pipe.leave() == 0
    finally:
        if pipe.process.poll() is None:
            pipe.process.kill()
    assert attempts(tmp_path) == []
