"""The push: events over HTTP, one after the other, from a queue that has an end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from knapper_sink_cloudevents.letters import Letter

QUEUE = 1000
SECONDS = 5.0
LAST_SECONDS = 1.0


class Push:
    """Posts events on a thread of its own, so that a slow endpoint delays neither the spool nor anybody else.

    What does not fit the queue, what the endpoint does not take, and what still waits at the end is handed back.
    """

    def __init__(self, endpoint: str, headers: dict[str, str]) -> None:
        self._endpoint = endpoint
        self._headers = {**headers, "Content-Type": "application/cloudevents+json"}
        self._queue: deque[Letter] = deque()
        self._sending: Letter | None = None
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="cloudevents-push", daemon=True)

    def start(self, refused: Callable[[Letter, str], None]) -> None:
        self._refused = refused
        self._thread.start()

    def put(self, letter: Letter) -> None:
        with self._changed:
            full = len(self._queue) >= QUEUE
            if not full:
                self._queue.append(letter)
                self._changed.notify()
        if full:
            self._refused(letter, "http_queue_full")

    def close(self) -> None:
        """Give the endpoint a last moment, then hand back what it has not taken."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(LAST_SECONDS)
        with self._changed:
            left = [*([self._sending] if self._sending else []), *self._queue]
            self._queue.clear()
            self._sending = None
        for letter in left:
            self._refused(letter, "http_push_failed")

    def _run(self) -> None:
        import httpx

        with httpx.Client(timeout=SECONDS, headers=self._headers) as client:
            while (letter := self._next()) is not None:
                taken = self._post(client, letter)
                with self._changed:
                    mine, self._sending = self._sending is letter, None
                if mine and not taken:
                    self._refused(letter, "http_push_failed")

    def _next(self) -> Letter | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping)
            self._sending = self._queue.popleft() if self._queue else None
            return self._sending

    def _post(self, client: Any, letter: Letter) -> bool:
        import httpx

        try:
            client.post(self._endpoint, content=letter.body).raise_for_status()
        except (httpx.HTTPError, httpx.InvalidURL):
            return False
        return True
