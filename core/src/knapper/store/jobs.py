"""Periodic jobs on a durable schedule: one process at a time runs a job, and a restart does not run it again."""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from knapper.store.state import State

_log = logging.getLogger("knapper.store")

RETRY_FIRST = 60.0
RETRY_CAP = 300.0
_DECLARE = (
    "INSERT INTO job_schedule (vault_id, name, every_seconds, next_run_at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (vault_id, name) DO UPDATE SET every_seconds = excluded.every_seconds,"
    " next_run_at = min(next_run_at, coalesce(last_run_at + excluded.every_seconds, next_run_at))"
    " WHERE every_seconds <> excluded.every_seconds"
)
_LEASE = (
    "UPDATE job_schedule SET lease_owner = ?, lease_expires_at = ?, last_run_at = ?"
    " WHERE vault_id = ? AND name = ? AND lease_owner IS NULL AND next_run_at <= ?"
)
_END_RUN = (
    "UPDATE job_runs SET finished_at = ?, ok = ?, detail = ? WHERE lease_owner = ? AND finished_at IS NULL"
)
_STATUS = (
    "SELECT vault_id, name, every_seconds, next_run_at, last_run_at, last_success_at, last_error,"
    " consecutive_failures, lease_owner IS NOT NULL, lease_expires_at FROM job_schedule ORDER BY vault_id, name"
)


class JobStatus(NamedTuple):
    """How a job stands; a time is None where that has not happened yet."""

    vault: str
    name: str
    every_seconds: float
    next_run_at: float
    last_run_at: float | None
    last_success_at: float | None
    last_error: str | None
    consecutive_failures: int
    running: bool
    lease_expires_at: float | None


class _Job(NamedTuple):
    vault: str
    name: str
    every: float
    run: Callable[[], object]
    when: Callable[[], bool]


class Jobs:
    """The jobs this process can run; their schedule is shared by all processes on the state."""

    def __init__(self, state: State, *, lease: float = 30, now: Callable[[], float] = time.time) -> None:
        self._state = state
        self._lease = lease
        self.now = now
        self.changed = threading.Event()
        self._jobs: dict[tuple[str, str], _Job] = {}

    def declare(
        self,
        name: str,
        every_seconds: float,
        run: Callable[[], object],
        *,
        vault: str = "",
        when: Callable[[], bool] = lambda: True,
    ) -> None:
        """Have `run` called every so many seconds; new jobs are due at once, known ones keep their time.

        What `run` returns, if not None, is kept as the run's detail. Where `when` says no, the job is left for a
        process that can do it.
        """
        if every_seconds <= 0:
            raise ValueError(f"job {name!r} needs an interval above 0 seconds, not {every_seconds!r}")
        self._jobs[vault, name] = _Job(vault, name, every_seconds, run, when)
        with self._state.write() as conn:
            conn.exec_driver_sql(_DECLARE, (vault, name, every_seconds, self.now()))
        self.changed.set()

    def run_due(self) -> list[str]:
        """Run what is due and nobody else runs, one after the other, and return the names; failures are recorded."""
        self._reap()
        return [job.name for job in list(self._jobs.values()) if job.when() and self._run_if_due(job)]

    def next_due(self) -> float | None:
        """When a job can run next that this process may run, or None where there is none."""
        able = {place for place, job in self._jobs.items() if job.when()}
        mine = (status for status in self.status() if (status.vault, status.name) in able)
        return min((max(status.next_run_at, status.lease_expires_at or 0) for status in mine), default=None)

    def status(self) -> list[JobStatus]:
        """Every job on the schedule, also those only other processes declare."""
        with self._state.read() as conn:
            rows = conn.exec_driver_sql(_STATUS).all()
        return [JobStatus(*row)._replace(running=bool(row[8])) for row in rows]

    def _run_if_due(self, job: _Job) -> bool:
        owner = secrets.token_hex(8)
        started = self._take_lease(job, owner)
        if started is None:
            return False
        error, detail = None, None
        with self._kept_alive(owner):
            try:
                result = job.run()
                detail = None if result is None else str(result)
            except Exception as raised:  # noqa: BLE001 - a job may fail in any way
                error = f"{type(raised).__name__}: {raised}"
                _log.exception("job %s failed", job.name)
        self._finish(job, owner, started, error, detail)
        return True

    def _take_lease(self, job: _Job, owner: str) -> float | None:
        with self._state.write() as conn:
            now = self.now()
            leased = conn.exec_driver_sql(_LEASE, (owner, now + self._lease, now, job.vault, job.name, now))
            if leased.rowcount != 1:
                return None
            insert = "INSERT INTO job_runs (vault_id, name, lease_owner, started_at) VALUES (?, ?, ?, ?)"
            conn.exec_driver_sql(insert, (job.vault, job.name, owner, now))
        return now

    def _finish(self, job: _Job, owner: str, started: float, error: str | None, detail: str | None) -> None:
        with self._state.write() as conn:
            now = self.now()
            if error is None:
                conn.exec_driver_sql(_END_RUN, (now, 1, detail, owner))
                conn.exec_driver_sql(
                    "UPDATE job_schedule SET lease_owner = NULL, lease_expires_at = NULL, last_success_at = ?,"
                    " last_error = NULL, consecutive_failures = 0, next_run_at = ? WHERE lease_owner = ?",
                    (now, next_period(started, job.every, now), owner),
                )
            else:
                _fail(conn, owner, now, error)

    def _reap(self) -> None:
        """A lease that ran out belonged to a process that died: its run failed and is tried again later."""
        with self._state.write() as conn:
            now = self.now()
            sql = "SELECT lease_owner FROM job_schedule WHERE lease_expires_at <= ?"
            for (owner,) in conn.exec_driver_sql(sql, (now,)).all():
                _fail(conn, owner, now, "the process that ran it ended")

    @contextmanager
    def _kept_alive(self, owner: str) -> Iterator[None]:
        done = threading.Event()

        def renew() -> None:
            while not done.wait(self._lease / 3):
                try:
                    with self._state.write() as conn:
                        sql = "UPDATE job_schedule SET lease_expires_at = ? WHERE lease_owner = ?"
                        conn.exec_driver_sql(sql, (self.now() + self._lease, owner))
                except Exception as error:  # noqa: BLE001 - the next beat may work
                    _log.error("a job's lease could not be renewed: %s", error)

        thread = threading.Thread(target=renew, name="knapper-job-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def next_period(started: float, every: float, now: float) -> float:
    """The start of the next period counted from this run's start; periods a long run has missed are skipped."""
    return started + every * max(1, math.ceil((now - started) / every))


def retry_after(every: float, failures: int) -> float:
    """How long to wait after the n-th failure in a row: soon at first, and in the end the job's own interval.

    The cap only stretches short intervals; a weekly job is never made to run every few minutes by it for long.
    """
    return min(min(every, RETRY_FIRST) * 2.0 ** min(failures - 1, 60), max(every, RETRY_CAP))


def _fail(conn: Connection, owner: str, now: float, error: str) -> None:
    conn.exec_driver_sql(_END_RUN, (now, 0, error, owner))
    sql = "SELECT every_seconds, consecutive_failures FROM job_schedule WHERE lease_owner = ?"
    row = conn.exec_driver_sql(sql, (owner,)).one_or_none()
    if row is not None:
        failures = row[1] + 1
        conn.exec_driver_sql(
            "UPDATE job_schedule SET lease_owner = NULL, lease_expires_at = NULL, last_error = ?,"
            " consecutive_failures = ?, next_run_at = ? WHERE lease_owner = ?",
            (error, failures, now + retry_after(row[0], failures), owner),
        )
