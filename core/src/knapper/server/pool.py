"""Worker threads: as many as are needed up to a limit, so that a slow call does not stall the next."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Work = Callable[[], object]


class Pool:
    """Threads that are started when work waits and none is idle; they live as long as the process."""

    def __init__(self, most: int = 32) -> None:
        self._most = most
        self._work: deque[Work] = deque()
        self._lock = threading.Lock()
        self._waiting = threading.Condition(self._lock)
        self._finished = threading.Condition(self._lock)
        self._threads = 0
        self._idle = 0
        self._open = 0  # submitted and not finished

    def submit(self, work: Work) -> None:
        with self._lock:
            self._open += 1
            self._work.append(work)
            if self._idle < len(self._work) and self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._run, name=f"call-{self._threads}", daemon=True).start()
            else:
                self._waiting.notify()

    def drain(self, seconds: float) -> bool:
        """Wait until nothing runs and nothing waits; False where that took too long."""
        with self._lock:
            return self._finished.wait_for(lambda: not self._open, seconds)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
                while not self._work:
                    self._waiting.wait()
                self._idle -= 1
                work = self._work.popleft()
            try:
                work()
            finally:
                with self._lock:
                    self._open -= 1
                    if not self._open:
                        self._finished.notify_all()
