"""Parsing in processes of their own, so that a cold index uses every core and leaves this one to its callers.

Workers are plain child processes that talk over pipes. multiprocessing would import the program's main module again in
each child, which a server on stdio must not do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from queue import Queue
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from knapper.domain import Extractor
from knapper.index.rows import NoteRows, Stat, note_rows

BATCH = 32
WORTH = 1500  # below this many notes a start of two interpreters costs more than it saves


def worth_it(notes: int, processes: int) -> bool:
    return processes > 1 and notes >= WORTH


class Order(msgspec.Struct, array_like=True):
    """What a worker is told first: where the extractors are, and how large a note may be."""

    extractors: list[tuple[str, str, str]]
    max_bytes: int


Loaded = tuple[str, bytes, Stat]


class Workers:
    """A few child processes; each is fed by a thread of its own, so that a slow one holds up nobody."""

    def __init__(self, count: int, extractors: Sequence[Extractor], max_bytes: int) -> None:
        order = Order([(e.fn.__module__, e.fn.__qualname__, e.name) for e in extractors], max_bytes)
        self._todo: Queue[list[Loaded] | None] = Queue(count * 2)
        self._done: Queue[list[NoteRows] | BaseException] = Queue(count * 2)
        self._children = [_spawn(order) for _ in range(count)]
        self._threads = [threading.Thread(target=self._feed, args=(c,), daemon=True) for c in self._children]

    def __enter__(self) -> Workers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            if child.stdin is not None:
                child.stdin.close()
            child.terminate()
            child.wait()

    def map(self, items: Iterable[Loaded | None]) -> Iterator[list[NoteRows]]:
        """Batches of parsed notes, in whatever order they are done."""
        sent = threading.Thread(target=self._send, args=(items,), daemon=True)
        sent.start()
        ended = 0
        while ended < len(self._children):
            got = self._done.get()
            if isinstance(got, BaseException):
                raise got
            if got:
                yield got
            else:
                ended += 1

    def _send(self, items: Iterable[Loaded | None]) -> None:
        batch: list[Loaded] = []
        try:
            for item in items:
                if item is not None:
                    batch.append(item)
                if len(batch) == BATCH:
                    self._todo.put(batch)
                    batch = []
            if batch:
                self._todo.put(batch)
        finally:
            for _ in self._children:
                self._todo.put(None)

    def _feed(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None and child.stdout is not None
        try:
            while (batch := self._todo.get()) is not None:
                _write(child.stdin, msgspec.msgpack.encode(batch))
                self._done.put(ROWS.decode(_read(child.stdout)))
            self._done.put([])
        except (OSError, EOFError, msgspec.MsgspecError) as error:
            self._done.put(error)


ROWS = msgspec.msgpack.Decoder(list[NoteRows])
LOADED = msgspec.msgpack.Decoder(list[tuple[str, bytes, tuple[int, int, int, int]]])


def _spawn(order: Order) -> subprocess.Popen[bytes]:
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    child = subprocess.Popen(
        [sys.executable, "-m", "knapper.index.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
    )
    assert child.stdin is not None
    _write(child.stdin, msgspec.msgpack.encode(order))
    return child


def _write(pipe: BinaryIO | Any, data: bytes) -> None:
    pipe.write(len(data).to_bytes(4, "big") + data)
    pipe.flush()


def _read(pipe: BinaryIO | Any) -> bytes:
    head = pipe.read(4)
    if len(head) < 4:
        raise EOFError("the worker ended")
    data: bytes = pipe.read(int.from_bytes(head, "big"))
    return data


def work() -> None:
    """A worker's life: take an order, then answer batches of files with batches of rows until the pipe closes."""
    pipe_in, pipe_out = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a plugin that prints must not break the protocol
    order = msgspec.msgpack.decode(_read(pipe_in), type=Order)
    extractors = [
        Extractor(name, NoteRows, _find(module, attr), 0) for module, attr, name in order.extractors
    ]
    while True:
        try:
            batch = LOADED.decode(_read(pipe_in))
        except EOFError:
            return
        rows = [note_rows(path, data, Stat(*stat), extractors, order.max_bytes) for path, data, stat in batch]
        _write(pipe_out, msgspec.msgpack.encode(rows))


def _find(module: str, qualname: str) -> Any:
    found: Any = import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


if __name__ == "__main__":
    work()
