"""Worker threads: as many as are needed up to a limit, so that a slow call does not stall the next."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

Work = Callable[[], object]
Later = Callable[[float, Callable[[], None]], object]
HELD_SECONDS = 0.002


class Pool:
    """Threads that are started when work waits and none is idle; they live as long as the process.

    Where `later` is given, which calls a function after so many seconds, a thread takes one short call after the other
    and the next is woken only when all are held up: threads that take turns at one interpreter cost more than the calls.
    """

    def __init__(self, most: int = 32, later: Later | None = None) -> None:
        self._most = most
        self._later = later
        self._looking = False
        self._work: deque[Work] = deque()
        self._lock = threading.Lock()
        self._finished = threading.Condition(self._lock)
        self._threads = 0
        self._idle: list[threading.Lock] = []  # their bells; the last one to fall idle is woken first
        self._began: dict[threading.Lock, float] = {}
        self._open = 0  # submitted and not finished

    def submit(self, work: Work) -> None:
        with self._lock:
            self._open += 1
            self._work.append(work)
            if self._later is None or self._is_held_up():
                self._wake()
            if self._later is not None and not self._looking:
                self._looking = True
                self._later(HELD_SECONDS, self._look)

    def drain(self, seconds: float) -> bool:
        """Wait until nothing runs and nothing waits; False where that took too long."""
        with self._lock:
            return self._finished.wait_for(lambda: not self._open, seconds)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While a thread waits for somebody, another one may work in its place."""
        with self._lock:
            self._most += 1
            if self._work:
                self._wake()
        try:
            yield
        finally:
            with self._lock:
                self._most -= 1

    def _is_held_up(self) -> bool:
        """Whether no thread has begun anything for a while, and so none will soon come for more."""
        return monotonic() - max(self._began.values(), default=0.0) > HELD_SECONDS

    def _look(self) -> None:
        """Nothing that waits does so for long."""
        assert self._later is not None
        with self._lock:
            if self._work and self._is_held_up():
                self._wake()
            self._looking = bool(self._work)
            if self._looking:
                self._later(HELD_SECONDS, self._look)

    def _wake(self) -> None:
        if self._idle:
            bell = self._idle.pop()
            bell.release()
        elif self._threads < self._most:
            self._threads += 1
            bell = threading.Lock()
            threading.Thread(
                target=self._run, args=(bell,), name=f"call-{self._threads}", daemon=True
            ).start()
        else:
            return
        self._began[bell] = monotonic()

    def _run(self, bell: threading.Lock) -> None:
        bell.acquire()
        while True:
            with self._lock:
                work = self._work.popleft() if self._work else None
                if work is not None:
                    self._began[bell] = monotonic()
                else:
                    self._began.pop(bell, None)
                    self._idle.append(bell)
            if work is None:
                bell.acquire()
                continue
            try:
                work()
            except Exception:
                import logging

                logging.getLogger("knapper.server").exception("a worker failed inside")
            finally:
                with self._lock:
                    self._open -= 1
                    if not self._open:
                        self._finished.notify_all()
