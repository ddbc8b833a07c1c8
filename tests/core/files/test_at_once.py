from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from knapper.errors import ToolError
from knapper.vault.acl import Acl
from knapper.vault.disk import Disk
from knapper.vault.door import Door
from knapper.vault.journal import Journal
from knapper.vault.locks import FileLock, PathLocks

if TYPE_CHECKING:
    from tests.core.files.conftest import World


def test_sixteen_threads_that_append_lose_nothing(world: World) -> None:
    world.door().write("log.md", "")

    def append(line: int) -> None:
        world.door().edit("log.md", lambda text: f"{text}{line}\n")

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(append, range(160)))
    assert sorted(int(line) for line in world.files()["log.md"].split()) == list(range(160))
    assert world.litter() == []


def test_of_many_that_create_one_file_one_does(
    world: World, code: Callable[[Callable[[], object]], str]
) -> None:
    def create(number: int) -> str:
        return code(lambda: world.door().write("x/new.md", str(number), mode="create"))

    with ThreadPoolExecutor(16) as threads:
        assert sorted(threads.map(create, range(32))) == ["note_exists"] * 31 + ["ok"]
    assert world.litter() == []


def test_transactions_over_the_same_files_in_any_order_leave_them_equal(world: World) -> None:
    names = ["a.md", "b.md", "c.md", "d.md"]
    for name in names:
        world.door().write(name, "0")

    def overwrite(number: int) -> str:
        door = world.door()
        try:
            with door.transaction():
                for name in names if number % 2 else reversed(names):
                    door.write(name, str(number))
        except ToolError as error:
            return error.code
        return "ok"

    with ThreadPoolExecutor(8) as threads:
        results = set(threads.map(overwrite, range(1, 41)))
    assert "ok" in results
    assert results <= {"ok", "concurrent_modification"}
    assert len(set(world.files().values())) == 1


def _append_in_a_process(root: str, cache: str, portable: bool, lines: range) -> None:
    disk = Disk(root, portable=portable)
    door = Door("home", "Home", disk, Acl(), Journal(Path(cache), "home"))
    for line in lines:
        door.edit("log.md", partial(_with_line, line))
        if line % 5 == 0:
            with door.transaction():
                door.write(f"seen/{line}.md", str(line))
                door.write(f"seen/{line} too.md", str(line))


def _with_line(line: int, text: str) -> str:
    return f"{text}{line}\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fresh process could not import this module")
def test_four_processes_that_append_lose_nothing(world: World) -> None:
    world.door().write("log.md", "")
    fork = multiprocessing.get_context("fork")
    processes = [
        fork.Process(
            target=_append_in_a_process,
            args=(str(world.root), str(world.cache), world.portable, range(start, start + 15)),
        )
        for start in (0, 100, 200, 300)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    expected = sorted(start + offset for start in (0, 100, 200, 300) for offset in range(15))
    assert sorted(int(line) for line in world.files()["log.md"].split()) == expected
    assert len(list((world.root / "seen").iterdir())) == 24
    assert world.litter() == []


def test_a_lock_is_the_threads_own_and_shuts_out_the_others(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    rival = FileLock(tmp_path / "lock", patience=0.0)
    with lock, lock:
        with pytest.raises(ToolError) as caught, rival:
            pass
        assert caught.value.code == "operation_timeout"
    with rival:
        pass


def test_locks_of_paths_are_kept_only_while_they_are_held() -> None:
    locks = PathLocks()
    order: list[str] = []
    entered, leave = threading.Event(), threading.Event()

    def first() -> None:
        with locks.hold("b.md", "A.md"):
            entered.set()
            leave.wait()
            order.append("first")

    def second() -> None:
        entered.wait()
        with locks.hold("a.md", "B.md"):
            order.append("second")

    with ThreadPoolExecutor(2) as threads:
        threads.submit(first)
        waiting = threads.submit(second)
        entered.wait()
        leave.set()
        waiting.result()
    assert order == ["first", "second"]
    assert locks._held == {}
