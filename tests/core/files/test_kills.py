from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.core.files.conftest import World

KILLS = int(os.environ.get("KNAPPER_KILLS", "20"))
ZERO = b"0\n"
WRITER = Path(__file__).with_name("writer.py")

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")


def kill_one(world: World, start: int, chance: random.Random) -> list[tuple[str, int]]:
    """Let a writer work, kill it somewhere in its work, and say what it had acknowledged."""
    child = subprocess.Popen(
        [sys.executable, str(WRITER), str(world.root), str(world.cache), str(start)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    lines = [child.stdout.readline() for _ in range(chance.randint(1, 12))]
    time.sleep(chance.random() * 0.004)  # anywhere inside a step, not only at its beginning
    child.send_signal(signal.SIGKILL)
    lines += child.stdout.readlines()
    assert child.wait() == -signal.SIGKILL
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(step, int(number)) for step, number in whole]


def number_of(text: str) -> int:
    """The number in a stamped text, which must be whole."""
    stamp, _, body = text.partition("\n")
    assert sha256(body.encode()).hexdigest() == stamp
    return int(body.split("\n", 1)[0])


@pytest.mark.timeout(60 + KILLS * 2)
def test_a_killed_process_leaves_no_half_file_and_loses_nothing_it_acknowledged(
    make_world: Callable[..., World], tmp_path: Path
) -> None:
    world = make_world(tmp_path / "Vault", tmp_path / "cache")
    door = world.door()
    whole = f"{sha256(ZERO).hexdigest()}\n{ZERO.decode()}"
    for name in ("single.md", "phoenix.md", *(f"group/{index}/note.md" for index in range(6))):
        door.write(name, whole)
    for name, text in (("log.md", ""), ("left.md", "L"), ("right.md", "R"), ("who.md", "right is R")):
        door.write(name, text)
    chance = random.Random(20)
    acknowledged: dict[str, int] = {}
    logged: list[int] = []
    completed = 0
    for kill in range(KILLS):
        done = kill_one(world, (kill + 1) * 100_000, chance)
        acknowledged |= dict(done)
        logged += [number for step, number in done if step == "_append"]

        recovery = world.journal.recover(world.disk)
        completed += recovery.completed
        assert (recovery.conflicts, recovery.failed) == ([], [])
        assert not world.journal.recover(world.disk)

        files = world.files()
        assert number_of(files["single.md"]) >= acknowledged.get("_write", 0)
        assert number_of(files["phoenix.md"]) >= acknowledged.get("_replace", 0)
        generations = {number_of(files[f"group/{index}/note.md"]) for index in range(6)}
        assert len(generations) == 1
        assert generations.pop() >= acknowledged.get("_group", 0)
        assert {files["left.md"], files["right.md"]} == {"L", "R"}
        assert files["who.md"] == f"right is {files['right.md']}"
        assert "between.md" not in files
        lines = [int(line) for line in files["log.md"].split()]
        assert lines == sorted(set(lines))
        assert set(logged) <= set(lines)
        for path in (world.root / ".trash").glob("*"):
            number_of(path.read_text())
    assert len(acknowledged) == 5
    if KILLS >= 100:
        assert completed > 0
