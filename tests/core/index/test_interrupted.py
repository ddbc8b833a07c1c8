"""A process that is killed while it indexes leaves what was there before, and the next one goes on from it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from knapper.testing import VaultFolder
from tests.core.index.conftest import Open, Other, content, everything


def found(index: object, word: str) -> list[str]:
    view = everything(index)  # type: ignore[arg-type]
    rows = view.chunks(s.chunk for s in view.by_words(word, 500))
    return sorted(row.path for row in rows.values())


@pytest.mark.parametrize("order", ["reconcile", "force"])
def test_a_kill_in_the_middle_leaves_the_previous_index_intact(
    order: str, vault: VaultFolder, opened: Open, other: Callable[..., Other], tmp_path: Path
) -> None:
    for n in range(150):
        vault[f"{n}.md"] = f"# Note {n}\n\nflint number{n}\n"
    first = opened()
    first.reconcile()
    first.close()
    for n in range(0, 150, 2):
        vault[f"{n}.md"] = f"# Note {n}\n\nquartz number{n}\n"
    another = other()
    another.tell(order)
    another.process.kill()
    another.process.wait()
    index = opened()
    assert index.db.rebuilt == ""
    known = found(index, "flint") + found(index, "quartz")
    assert sorted(known) == sorted(f"{n}.md" for n in range(150))
    index.reconcile()
    assert found(index, "quartz") == sorted(f"{n}.md" for n in range(0, 150, 2))
    fresh = opened(tmp_path / "fresh" / "main.db")
    fresh.reconcile()
    assert content(index) == content(fresh)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("count", [1, 200, 500])
def test_a_first_run_that_is_killed_goes_on_where_it_was_at_the_next_start(
    count: int, vault: VaultFolder, opened: Open, other: Callable[..., Other], tmp_path: Path
) -> None:
    for n in range(600):
        vault[f"{n}.md"] = f"# Note {n}\n\n[[{(n + 1) % 600}]] flint\n"
    another = other()
    another.tell("die_after", count)
    assert another.process.wait() == -signal.SIGKILL
    index = opened()
    status = index.status()
    assert (index.db.rebuilt, status.state, status.total) == ("", "indexing", 600)
    assert count <= status.indexed < 600
    assert f"{status.indexed} of 600 files are in the index" in index.coverage()
    assert len(found(index, "flint")) == min(status.indexed, 500)
    result = index.reconcile()
    assert (result.unchanged, result.upserted) == (status.indexed, 600 - status.indexed)
    assert (index.coverage(), index.status().state) == ("", "ready")
    fresh = opened(tmp_path / "fresh" / "main.db")
    fresh.reconcile()
    assert content(index) == content(fresh)
