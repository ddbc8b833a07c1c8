from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from knapper.testing import Calls, VaultFolder
from knapper_notes import notes

KILLS = int(os.environ.get("KNAPPER_KILLS", "5"))
MOVER = Path(__file__).with_name("mover.py")
SOURCES = 30


def state(vault: VaultFolder) -> tuple[set[str], set[str]]:
    """Which of the two names the note has, and which of them its links name."""
    names = {name for name in ("Left", "Right") if f"{name} Name.md" in vault}
    texts = [vault[f"links/{n}.md"] for n in range(SOURCES)] + [vault["plan.canvas"]]
    named = {name for name in ("Left", "Right") for text in texts if name in text}
    return names, named


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.timeout(60 + KILLS * 10)
def test_a_process_killed_while_it_moves_leaves_the_old_state_or_the_new(
    vault: VaultFolder, tmp_path: Path
) -> None:
    vault["Left Name.md"] = "text [[Left Name]]"
    for n in range(SOURCES):
        vault[f"links/{n}.md"] = f"{n} [[Left Name|shown]] [md](../Left%20Name.md)\n"
    vault["plan.canvas"] = '{"nodes":[{"id":"1","type":"file","file":"Left Name.md"}]}'
    chance = random.Random(6)
    for _ in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, str(MOVER), str(vault.path), str(tmp_path / "cache")],
            stdout=subprocess.PIPE,
        )
        assert child.stdout is not None
        for _ in range(chance.randint(1, 4)):
            assert child.stdout.readline()
        time.sleep(chance.random() * 0.03)  # anywhere inside a move, not only at its beginning
        child.send_signal(signal.SIGKILL)
        child.stdout.read()
        assert child.wait() == -signal.SIGKILL

        again = Calls(vault.path, tmp_path / "cache")
        again(notes, "list_notes")
        again.close()
        names, named = state(vault)
        assert len(names) == 1
        assert names == named
        assert len([path for path in vault if "/." not in path and path[0] != "."]) == SOURCES + 2
