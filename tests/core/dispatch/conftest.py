from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.core.dispatch.desk import Desk, MakeDesk


@pytest.fixture
def make_desk(tmp_path: Path) -> Iterator[MakeDesk]:
    """A desk with the given settings; notes are at home/a.md and work/a.md."""
    made: list[Desk] = []

    def make(**settings: Any) -> Desk:
        folder = tmp_path / f"desk{len(made)}"
        for vault in ("home", "work"):
            (folder / vault).mkdir(parents=True)
            (folder / vault / "a.md").write_text(f"at {vault}")
        made.append(Desk(folder, settings, []))
        return made[-1]

    yield make
    for desk in made:
        desk.runtime.close()


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk()
