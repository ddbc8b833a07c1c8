"""A state in a fresh folder, a clock that only tests move, and real processes that wait for each other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

import knapper.store
from knapper.store.state import State


class Clock:
    """Time that stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time

    def forward(self, seconds: float) -> None:
        self.time += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "state.db"


@pytest.fixture
def state(path: Path) -> Iterator[State]:
    opened = State.open(path)
    yield opened
    opened.close()


class Undone(Exception):
    """Ends a transaction that a test wants to fail."""


@contextmanager
def undone(state: State) -> Iterator[Connection]:
    """A write that fails after the block."""
    with suppress(Undone), state.write() as conn:
        yield conn
        raise Undone


@pytest.fixture(name="undone")
def undone_fixture() -> Callable[[State], AbstractContextManager[Connection]]:
    return undone


class Child:
    """A process that says `ready`, begins at go(), and whose lines are its answer."""

    def __init__(self, program: str, *arguments: str) -> None:
        source = str(Path(knapper.store.__file__).parents[2])
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def spawn() -> Iterator[Callable[..., Child]]:
    children: list[Child] = []

    def start(program: str, *arguments: str) -> Child:
        children.append(Child(program, *arguments))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        for stream in (child.process.stdin, child.process.stdout):
            assert stream is not None
            stream.close()
