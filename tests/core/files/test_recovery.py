from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from knapper.errors import ToolError
from knapper.vault.disk import Disk
from knapper.vault.door import Door
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


def test_files_on_their_way_are_not_swept_away_while_their_transaction_waits(
    world: World, dies: Dies
) -> None:
    door = world.door()
    door.write("a.md", "a")
    door.write("b.md", "b")

    def swap() -> None:
        with door.transaction():
            door.move("a.md", "c.md")
            door.move("b.md", "a.md")
            door.move("c.md", "b.md")

    assert dies(swap, 2, armed_by=".journal")
    assert world.files() == {}
    world.disk.sweep(older_than=-1)
    assert world.journal.recover(world.disk).conflicts == []
    assert world.files() == {"a.md": "b", "b.md": "a"}
    assert world.litter() == []


def test_death_at_each_step_of_everything_at_once_ends_in_all_or_none(
    make_world: Callable[..., World], dies: Dies, tmp_path: Path
) -> None:
    before = {"a.md": "1", "b.md": "2", "c.md": "1", "d.md": "4", "x/e.md": "5"}
    after = {"a.md": "2", "b.md": "1", "c.md": "4+", "n/f.md": "5", "x/e.md": "1"}
    outcomes, at, alive = [], 0, False
    while not alive:
        world = make_world(tmp_path / str(at) / "Vault", tmp_path / str(at) / "cache", at % 2 == 1)
        for path, content in before.items():
            world.door().write(path, content)
        alive = not dies(partial(_everything, world), at)
        world.journal.recover(world.disk)
        outcomes.append(world.files())
        assert sorted(path.read_text() for path in (world.root / ".trash").glob("*")) in ([], ["1"])
        at += 1
    assert outcomes[0] == before
    assert outcomes[-1] == after
    assert all(outcome in (before, after) for outcome in outcomes)
    assert at > 15


def _everything(world: World) -> None:
    door = world.door()
    with door.transaction():
        door.move("a.md", "t.md")
        door.move("b.md", "a.md")
        door.move("t.md", "b.md")
        door.delete("c.md")
        door.move("d.md", "c.md")
        door.edit("c.md", lambda text: text + "+")
        door.move("x/e.md", "n/f.md")
        door.write("x/e.md", "1")


def test_a_recovery_that_dies_itself_is_recovered_from(
    make_world: Callable[..., World], dies: Dies, tmp_path: Path
) -> None:
    at, alive = 0, False
    while not alive:
        world = make_world(tmp_path / str(at) / "Vault", tmp_path / str(at) / "cache", at % 2 == 1)
        decided(world, dies, at=at % 4)
        alive = not dies(partial(world.journal.recover, world.disk), at)
        recovery = world.journal.recover(world.disk)
        assert (recovery.conflicts, recovery.failed) == ([], [])
        assert world.files() == WHOLE
        at += 1
    assert at > 4


def test_a_change_in_the_moment_of_the_decision_is_not_lost(world: World, dies: Dies) -> None:
    world.door().write("a.md", "a")
    world.door().write("b.md", "b")

    def another_program(event: str, args: tuple[object, ...]) -> None:
        if event == "os.rename" and str(args[1]).endswith(".journal"):
            (world.root / "a.md").write_text("theirs")

    def act() -> None:
        sys.addaudithook(another_program)
        door = world.door()
        with pytest.raises(ToolError) as caught, door.transaction():
            _rewrite(door, "a.md", "b.md")
        assert caught.value.code == "concurrent_modification"
        assert caught.value.details == {"path": "a.md", "kept_as": "a (conflict knapper 2026-05-28).md"}

    assert not dies(act, 1000)
    assert world.files() == {"a.md": "theirs", "a (conflict knapper 2026-05-28).md": "ours", "b.md": "ours"}


def test_what_was_decided_but_cannot_be_finished_now_is_finished_later(world: World, dies: Dies) -> None:
    world.door().write("a.md", "a")
    world.door().write("x/b.md", "b")

    def another_program(event: str, args: tuple[object, ...]) -> None:
        if event == "os.rename" and str(args[1]).endswith(".journal"):
            (world.root / "x").rename(world.root / "away")
            (world.root / "x").write_text("a file in the way")

    def act() -> None:
        sys.addaudithook(another_program)
        door = world.door()
        with pytest.raises(ToolError) as caught, door.transaction():
            _rewrite(door, "a.md", "x/b.md")
        assert caught.value.code == "indeterminate_outcome"

    assert not dies(act, 1000)
    (world.root / "x").unlink()
    (world.root / "away").rename(world.root / "x")
    world.door().write("c.md", "c")
    assert world.files() == {"a.md": "ours", "x/b.md": "ours", "c.md": "c"}


def _rewrite(door: Door, *paths: str) -> None:
    for path in paths:
        door.write(path, "ours")


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


def test_a_folder_that_came_where_a_file_was_to_land_stays_and_ours_is_put_beside(
    world: World, dies: Dies
) -> None:
    decided(world, dies)
    (world.root / "moved.md").mkdir()
    recovery = world.journal.recover(world.disk)
    kept = "moved (conflict knapper 2026-05-28).md"
    assert (recovery.completed, recovery.conflicts) == (1, [Conflict("moved.md", kept)])
    assert world.files() == {"a.md": "ours", "new/n.md": "new", kept: "b"}
    assert {change.path for change in recovery.changes if change.stat is None} >= {"moved.md", "b.md"}


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
