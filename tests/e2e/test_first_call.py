"""What the first call of a process brings into it: with every plugin installed, not what another call would need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

OTHERS = frozenset(
    {
        "asyncio",
        "cryptography",
        "httpx",
        "knapper_bases.engine",
        "knapper_dataview.engine",
        "knapper_quickadd.running",
        "knapper_tasks.engine",
        "knapper_templater.running",
        "mcp",
        "numpy.ma",
        "opentelemetry",
        "regex",
        "sqlalchemy",
        "ssl",
        "urllib.request",
        "watchfiles",
        "yaml",
    }
)
PEAS = sha256(b"peas.md").hexdigest()[:32]
MODEL = {"numpy", "tokenizers"}
PROGRAM = """
import json, os, sys
from knapper.caller import LOCAL, Caller
from knapper.config.load import load
from knapper.runtime import open_runtime
from knapper.store import audit

audit._GATHER_SECONDS = 3600  # its batch is written after the answer, and needs the state's engine
runtime = open_runtime(load(sys.argv[1]).settings, strict=True)
outcome = runtime.call(sys.argv[2], json.loads(sys.argv[3]), Caller("stdio", LOCAL, authenticated=True))
print(json.dumps([outcome.error, json.loads(outcome.payload), sorted(sys.modules)]), flush=True)
os._exit(0)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "KNAPPER_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def vault(tmp_path: Path, env: dict[str, str]) -> Path:
    """A vault whose index and vectors are complete."""
    folder = tmp_path / "vault"
    folder.mkdir()
    text = "---\ntags: [garden]\n---\n# Beans\n\nThey want sun. #summer\n\n- [ ] water them 📅 2026-06-01\n"
    (folder / "beans.md").write_text(text, encoding="utf-8")
    (folder / "peas.md").write_text("They want sun too.\n", encoding="utf-8")
    index = "import sys; from knapper.cli import main; sys.exit(main())"
    subprocess.run([sys.executable, "-c", index, "index", str(folder)], env=env, check=True)
    return folder


@pytest.mark.parametrize(
    ("tool", "arguments", "needed"),
    [
        ("read_note", {"path": "beans.md"}, set()),
        ("search_text", {"query": "sun"}, set()),
        ("search_semantic", {"query": "where beans grow"}, MODEL),
        ("search_vault", {"query": "where beans grow", "mode": "hybrid"}, MODEL),
        ("related", {"type": "note", "id": PEAS}, {"numpy"}),
    ],
)
def test_a_first_call_imports_nothing_that_only_others_need(
    vault: Path, env: dict[str, str], tool: str, arguments: dict[str, Any], needed: set[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(vault), tool, json.dumps(arguments)],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    error, answer, modules = json.loads(done.stdout)
    assert error is None
    assert "beans.md" in json.dumps(answer)
    assert (OTHERS | MODEL) & set(modules) == needed
