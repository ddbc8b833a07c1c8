"""The soak's short form: the same clients and the same checks, for as long as it takes each to act a few times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.load import report
from tests.load.soak import Soak
from tests.load.workers import Worker, Wrong

PLUGINS = ["admin", "notes", "links", "search", "history", "sink-jsonl"]


@pytest.fixture
def soak(tmp_path: Path) -> Iterator[Soak]:
    found = Soak(
        tmp_path,
        http=16,
        stdio=4,
        notes=50,
        pause=0.02,
        plugins={"only": PLUGINS},
        index={"vectors": False, "processes": 1},
    )
    yield found
    found.close()


@pytest.mark.timeout(300)
def test_twenty_clients_and_another_program_on_one_vault_lose_and_mistake_nothing(soak: Soak) -> None:
    soak.run(acts=8)
    assert soak.problems() == []
    assert sum(worker.told.calls for worker in soak.workers) >= 20 * (5 + 8)
    assert soak.edits > 0
    _tamper(soak)
    assert soak.lost() == [
        "W0/w0k0a.md is not as it was written",
        "Shared/lost.md has 1 lines and not 2, or others",
        "the counter is not 1000",
    ]


def _tamper(soak: Soak) -> None:
    """Lose a write of each kind, so that the checks themselves are checked."""
    told = soak.workers[0].told
    (soak.vault / "W0/w0k0a.md").write_text("somebody else's")
    (soak.vault / "Shared/lost.md").write_text("kept\n")
    told.appended += [("Shared/lost.md", "kept"), ("Shared/lost.md", "lost")]
    told.raised += 1000 - sum(worker.told.raised for worker in soak.workers)


class Lying:
    """A server that answers every question, and always the same."""

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        text = "# edit0v2e\n" if "Obsidian" in arguments.get("path", "") else "lies"
        items = [{"path": "Elsewhere.md"}]
        return {"content": text, "content_hash": "0", "items": items, "exists": True}


@pytest.mark.parametrize("act", ["read", "search", "write", "move", "names", "read_edited"])
def test_a_wrong_answer_is_noticed(act: str) -> None:
    with pytest.raises(Wrong):
        getattr(Worker(0, Lying()), act)()


def test_memory_that_grows_by_a_tenth_after_the_warm_up_is_noticed() -> None:
    def samples(server: str, last: int) -> list[report.Sample]:
        held = [50, 90, 100, 100, 100, 100, 100, 100, 100, last]
        return [report.Sample(at * 10.0, server, own, own) for at, own in enumerate(held)]

    found = report.growth_problems(samples("flat", 109) + samples("growing", 110), 100.0)
    assert found == ["the memory of growing grew by 10%"]
