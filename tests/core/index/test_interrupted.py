"""A process that is killed while it indexes leaves what was there before, and the next one goes on from it."""

from __future__ import annotations

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
