"""What observers are told: one finished record a call, and the server's own events."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Literal, Protocol

import msgspec

log = logging.getLogger("knapper.sinks")
QUEUE = 10_000
GATHER_SECONDS = 0.02
Status = Literal["ok", "denied", "error"]


class CallRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One finished call, without its arguments or its answer."""

    ts: float
    tool: str
    kind: Literal["tool", "resource", "prompt"] = "tool"
    vault: str = ""
    caller: str | None = None
    caller_hash: str = ""
    session: str | None = None
    scopes: tuple[str, ...] = ()
    rate: str = ""
    mutating: bool = False
    status: Status = "ok"
    error_code: str | None = None
    error_message: str | None = None
    duration_us: int = 0
    handler_us: int = 0
    result_size: int = 0
    args_hash: str = ""
    confirmed: bool = False
    replayed: bool = False
    overflow_bytes: int = 0
    idempotency_key: str | None = None
    trace: dict[str, str] | None = None
    gate: str = ""


class Event(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Something the server did of itself: started, stopped, swept, reset a cache."""

    ts: float
    type: str
    vault: str = ""
    data: dict[str, Any] = msgspec.field(default_factory=dict)


class Observer(Protocol):
    """A built sink. Its methods run on a thread of its own; what they raise is counted, not spread.

    One that keeps something open between records may have a method `settle`, called when none is waiting any more.
    """

    def call(self, record: CallRecord) -> None: ...
    def event(self, event: Event) -> None: ...
    def close(self) -> None: ...


class Sink(msgspec.Struct, frozen=True):
    """A kind of observer; `build` gets the server and returns one, or None where it is off.

    Of the server it may use `settings`, `folder`, `metrics` to declare and count what it loses, and `audit`.
    """

    name: str
    build: Callable[[Any], Observer | None]


def _nothing() -> None: ...


class Lane:
    """A sink's queue and thread: bounded, so that a hanging sink drops records instead of slowing calls."""

    def __init__(self, name: str, observer: Observer) -> None:
        self.name = name
        self.dropped = 0
        self.failed = 0
        self.observer = observer
        self._settle: Callable[[], None] = getattr(observer, "settle", _nothing)
        self._queue: deque[CallRecord | Event] = deque()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"sink-{name}", daemon=True)
        self._thread.start()

    def put(self, item: CallRecord | Event) -> None:
        if len(self._queue) >= QUEUE:
            self.dropped += 1
            return
        if self._idle.is_set():
            self._idle.clear()
        self._queue.append(item)
        if not self._wake.is_set():
            self._wake.set()

    def drain(self, seconds: float) -> bool:
        """Wait until what was put is handed over; False where the sink did not keep up."""
        return self._idle.wait(seconds)

    def close(self, seconds: float) -> None:
        self.drain(seconds)
        self._stopping.set()
        self._wake.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait()
            # Records that come in this moment are handed over together, and the calls need not wake anybody.
            self._stopping.wait(GATHER_SECONDS)
            self._wake.clear()
            while self._queue:
                self._try(self._hand_over, self._queue.popleft())
            self._try(self._settle)
            self._idle.set()
        try:
            self.observer.close()
        except Exception:
            log.warning("sink %s failed to close", self.name, exc_info=True)

    def _hand_over(self, item: CallRecord | Event) -> None:
        if isinstance(item, Event):
            self.observer.event(item)
        else:
            self.observer.call(item)

    def _try(self, step: Callable[..., None], *given: CallRecord | Event) -> None:
        try:
            step(*given)
        except Exception:
            self.failed += 1
            if self.failed == 1:
                log.warning("sink %s failed; further failures are only counted", self.name, exc_info=True)


class Hub:
    """All sinks of a server; handing a record over never waits and never raises. `first` is told at once."""

    def __init__(self, first: Callable[[CallRecord | Event], None] | None = None) -> None:
        self.lanes: list[Lane] = []
        self._first = first

    def add(self, name: str, observer: Observer) -> None:
        self.lanes.append(Lane(name, observer))

    def put(self, item: CallRecord | Event) -> None:
        if self._first is not None:
            self._first(item)
        for lane in self.lanes:
            lane.put(item)

    def close(self, seconds: float = 2.0) -> None:
        for lane in self.lanes:
            lane.close(seconds)
