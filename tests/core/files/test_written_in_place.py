"""Beside programs that save as Obsidian does: they empty the file and fill it again."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from knapper.errors import ToolError
from knapper.vault import _leases, paths, still

if TYPE_CHECKING:
    from tests.core.files.conftest import World
    from tests.core.files.test_recovery import Dies


def leases_are_granted(folder: Path) -> bool:
    probe = folder / "probe"
    probe.touch()
    fd = os.open(probe, os.O_RDONLY)
    try:
        return _leases.take(fd) == "held"
    finally:
        os.close(fd)
        probe.unlink()


def is_waited_for(inode: int) -> bool:
    """Whether a program has opened this very file to write it, and is made to wait."""
    locks = Path("/proc/locks").read_text().splitlines()
    return any("BREAKING" in lock and f":{inode} " in lock for lock in locks)


def line(text: str) -> str:
    return f"{text}ours\n"


@pytest.mark.skipif(sys.platform == "win32", reason="nobody can replace what is open there")
def test_an_edit_in_the_middle_of_a_save_waits_for_its_end_and_builds_on_it(world: World) -> None:
    world.door().write("a.md", "old\n")
    with ThreadPoolExecutor(1) as threads, (world.root / "a.md").open("w") as saving:
        edit = threads.submit(lambda: world.door().edit("a.md", line))
        while not world.litter() and not edit.done():
            pass  # until the edit has read what is there and wants to put its own in its place
        saving.write("theirs\n")
        saving.close()
        edit.result()
    assert world.files() == {"a.md": "theirs\nours\n"}
    assert world.litter() == []


def test_a_file_that_another_program_keeps_writing_is_left_to_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not leases_are_granted(world.root):
        pytest.skip("nobody can tell that a file is open for writing here")
    monkeypatch.setattr(still, "PATIENCE", 0.01)
    world.door().write("log.md", "1\n")
    with (world.root / "log.md").open("a") as log:
        with pytest.raises(ToolError, match=r"^another program is writing 'log.md'$") as caught:
            world.door().edit("log.md", line)
        log.write("2\n")
    assert caught.value.code == "concurrent_modification"
    assert world.files() == {"log.md": "1\n2\n"}
    assert world.litter() == []
    world.door().edit("log.md", line)
    assert world.files() == {"log.md": "1\n2\nours\n"}


def test_a_save_that_begins_while_the_file_is_replaced_finds_it_in_its_place(
    make_world: Callable[..., World], dies: Dies, tmp_path: Path
) -> None:
    world = make_world(tmp_path / "Vault", tmp_path / "cache")
    if not leases_are_granted(world.root):
        pytest.skip("nobody can hold back a program that opens a file here")
    world.door().write("a.md", "old\n")
    note = world.root / "a.md"
    inode = note.stat().st_ino

    def act() -> None:
        saves: list[threading.Thread] = []

        def another_program(event: str, args: tuple[object, ...]) -> None:
            if event == "os.rename" and str(args[0]).startswith(paths.TEMPORARY) and not saves:
                saves.append(threading.Thread(target=lambda: note.write_text("theirs\n")))
                saves[0].start()
                while saves[0].is_alive() and not is_waited_for(inode):
                    pass

        sys.addaudithook(another_program)
        world.door().edit("a.md", line)
        saves[0].join()

    assert not dies(act, 1000)
    assert world.files() == {"a.md": "theirs\nours\n"}
    assert world.litter() == []


def test_of_two_saves_around_an_edit_the_later_one_counts(
    make_world: Callable[..., World], dies: Dies, tmp_path: Path
) -> None:
    world = make_world(tmp_path / "Vault", tmp_path / "cache")
    version = world.door().write("a.md", "old\n").hash
    fresh = world.root / "fresh"

    def act() -> None:
        saves = ["first\n", "second\n"]

        def another_program(event: str, args: tuple[object, ...]) -> None:
            if event == "os.rename" and str(args[0]).startswith(paths.TEMPORARY) and saves:
                fresh.write_text(saves.pop(0))
                fresh.replace(world.root / "a.md")

        sys.addaudithook(another_program)
        with pytest.raises(ToolError) as caught:
            world.door().write("a.md", "ours\n", prev_hash=version)
        assert caught.value.code == "concurrent_modification"
        assert saves == []

    assert not dies(act, 1000)
    assert world.files() == {"a.md": "second\n"}


def remove_or_replace(world: World, replaced: bool) -> None:
    """Take `a.md` away in one transaction, be it to have `b.md` in its place."""
    door = world.door()
    with door.transaction():
        if replaced:
            door.move("b.md", "a.md", overwrite=True)
        else:
            door.delete("a.md", hard=True)


def beside(replaced: bool) -> str:
    return "a (conflict knapper 2026-05-28).md" if replaced else "b.md"


@pytest.mark.parametrize("replaced", [False, True])
def test_what_is_saved_in_the_moment_in_which_a_file_is_removed_or_replaced_stays(
    make_world: Callable[..., World], dies: Dies, tmp_path: Path, replaced: bool
) -> None:
    world = make_world(tmp_path / "Vault", tmp_path / "cache")
    world.door().write("a.md", "old\n")
    world.door().write("b.md", "ours\n")
    fresh = world.root / "fresh"

    def act() -> None:
        fresh.write_text("theirs\n")

        def another_program(event: str, args: tuple[object, ...]) -> None:
            if event in ("os.rename", "os.remove") and args[0] in ("a.md", "b.md") and fresh.exists():
                fresh.replace(world.root / "a.md")

        sys.addaudithook(another_program)
        with pytest.raises(ToolError, match=r"another program changed 'a.md'"):
            remove_or_replace(world, replaced)

    assert not dies(act, 1000)
    assert world.files() == {"a.md": "theirs\n", beside(replaced): "ours\n"}
    assert world.litter() == []


@pytest.mark.parametrize("replaced", [False, True])
def test_a_save_that_begins_in_that_moment_finds_the_file_in_its_place(
    make_world: Callable[..., World], dies: Dies, tmp_path: Path, replaced: bool
) -> None:
    world = make_world(tmp_path / "Vault", tmp_path / "cache")
    if not leases_are_granted(world.root):
        pytest.skip("nobody can hold back a program that opens a file here")
    world.door().write("a.md", "old\n")
    world.door().write("b.md", "ours\n")
    inode = (world.root / "a.md").stat().st_ino

    def act() -> None:
        saves: list[threading.Thread] = []

        def another_program(event: str, args: tuple[object, ...]) -> None:
            if event in ("os.rename", "os.remove") and args[0] == "a.md" and not saves:
                saves.append(threading.Thread(target=lambda: (world.root / "a.md").write_text("theirs\n")))
                saves[0].start()
                while saves[0].is_alive() and not is_waited_for(inode):
                    pass

        sys.addaudithook(another_program)
        with pytest.raises(ToolError, match=r"another program changed 'a.md'"):
            remove_or_replace(world, replaced)
        saves[0].join()

    assert not dies(act, 1000)
    assert world.files() == {"a.md": "theirs\n", beside(replaced): "ours\n"}
    assert world.litter() == []


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_another_program_is_filling_is_neither_removed_nor_replaced(
    make_world: Callable[..., World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    world = make_world(tmp_path / "Vault", tmp_path / "cache")
    if not leases_are_granted(world.root):
        pytest.skip("nobody can tell that a file is open for writing here")
    monkeypatch.setattr(still, "PATIENCE", 0.01)
    world.door().write("a.md", "old\n")
    world.door().write("b.md", "ours\n")
    with (world.root / "a.md").open("w") as saving:
        with pytest.raises(ToolError, match=r"another program changed 'a.md'"):
            remove_or_replace(world, replaced)
        saving.write("theirs\n")
    assert world.files() == {"a.md": "theirs\n", beside(replaced): "ours\n"}
    assert world.litter() == []


def test_a_save_in_the_middle_of_a_transaction_is_kept_and_ours_put_beside_it(
    make_world: Callable[..., World], tmp_path: Path
) -> None:
    world = make_world(tmp_path / "Vault", tmp_path / "cache")
    if not leases_are_granted(world.root):
        pytest.skip("nobody can tell that a file is open for writing here")
    door = world.door()
    door.write("a.md", "old\n")
    door.write("b.md", "old\n")

    def both() -> None:
        with door.transaction():
            door.edit("a.md", line)
            door.edit("b.md", line)

    with ThreadPoolExecutor(1) as threads, (world.root / "a.md").open("w") as saving:
        change = threads.submit(both)
        while not world.litter() and not change.done():
            pass
        saving.write("theirs\n")
        saving.close()
        with pytest.raises(ToolError) as caught:
            change.result()
    assert caught.value.code == "concurrent_modification"
    assert world.files() == {"a.md": "theirs\n", "b.md": "old\nours\n", beside(True): "ours\n"}
