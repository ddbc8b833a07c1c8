"""The event loop's way to worker threads and back, with as little between them as there can be.

An executor makes two futures for each call and wakes the loop for each answer; that would be a fifth of a short call.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from knapper.server.pool import Pool

T = TypeVar("T")


class Threads:
    """Runs functions on threads for one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = Pool(later=self._loop.call_later)
        self._done: deque[tuple[asyncio.Future[Any], Any, BaseException | None]] = deque()
        self._told = False

    async def run(self, fn: Callable[..., T], *args: Any) -> T:
        """What the function returns or raises. Where nobody waits for it any more it is not begun."""
        future: asyncio.Future[T] = self._loop.create_future()

        def work() -> None:
            if future.cancelled():
                return
            result: Any = None
            error: BaseException | None = None
            try:
                result = fn(*args)
            except StopIteration as raised:  # a future takes it for the end of something else
                error = RuntimeError(f"{fn.__name__} raised {raised!r}")
            except BaseException as raised:  # noqa: BLE001 - whoever waits gets it
                error = raised
            self._finished(future, result, error)

        self._pool.submit(work)
        return await future

    def _finished(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        self._done.append((future, result, error))
        if not self._told:  # one call of the loop for all that is done by then
            self._told = True
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
