"""The sweep: what has expired or outlived its retention goes, and nothing else."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from knapper.store.audit import INSERT, AuditRow
from knapper.store.batches import delete_where
from knapper.store.snapshots import Snapshots

if TYPE_CHECKING:
    from knapper.store.state import State

_log = logging.getLogger("knapper.store")
_DAY = 86400.0


class Retention(NamedTuple):
    """How long things are kept."""

    event_log_days: float = 30
    succeeded_run_days: float = 7
    failed_run_days: float = 30
    snapshots_per_path: int = 10
    session_days: float = 7


DEFAULT = Retention()


class Swept(NamedTuple):
    """How many rows each part of a sweep dropped."""

    idempotency_keys: int
    confirmations: int
    event_log: int
    job_runs: int
    snapshots: int

    def __str__(self) -> str:
        return ", ".join(f"{name} {rows}" for name, rows in zip(self._fields, self, strict=True))


def sweep(state: State, now: Callable[[], float], retention: Retention = DEFAULT) -> Swept:
    """Drop what is past its time, note the sweep in the audit log, and let SQLite renew its statistics.

    A keyed call that crashed is not touched before it expires: the next claim of its key decides about it.
    """
    time = now()
    keep = Snapshots(
        state, retention.snapshots_per_path, session_seconds=retention.session_days * _DAY, now=now
    )
    swept = Swept(
        idempotency_keys=delete_where(state, "idempotency_keys", "expires_at <= ?", (time,)),
        confirmations=delete_where(state, "confirmations", "expires_at < ?", (time,)),
        event_log=delete_where(state, "event_log", "ts < ?", (time - retention.event_log_days * _DAY,)),
        job_runs=_drop_runs(state, time, retention),
        snapshots=keep.prune(),
    )
    _note(state, now(), swept)
    _renew_statistics(state)
    return swept


def _drop_runs(state: State, time: float, retention: Retention) -> int:
    succeeded = time - retention.succeeded_run_days * _DAY
    failed = time - retention.failed_run_days * _DAY
    condition = "(ok = 1 AND finished_at < ?) OR (ok = 0 AND finished_at < ?)"
    return delete_where(state, "job_runs", condition, (succeeded, failed))


def _note(state: State, time: float, swept: Swept) -> None:
    row = AuditRow(ts=time, status="ok", result_size=sum(swept), event_type="sweep_run")
    with state.write() as conn:
        conn.exec_driver_sql(INSERT, row)


def _renew_statistics(state: State) -> None:
    try:
        with state.write() as conn:
            conn.exec_driver_sql("PRAGMA optimize")
    except Exception as error:  # noqa: BLE001 - a convenience for the query planner; the sweep is done
        _log.warning("the statistics were not renewed: %s", error)
