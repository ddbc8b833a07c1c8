"""The audit log: one row a call, with the change it made or off the path of a read; its failures are counted."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knapper.store import idempotency
from knapper.store.snapshots import Landing, land

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from knapper.store.state import State

_log = logging.getLogger("knapper.store")
_GATHER_SECONDS = 0.1
_BATCH = 1000


class AuditRow(NamedTuple):
    """One finished call or server event; what was not measured is None."""

    ts: float
    status: str
    vault_id: str | None = None
    tool: str | None = None
    caller: str | None = None
    session: str | None = None
    duration_us: int | None = None
    result_size: int | None = None
    error_code: str | None = None
    args_hash: str | None = None
    event_type: str = "tool_invocation"


FIELDS = ", ".join(AuditRow._fields)
INSERT = f"INSERT INTO event_log ({FIELDS}) VALUES ({', '.join('?' * len(AuditRow._fields))})"


class Audit:
    """Writes audit rows: `finish` with the outcome of a change, `later` in batches for reads.

    `failed` counts rows that could not be written, `dropped` those a full or closed queue refused; neither is raised.
    """

    def __init__(self, state: State, *, limit: int = 10_000, now: Callable[[], float] = time.time) -> None:
        self._state = state
        self._limit = limit
        self._now = now
        self._queue: deque[AuditRow] = deque()
        self._counting = threading.Lock()
        self._flushing = threading.Lock()
        self._waiting = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self.failed = 0
        self.dropped = 0

    def write(self, conn: Connection, row: AuditRow) -> None:
        """Add the row inside a given transaction."""
        conn.exec_driver_sql(INSERT, row)

    def finish(
        self,
        row: AuditRow,
        claim: idempotency.Claimed | None = None,
        *,
        result: bytes | None = None,
        size: int | None = None,
        landings: Sequence[Landing] = (),
    ) -> bool:
        """Write the row, the keyed call's outcome and its changes in one commit; False where the row was lost.

        With a result the claim is completed; with only a size the answer overflowed; with neither the call failed and
        the claim is released, or indeterminate where an effect is marked. If the row cannot be written the outcome
        still is, and only a fault of that is raised.
        """
        try:
            with self._state.write() as conn:
                land(conn, landings)
                self._settle(conn, claim, result, size)
                self.write(conn, row)
        except Exception as error:  # noqa: BLE001 - whatever stops the audit, the call has happened
            self._count_failed(1, error)
            if claim is not None or landings:
                with self._state.write() as conn:
                    land(conn, landings)
                    self._settle(conn, claim, result, size)
            return False
        return True

    def later(self, row: AuditRow) -> None:
        """Queue the row for the next batch; a process that is killed loses at most the rows of a moment."""
        if len(self._queue) >= self._limit or self._closing.is_set():
            with self._counting:
                self.dropped += 1
            return
        self._queue.append(row)
        if not self._waiting.is_set():
            self._wake()

    def flush(self) -> None:
        """Write everything queued so far before returning."""
        with self._flushing:
            while batch := self._next_batch():
                self._write_batch(batch)

    def close(self) -> None:
        """Write what is queued and end the background thread."""
        self._closing.set()
        self._waiting.set()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def _settle(
        self, conn: Connection, claim: idempotency.Claimed | None, result: bytes | None, size: int | None
    ) -> None:
        if claim is None:
            return
        if result is None and size is None:
            idempotency.release(conn, claim, self._now())
        else:
            length = size if size is not None else len(result or b"")
            idempotency.settle(conn, claim, self._now(), result, length)

    def _wake(self) -> None:
        with self._counting:
            self._waiting.set()
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="knapper-audit", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._waiting.wait()
            # Rows that come in this moment share the batch, and the callers need not wake anybody.
            self._closing.wait(_GATHER_SECONDS)
            self._waiting.clear()
            self.flush()

    def _next_batch(self) -> list[AuditRow]:
        return [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]

    def _write_batch(self, batch: list[AuditRow]) -> None:
        try:
            with self._state.write() as conn:
                conn.exec_driver_sql(INSERT, list(batch))
        except Exception as error:  # noqa: BLE001 - counted; the thread must go on
            self._count_failed(len(batch), error)

    def _count_failed(self, rows: int, error: Exception) -> None:
        with self._counting:
            self.failed += rows
        _log.error("%d audit row(s) could not be written: %s", rows, error)
