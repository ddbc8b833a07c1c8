"""The thread that wakes when the next job is due."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from knapper.store.jobs import Jobs

_log = logging.getLogger("knapper.store")
# Another process may shorten the schedule and a laptop may sleep: look again at least this often.
_LONGEST_SLEEP = 60.0
_SHORTEST_SLEEP = 0.05


class Scheduler:
    """Runs due jobs in one background thread, from start() to stop()."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; a second start changes nothing."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._loop, name="knapper-jobs", daemon=True)
            self._thread.start()

    def stop(self, timeout: float | None = 10) -> bool:
        """End after the job that runs now; False where it is still running when the time is over."""
        self._stopping.set()
        self._jobs.changed.set()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        ended = not self._thread.is_alive()
        if ended:
            self._thread = None
        return ended

    def _loop(self) -> None:
        while not self._stopping.is_set():
            self._jobs.changed.clear()
            try:
                self._jobs.run_due()
                due = self._jobs.next_due()
            except Exception as error:  # noqa: BLE001 - a busy state must not end the schedule
                _log.error("the schedule could not be read: %s", error)
                due = None
            self._jobs.changed.wait(self._pause(due))

    def _pause(self, due: float | None) -> float:
        if due is None:
            return _LONGEST_SLEEP
        return min(max(due - self._jobs.now(), _SHORTEST_SLEEP), _LONGEST_SLEEP)
