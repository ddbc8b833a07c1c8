"""How long a tool may work, for domains that promise an answer within a time of their own.

The answer goes out when the time is up. A timeout always means that nothing was changed: what has begun to change files
is finished and answered as what it is, and what has not begun by then never begins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from knapper.errors import ToolError


class Limit:
    """The time of one call; it stands still while a person is asked."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self.seconds = seconds
        self.over = False
        self._clock = clock
        self._changes = threading.Condition()
        self._left = seconds
        self._since: float | None = clock()  # None while the time stands still
        self._begun = self._ended = False

    def run(self, work: Callable[[], Any]) -> Any:
        """What the work gives, or operation_timeout; the work goes on in its thread and can change nothing any more."""
        results: list[Any] = []
        errors: list[BaseException] = []

        def attempt() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 (raised again for the caller)
                errors.append(error)
            with self._changes:
                self._ended = True
                self._changes.notify()

        threading.Thread(target=attempt, name="limited", daemon=True).start()
        if not self._wait():
            raise self._timeout()
        if errors:
            raise errors[0]
        return results[0]

    def begin(self) -> None:
        """Called where a change can no longer be stopped: from here on it has the time it needs."""
        with self._changes:
            if self.over:
                raise self._timeout()
            self._begun, self._since = True, None
            self._changes.notify()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time that does not count, since it is a person's."""
        with self._changes:
            if self._since is not None:
                self._left -= self._clock() - self._since
            self._since = None
            self._changes.notify()
        try:
            yield
        finally:
            with self._changes:
                self._since = None if self._begun else self._clock()
                self._changes.notify()

    def _wait(self) -> bool:
        with self._changes:
            while not self._ended:
                if self._since is None:
                    self._changes.wait()
                    continue
                left = self._left - (self._clock() - self._since)
                if left <= 0:
                    self.over = True
                    return False
                self._changes.wait(left)
        return True

    def _timeout(self) -> ToolError:
        return ToolError(
            "operation_timeout",
            f"it took longer than its {self.seconds:g} seconds, and nothing was changed",
            seconds=self.seconds,
        )
