"""Answers that hold until the index changes: what is asked again meanwhile is not computed again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

MOST = 256
T = TypeVar("T")


class Answers:
    """A few answers, each with the generation of the index it was computed from; shared by all threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._known: dict[Hashable, tuple[int, Any]] = {}

    def get(self, name: Hashable, generation: int, build: Callable[[], T]) -> T:
        """The answer of this name, computed where it is not known or no longer holds."""
        with self._lock:
            found = self._known.pop(name, None)
        if found is None or found[0] != generation:
            found = (generation, build())
        with self._lock:
            self._known[name] = found  # the latest last, so that the first is the one longest unused
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]
        answer: T = found[1]
        return answer

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
