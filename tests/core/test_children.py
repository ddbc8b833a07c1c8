"""Child processes that give way to the server."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from knapper.children import LOWEST, NICER, spawn
from knapper.index.patterns import Worker

TELL = "import os; input(); print(os.getpriority(os.PRIO_PROCESS, 0))"

pytestmark = pytest.mark.skipif(not hasattr(os, "getpriority"), reason="priorities are told on POSIX only")


def lower() -> int:
    return min(os.getpriority(os.PRIO_PROCESS, 0) + NICER, LOWEST)


def test_a_child_has_a_lower_priority_than_the_server() -> None:
    child = spawn([sys.executable, "-c", TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert int(child.communicate(b"\n")[0]) == lower()


def test_patterns_are_looked_for_with_a_lower_priority() -> None:
    worker = Worker()
    try:
        assert os.getpriority(os.PRIO_PROCESS, worker._child.pid) == lower()
    finally:
        worker.kill()
