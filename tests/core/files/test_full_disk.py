from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from knapper.errors import ToolError
from knapper.vault import paths
from tests.core.conftest import fill
from tests.core.files.test_recovery import WHOLE, Dies, decided

if TYPE_CHECKING:
    from tests.core.files.conftest import World

FULL = "there is no space left on the vault's disk"


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(ToolError) as caught:
        act()
    assert caught.value.code == "internal"
    return caught.value.message


def test_on_a_full_disk_every_change_is_refused_whole(
    small_disk: Path, make_world: Callable[..., World], tmp_path: Path
) -> None:
    world = make_world(small_disk, tmp_path / "cache")
    door = world.door()
    before = {f"{n}.md": f"{n}\n" * 500 for n in range(20)}
    for name, text in before.items():
        door.write(name, text)
    filler = fill(small_disk)

    def many() -> None:
        with door.transaction():
            door.move("0.md", "deep/0.md")
            for name in list(before)[1:]:
                door.edit(name, lambda text: f"{text}more\n")

    assert refused(many) == FULL
    assert refused(lambda: door.write("1.md", "ours" * 5000)) == FULL
    assert refused(lambda: door.write("new.md", "new")) == FULL
    filler.unlink()
    assert world.files() == before
    assert world.litter() == []
    many()
    assert world.files().keys() == before.keys() - {"0.md"} | {"deep/0.md"}
    assert world.files()["1.md"] == before["1.md"] + "more\n"


def test_room_is_asked_for_before_anything_is_decided(world: World) -> None:
    world.disk.check_room(1)
    with pytest.raises(ToolError, match=FULL):
        world.disk.check_room(1 << 62)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EROFS])
def test_what_meets_a_disk_that_takes_nothing_once_it_is_decided_waits_for_it_and_so_does_everybody(
    world: World, dies: Dies, reason: int
) -> None:
    world.door().write("e.md", "e")
    decided(world, dies)

    def act() -> None:
        full = [True]

        def a_full_disk(event: str, args: tuple[object, ...]) -> None:
            creates = event == "open" and isinstance(args[2], int) and args[2] & os.O_EXCL
            if full and creates and paths.TEMPORARY in str(args[0]):
                raise OSError(reason, os.strerror(reason))

        sys.addaudithook(a_full_disk)
        for _ in range(2):
            with pytest.raises(ToolError):
                world.door().delete("e.md", hard=True)
            recovery = world.journal.recover(world.disk)
            assert (recovery.completed, recovery.failed) == (0, [])
            assert recovery.waits_for
        assert world.files()["e.md"] == "e"
        full.clear()
        world.door().delete("e.md", hard=True)

    assert not dies(act, 1000)
    assert world.files() == WHOLE
    assert list((world.cache / "journal" / "home").iterdir()) == []
