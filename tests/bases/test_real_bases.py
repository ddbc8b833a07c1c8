"""The .base files of public vaults, each read, changed and run over the notes beside it."""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest

from knapper.testing import Calls
from knapper_bases import bases
from knapper_bases.engine import base_problems, create, query, read, update
from tests.bases.vault_in_memory import MemoryVault
from tests.bases.vault_on_disk import vault_on_disk

VAULTS = Path(__file__).parents[3] / "shared" / "vaults"
NOW = datetime(2026, 3, 15, 10, 30)
BASES = sorted(VAULTS.rglob("*.base"))

pytestmark = pytest.mark.skipif(not BASES, reason="the vaults are not here")


@cache
def vault(name: str) -> MemoryVault:
    return vault_on_disk(VAULTS / name)


def text_of(file: Path) -> str:
    return file.read_bytes().decode("utf-8")


@pytest.mark.parametrize("file", BASES, ids=lambda file: file.stem)
def test_every_view_of_a_real_base_runs(file: Path) -> None:
    name, path = file.relative_to(VAULTS).parts[0], "/".join(file.relative_to(VAULTS).parts[1:])
    base = read(text_of(file))
    assert base_problems(base) == []
    for view in base.views:
        result = query(base, vault(name), view.name, this=path)
        assert result.faults == []
        assert all(
            set(result.plain_cells(row)) == set(view.order or ("file.name",))
            for row in result.rows
            if view.order
        )


@pytest.mark.parametrize("file", BASES, ids=lambda file: file.stem)
def test_a_patch_that_changes_nothing_keeps_every_byte(file: Path) -> None:
    text = text_of(file)
    base = read(text)
    same = {"filters": base.data.get("filters"), "formulas": dict(base.formulas)}
    assert update(text, {}) == text
    assert update(text, same) == text


@pytest.mark.parametrize("file", BASES, ids=lambda file: file.stem)
def test_a_base_is_written_as_obsidian_wrote_it(file: Path) -> None:
    assert create(read(text_of(file)).as_json()) == text_of(file)


def test_a_category_lists_its_notes_newest_first() -> None:
    base = read(text_of(VAULTS / "kepano" / "Templates" / "Bases" / "Posts.base"))
    result = query(base, vault("kepano"), "All")
    assert [result.plain_cells(row)["published"] for row in result.rows] == [
        "2023-09-29",
        "2023-08-06",
        "2022-09-16",
    ]


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Calls]]:
    """Calls to the vaults themselves, at a moment of our own."""
    opened = {}
    for name in {file.relative_to(VAULTS).parts[0] for file in BASES}:
        opened[name] = Calls(VAULTS / name, tmp_path_factory.mktemp(name))
        opened[name].runtime(bases).clock = NOW.timestamp
    yield opened
    for one in opened.values():
        one.close()


@pytest.mark.parametrize("file", BASES, ids=lambda file: file.stem)
def test_every_view_of_a_real_base_gives_the_same_through_the_tool(
    file: Path, calls: dict[str, Calls]
) -> None:
    name, path = file.relative_to(VAULTS).parts[0], "/".join(file.relative_to(VAULTS).parts[1:])
    base = read(text_of(file))
    for view in base.views:
        expected = query(base, vault(name), view.name, this=path, now=NOW)
        found = calls[name](bases, "query_base", path=path, view=view.name, limit=1000)
        assert (found["engine"], found["total_count"]) == ("native", len(expected.rows))
        assert "faults" not in found
        rows = sorted((row["note_path"], row["columns"]) for row in found["items"])
        assert rows == sorted((row.file.path, expected.plain_cells(row)) for row in expected.rows)
