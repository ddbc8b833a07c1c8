"""Reading and parsing in processes of their own, so that a cold index uses every core and leaves this one to its callers.

Workers are plain child processes that talk over pipes. multiprocessing would import the program's main module again in
each child, which a server on stdio must not do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from queue import Empty, Queue
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from knapper.children import spawn
from knapper.domain import Extractor
from knapper.index.loading import read_note
from knapper.index.rows import NoteRows, Reading
from knapper.vault.disk import Disk

BATCH = 32
LOOK_UP_SECONDS = 0.05
WORTH = 1000  # below this many notes a start of two interpreters costs more than it saves


def worth_it(notes: int, processes: int, reading: Reading) -> bool:
    importable = all(
        "<" not in e.fn.__qualname__ and e.fn.__module__ != "__main__" for e in reading.extractors
    )
    return processes > 1 and notes >= WORTH and importable


class Order(msgspec.Struct, array_like=True):
    """What a worker is told first: where the files and the extractors are, and how notes are read."""

    root: str
    extractors: list[tuple[str, str, str]]
    limits: tuple[int, int, int]


class Workers:
    """A few child processes; each is fed by a thread of its own, so that a slow one holds up nobody."""

    def __init__(self, count: int, disk: Disk, reading: Reading) -> None:
        self._disk = disk
        self._reading = reading
        self._todo: Queue[Sequence[str] | None] = Queue()
        self._done: Queue[list[NoteRows] | None] = Queue(count * 2)
        self._stopped = False
        found = [(e.fn.__module__, e.fn.__qualname__, e.name) for e in reading.extractors]
        order = Order(disk.root, found, (reading.max_bytes, reading.chunk_chars, reading.max_chunk_chars))
        self._children = [_spawn(order) for _ in range(count)]
        self._threads = [threading.Thread(target=self._feed, args=(c,), daemon=True) for c in self._children]

    def __enter__(self) -> Workers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped = True
        for child in self._children:
            child.kill()
            child.wait()
        while any(thread.is_alive() for thread in self._threads):
            _drain(self._done)
            self._threads[0].join(0.01)
            self._threads = [thread for thread in self._threads if thread.is_alive()]

    def map(self, paths: Sequence[str], stopping: Callable[[], bool]) -> Iterator[list[NoteRows]]:
        """Batches of notes as rows, in whatever order they are done; it ends early where nobody wants them any more."""
        for start in range(0, len(paths), BATCH):
            self._todo.put(paths[start : start + BATCH])
        for _ in self._children:
            self._todo.put(None)
        ended = 0
        while ended < len(self._children) and not stopping():
            try:
                got = self._done.get(timeout=LOOK_UP_SECONDS)
            except Empty:
                continue
            if got is None:
                ended += 1
            else:
                yield got

    def _feed(self, child: subprocess.Popen[bytes]) -> None:
        while not self._stopped and (batch := self._todo.get()) is not None:
            self._done.put(self._ask(child, batch))
        self._done.put(None)

    def _ask(self, child: subprocess.Popen[bytes], batch: Sequence[str]) -> list[NoteRows]:
        """The child's answer; where it has died, its work is done here, so that nothing stays unread."""
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            _write(child.stdin, ENCODER.encode(batch))
            return ROWS.decode(_read(child.stdout))
        except (OSError, EOFError, ValueError, msgspec.MsgspecError):
            if self._stopped:
                return []
            return _rows(self._disk, batch, self._reading)


ENCODER = msgspec.msgpack.Encoder()
ROWS = msgspec.msgpack.Decoder(list[NoteRows])
PATHS = msgspec.msgpack.Decoder(list[str])


def _spawn(order: Order) -> subprocess.Popen[bytes]:
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    child = spawn(
        [sys.executable, "-m", "knapper.index.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
    )
    assert child.stdin is not None
    _write(child.stdin, ENCODER.encode(order))
    return child


def _drain(queue: Queue[Any]) -> None:
    while not queue.empty():
        queue.get()


def _write(pipe: BinaryIO | Any, data: bytes) -> None:
    pipe.write(len(data).to_bytes(4, "big") + data)
    pipe.flush()


def _read(pipe: BinaryIO | Any) -> bytes:
    head = pipe.read(4)
    if len(head) < 4:
        raise EOFError("the worker ended")
    data: bytes = pipe.read(int.from_bytes(head, "big"))
    return data


def _rows(disk: Disk, paths: Sequence[str], reading: Reading) -> list[NoteRows]:
    return [rows for path in paths if (rows := read_note(disk, path, reading)) is not None]


def work() -> None:
    """A worker's life: take an order, then answer batches of paths with batches of rows until the pipe closes."""
    pipe_in, pipe_out = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a plugin that prints must not break the protocol
    order = msgspec.msgpack.decode(_read(pipe_in), type=Order)
    extractors = [
        Extractor(name, NoteRows, _find(module, attr), 0) for module, attr, name in order.extractors
    ]
    disk, reading = Disk(order.root), Reading(extractors, *order.limits)
    told: set[str] = set()
    while True:
        try:
            batch = PATHS.decode(_read(pipe_in))
        except EOFError:
            return
        rows = _rows(disk, batch, reading)
        for one in rows:  # each word is sent once in a worker's life, not once a note
            one.terms = [term for term in one.terms if term not in told]
            told.update(one.terms)
        _write(pipe_out, ENCODER.encode(rows))


def _find(module: str, qualname: str) -> Any:
    found: Any = import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


if __name__ == "__main__":
    work()
