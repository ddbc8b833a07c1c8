"""Worker threads: short calls share one, and none waits long behind one that is slow."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from knapper.server.http.threads import Threads
from knapper.server.pool import Pool

SECONDS = 10.0


def test_each_work_wakes_a_thread_where_nobody_can_look_later() -> None:
    pool, together = Pool(), threading.Barrier(8)
    for _ in range(8):
        pool.submit(lambda: together.wait(SECONDS))
    assert pool.drain(SECONDS)
    assert not together.broken


def test_no_more_threads_are_started_than_allowed_and_all_work_is_done() -> None:
    pool, names, free = Pool(2), set[str](), threading.Event()
    pool.submit(lambda: free.wait(SECONDS))
    for _ in range(50):
        pool.submit(lambda: names.add(threading.current_thread().name))
    free.set()
    assert pool.drain(SECONDS)
    assert names <= {"call-1", "call-2"}


def test_work_that_fails_takes_no_thread_with_it() -> None:
    pool, done = Pool(1), threading.Event()

    def fail() -> None:
        raise RuntimeError

    pool.submit(fail)
    pool.submit(done.set)
    assert done.wait(SECONDS)
    assert pool.drain(SECONDS)


def test_short_calls_go_on_beside_slow_ones() -> None:
    async def calls() -> list[int]:
        threads, free = Threads(), threading.Event()
        slow = [asyncio.ensure_future(threads.run(free.wait, SECONDS)) for _ in range(8)]
        try:
            return [await asyncio.wait_for(threads.run(abs, -n), SECONDS) for n in range(100)]
        finally:
            free.set()
            assert await asyncio.gather(*slow) == [True] * 8

    assert asyncio.run(calls()) == list(range(100))


def test_all_come_back_that_are_handed_over_while_others_are_already_done(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each ends before the loop has handed over the next, or while it waits for all, or when it has long gone on."""

    def last(seconds: float) -> float:
        time.sleep(seconds)
        return seconds

    async def calls() -> None:
        threads = Threads()

        async def call(seconds: float) -> float:
            last(0.0005)  # the loop is busy, and threads come to work meanwhile
            return await threads.run(last, seconds)

        for n in range(30):
            spans = [(0.0, 0.0002, 0.005)[(n + k) % 3] for k in range(6)]
            together = asyncio.gather(*[call(seconds) for seconds in spans])
            assert await asyncio.wait_for(together, SECONDS) == spans

    asyncio.run(calls())
    assert not caplog.records


def test_the_loop_lives_on_while_a_call_takes_long() -> None:
    async def calls() -> bool:
        threads, free = Threads(), threading.Event()
        slow = asyncio.ensure_future(threads.run(free.wait, SECONDS))
        for _ in range(3):
            await asyncio.sleep(0)
        assert not slow.done()
        free.set()  # said on the loop: a loop that waits for the call would never come here
        return await slow

    assert asyncio.run(calls())


def test_calls_that_come_at_once_share_a_thread() -> None:
    """The loop looks for held-up calls with its clock, so a clock that stands shows who woke whom."""
    looks: list[Callable[[], None]] = []
    pool, names = Pool(later=lambda _, look: looks.append(look)), []
    for _ in range(20):
        pool.submit(lambda: names.append(threading.current_thread().name))
    while not pool.drain(0.01):
        if looks:
            looks.pop()()
    assert len(names) == 20
    assert len(set(names)) < 20


def test_what_a_call_raises_reaches_who_waits() -> None:
    async def call(fn: Callable[[], object]) -> object:
        return await Threads().run(fn)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(call(lambda: 1 // 0))
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(call(lambda: next(iter(()))))


def test_a_call_that_nobody_waits_for_is_not_begun() -> None:
    async def calls() -> list[str]:
        threads, free = Threads(), threading.Event()
        ran: list[str] = []
        slow = [asyncio.ensure_future(threads.run(free.wait, SECONDS)) for _ in range(32)]
        given_up = asyncio.ensure_future(threads.run(ran.append, "given up"))
        await asyncio.sleep(0)
        given_up.cancel()
        free.set()
        await asyncio.gather(*slow)
        await threads.run(ran.append, "waited for")
        return ran

    assert asyncio.run(calls()) == ["waited for"]
