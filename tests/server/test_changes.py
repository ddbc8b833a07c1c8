"""A client that takes nothing holds up neither what others are told nor the work that would tell it something."""

from __future__ import annotations

import asyncio
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from knapper.config.model import Settings
from knapper.plugins import Plugins
from knapper.runtime import Runtime
from knapper.server.changes import Change
from knapper.server.host import Host
from knapper.server.http.edge import Back


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


def test_work_goes_on_where_its_client_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knapper.server.http.edge.TELL_SECONDS", 0.01)
    sent: list[int] = []

    async def send_notification(told: Any, request: int) -> None:
        sent.append(request)
        await asyncio.Event().wait()

    async def work() -> None:
        connection = SimpleNamespace(send_notification=send_notification)
        ctx = cast("Any", SimpleNamespace(session=connection, request_id=1))
        back = Back(ctx, asyncio.get_running_loop(), cast("Any", None))
        for done in (1, 2):
            params = {"progressToken": "t", "progress": done}
            await asyncio.to_thread(back.notify, "notifications/progress", params)

    asyncio.run(work())
    assert sent == [1]
