"""Programs from the npm registry that judge the server, run with a Node of their own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.ocr.conftest import fake_tesseract  # noqa: F401 (fixtures)
from tests.server.conftest import pipe, place, web  # noqa: F401 (fixtures)

NODE = "node@24"


@pytest.fixture(scope="session")
def npx() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program of an npm package; tests are skipped where it cannot be had."""
    known: dict[str, str | None] = {}

    def run(package: str, program: str, *arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
        if package not in known:
            known[package] = _unavailable(package, program)
        if known[package] is not None:
            pytest.skip(str(known[package]))
        command = ["npx", "--yes", f"--package={NODE}", f"--package={package}", "--", program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, **how)

    return run


def _unavailable(package: str, program: str) -> str | None:
    if shutil.which("npx") is None:
        return "npx is not installed: install Node.js to run the judges of the protocol"
    command = ["npx", "--yes", f"--package={NODE}", f"--package={package}", "--", program, "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return f"{package} could not be fetched from the npm registry in five minutes"
    lines = done.stderr.strip().splitlines() or ["no word why"]
    return None if done.returncode == 0 else f"{package} cannot be run: {lines[-1]}"
