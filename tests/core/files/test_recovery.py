from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from knapper.errors import ToolError
from knapper.vault.disk import Disk
from knapper.vault.files import Conflict
from knapper.vault.journal import Journal

if TYPE_CHECKING:
    from tests.core.files.conftest import World

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

Dies = Callable[..., bool]


def decided(world: World, dies: Dies, *, at: int = 0) -> None:
    """A transaction that was decided, and whose process died before (or soon after) it touched the vault."""
    door = world.door()
    for name in ("a", "b", "c", "d"):
        door.write(f"{name}.md", name)

    def act() -> None:
        with door.transaction():
            door.write("a.md", "ours")
            door.write("new/n.md", "new")
            door.move("b.md", "moved.md")
            door.delete("c.md", hard=True)
            door.delete("d.md")

    assert dies(act, at, armed_by=".journal")


WHOLE = {"a.md": "ours", "new/n.md": "new", "moved.md": "b"}


@pytest.mark.parametrize("at", range(6))
def test_a_decided_transaction_is_finished_at_the_next_start(world: World, dies: Dies, at: int) -> None:
    decided(world, dies, at=at)
    recovery = world.journal.recover(world.disk)
    assert (recovery.completed, recovery.conflicts, recovery.failed) == (1, [], [])
    assert world.files() == WHOLE
    assert (world.root / ".trash" / "d.md").read_text() == "d"
    assert {change.path: change.stat is not None for change in recovery.changes} == {
        "a.md": True,
        "new/n.md": True,
        "b.md": False,
        "moved.md": True,
        "c.md": False,
        "d.md": False,
    }
    assert not world.journal.recover(world.disk)


def test_the_next_write_of_any_process_finishes_it_too_and_tells_the_index(world: World, dies: Dies) -> None:
    decided(world, dies)
    world.changes.clear()
    world.door().write("other.md", "x")
    assert world.files() == WHOLE | {"other.md": "x"}
    assert [change.path for change in world.changes][-1] == "other.md"
    assert {change.path for change in world.changes} >= {"a.md", "moved.md", "b.md"}


def test_what_another_program_wrote_meanwhile_stays_and_ours_is_put_beside(world: World, dies: Dies) -> None:
    decided(world, dies)
    (world.root / "a.md").write_text("theirs")
    (world.root / "new").mkdir()
    (world.root / "new" / "n.md").write_text("theirs")
    (world.root / "moved.md").write_text("theirs")
    (world.root / "c.md").write_text("theirs")
    day = "conflict knapper 2026-05-28"
    recovery = world.journal.recover(world.disk)
    assert recovery.conflicts == [
        Conflict("moved.md", f"moved ({day}).md"),
        Conflict("c.md", None),
        Conflict("a.md", f"a ({day}).md"),
        Conflict("new/n.md", f"new/n ({day}).md"),
    ]
    assert world.files() == {
        "a.md": "theirs",
        f"a ({day}).md": "ours",
        "new/n.md": "theirs",
        f"new/n ({day}).md": "new",
        "moved.md": "theirs",
        f"moved ({day}).md": "b",
        "c.md": "theirs",
    }
    assert {f"a ({day}).md", f"moved ({day}).md"} <= {change.path for change in recovery.changes}
    assert not world.journal.recover(world.disk)


def test_a_moved_file_takes_along_what_another_program_wrote_into_it(world: World, dies: Dies) -> None:
    decided(world, dies)
    (world.root / "b.md").write_text("b and theirs")
    assert world.journal.recover(world.disk).conflicts == []
    assert world.files()["moved.md"] == "b and theirs"


def test_a_file_that_another_program_replaced_is_not_moved(world: World, dies: Dies) -> None:
    decided(world, dies)
    (world.root / "their.md").write_text("theirs")
    (world.root / "their.md").replace(world.root / "b.md")
    assert world.journal.recover(world.disk).conflicts == [Conflict("b.md", None)]
    assert world.files()["b.md"] == "theirs"


def test_a_file_that_another_program_deleted_comes_back_with_what_was_decided(
    world: World, dies: Dies
) -> None:
    decided(world, dies)
    (world.root / "a.md").unlink()
    (world.root / "c.md").unlink()
    assert world.journal.recover(world.disk).conflicts == []
    assert world.files() == WHOLE


def test_a_record_cut_short_was_never_decided(world: World, dies: Dies) -> None:
    door = world.door()
    door.write("a.md", "a")
    (record,) = _crash_while_deciding(world, dies)
    assert record.suffix == ".writing"
    assert not world.journal.recover(world.disk)
    assert world.files() == {"a.md": "a"}
    assert list((world.cache / "journal" / "home").iterdir()) == []


def _crash_while_deciding(world: World, dies: Dies) -> list[Path]:
    door = world.door()

    def act() -> None:
        with door.transaction():
            door.write("a.md", "ours")

    assert dies(act, 1)
    return list((world.cache / "journal" / "home").iterdir())


def test_a_damaged_record_is_kept_aside_and_reported(world: World, dies: Dies) -> None:
    decided(world, dies)
    (record,) = (world.cache / "journal" / "home").iterdir()
    record.write_bytes(record.read_bytes()[:-1] + b"x")
    recovery = world.journal.recover(world.disk)
    assert (recovery.completed, recovery.failed) == (0, [record.with_suffix(".failed").name])
    assert world.journal.unfinished() == recovery.failed
    assert world.files() == {"a.md": "a", "b.md": "b", "c.md": "c", "d.md": "d"}
    world.door().write("a.md", "goes on")


def test_a_record_of_another_folder_is_not_applied(world: World, dies: Dies, tmp_path: Path) -> None:
    decided(world, dies)
    (tmp_path / "Other").mkdir()
    other = Disk(tmp_path / "Other")
    assert len(Journal(world.cache, "home").recover(other).failed) == 1
    assert list(other.walk()) == []


def test_a_record_waits_for_a_vault_that_is_not_there(world: World, dies: Dies) -> None:
    decided(world, dies)
    away = world.root.rename(world.root.with_name("unmounted"))
    with pytest.raises(ToolError) as caught:
        world.journal.recover(world.disk)
    assert caught.value.code == "vault_not_found"
    away.rename(world.root)
    assert world.journal.recover(world.disk).completed == 1
    assert world.files() == WHOLE


def test_the_journals_of_two_vaults_are_apart(world: World, dies: Dies) -> None:
    decided(world, dies)
    assert not Journal(world.cache, "work").recover(world.disk)
    assert world.files()["a.md"] == "a"
