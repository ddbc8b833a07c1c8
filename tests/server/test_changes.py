"""Whoever listens is told of changes, whatever becomes of the others."""

from __future__ import annotations

from pathlib import Path
from queue import SimpleQueue

from knapper.config.model import Settings
from knapper.plugins import Plugins
from knapper.runtime import Runtime
from knapper.server.changes import Change
from knapper.server.host import Host


def test_a_client_that_takes_nothing_keeps_no_other_from_being_told(tmp_path: Path) -> None:
    settings = {"vaults": [{"id": "main", "path": str(tmp_path)}], "cache_dir": str(tmp_path / "cache")}
    host = Host(lambda: Runtime(Settings.model_validate(settings), Plugins(strict=True)))
    host.load()
    asked: list[Change] = []
    told: SimpleQueue[Change] = SimpleQueue()

    def takes_nothing(change: Change) -> None:
        asked.append(change)
        raise TimeoutError

    host.changes.listen(takes_nothing)
    host.changes.listen(told.put)
    for change in (Change("tools"), Change("prompts")):
        host.changes.tell(change)
        assert told.get(timeout=30) == change
    assert asked == [Change("tools")]
    host.close()
