"""The event loop's way to worker threads and back, with as little between them as there can be.

An executor makes two futures for each call and wakes the loop for each answer; that would be a fifth of a short call.
Worse, a loop that reads on while a thread works takes the interpreter from it at each of its system calls, and gives it
back at each of its own: that doubles what a short call costs. So the loop hands over what has come, and waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, TypeVar

from knapper.server.pool import Pool

T = TypeVar("T")
# A call that takes longer is no short one: the loop goes on, and hears of its end like of anything else.
SHORT_SECONDS = 0.002


class Batch:
    """Calls that were handed over together, as long as the loop waits for them."""

    def __init__(self) -> None:
        self.open = 1  # until the loop has handed over the last of them
        self.awaited = True
        self.bell = threading.Lock()
        self.bell.acquire()


class Threads:
    """Runs functions on threads for one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(later=self._loop.call_later)
        self._lock = threading.Lock()
        self._batch: Batch | None = None
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._told = False

    async def run(self, fn: Callable[..., T], *args: Any) -> T:
        """What the function returns or raises. Where nobody waits for it any more it is not begun."""
        future: asyncio.Future[T] = self._loop.create_future()
        batch = self._batch
        if batch is None:
            batch = self._batch = Batch()
            self._loop.call_soon(self._give_way, batch)
        with self._lock:
            batch.open += 1

        def work() -> None:
            result: Any = None
            error: BaseException | None = None
            try:
                if not future.cancelled():
                    result = fn(*args)
            except StopIteration as raised:  # a future takes it for the end of something else
                error = RuntimeError(f"{fn.__name__} raised {raised!r}")
            except BaseException as raised:  # noqa: BLE001 - whoever waits gets it
                error = raised
            self._finished(batch, future, result, error)

        self._pool.submit(work)
        return await future

    def aside(self) -> AbstractContextManager[None]:
        """While its thread waits for somebody, another one may work in its place."""
        return self._pool.aside()

    def _give_way(self, batch: Batch) -> None:
        """Leave the interpreter to the calls that have come since the loop last did, until they are done or take long."""
        self._batch = None
        with self._lock:
            batch.open -= 1
            over = not batch.open
        if not over:
            batch.bell.acquire(timeout=SHORT_SECONDS)
        with self._lock:
            batch.awaited = False
        self._deliver()

    def _finished(
        self, batch: Batch, future: asyncio.Future[Any], result: Any, error: BaseException | None
    ) -> None:
        self._done.append((future, result, error))
        with self._lock:
            batch.open -= 1
            if batch.awaited:
                if not batch.open:
                    batch.bell.release()
                return
            told, self._told = self._told, True  # one call of the loop for all that is done by then
        if not told:
            with suppress(RuntimeError):  # the loop is closed, and nobody waits
                self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        self._told = False
        while self._done:
            future, result, error = self._done.popleft()
            if future.done():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
