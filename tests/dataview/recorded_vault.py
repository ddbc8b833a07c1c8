"""The vault that Dataview's answers were recorded over, as files with the times they had then."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from knapper.runtime import Runtime
from tests.dataview.conformance import RECORDED

VAULT = RECORDED / "dv-mini"


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The zone of the recordings."""
    if not hasattr(time, "tzset"):
        pytest.skip("the recordings are in UTC, and the zone cannot be set here")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def copy_vault(folder: Path) -> None:
    """Its files, each changed when it was."""
    for file in VAULT.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            copy = folder / file.relative_to(VAULT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    for path, times in _recorded().items():
        modified = _seconds(times["mtime"])
        os.utime(folder / path, (modified, modified))


def index_with_recorded_times(runtime: Runtime) -> None:
    """Index them; when a file was created cannot be set from outside, so the index is told."""
    index = runtime.vaults.get("main").index
    index.reconcile()
    with index.db.write() as conn:
        made = [(int(_seconds(times["ctime"]) * 1e9), path) for path, times in _recorded().items()]
        conn.executemany("UPDATE files SET ctime_ns = ? WHERE path = ?", made)


def _recorded() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((VAULT / ".oracle-stats.json").read_text("utf-8"))
    return found


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
