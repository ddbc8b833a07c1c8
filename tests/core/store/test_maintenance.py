"""The sweep drops what is past its time, and only that."""

from __future__ import annotations

from typing import Any

from knapper.store.audit import Audit, AuditRow
from knapper.store.batches import delete_rows
from knapper.store.confirmations import Approvals
from knapper.store.idempotency import Claimed, Keys
from knapper.store.jobs import Jobs
from knapper.store.maintenance import Retention, Swept, sweep
from knapper.store.snapshots import Snapshots
from knapper.store.state import State
from knapper.store.stats import Stats

DAY = 86400.0


def column(state: State, sql: str) -> list[Any]:
    with state.read() as conn:
        return list(conn.exec_driver_sql(sql).scalars())


def test_an_empty_state_is_swept_and_the_sweep_is_on_record(state: State, clock: Any) -> None:
    assert sweep(state, clock) == Swept(0, 0, 0, 0, 0)
    assert [entry.row for entry in Stats(state).recent()] == [
        AuditRow(ts=1_000_000.0, status="ok", result_size=0, event_type="sweep_run")
    ]


def test_keys_go_when_they_expire_and_crashed_ones_not_before(state: State, clock: Any) -> None:
    keys = Keys(state, ttl=DAY, now=clock)
    keys.claim("main", "crashed", "t", "h")
    clock.forward(DAY - 1)
    fresh = keys.claim("main", "fresh", "t", "h")
    assert isinstance(fresh, Claimed)
    assert sweep(state, clock).idempotency_keys == 0
    clock.forward(1)
    assert sweep(state, clock).idempotency_keys == 1
    assert column(state, "SELECT key FROM idempotency_keys") == ["fresh"]


def test_confirmations_go_when_they_can_no_longer_be_used(state: State, clock: Any) -> None:
    approvals = Approvals(state, ttl=300, now=clock)
    token = approvals.mint("main", "t", "h", "alice")
    clock.forward(300)
    assert sweep(state, clock).confirmations == 0
    assert approvals.consume("main", "t", "h", "alice", token)
    clock.forward(1)
    assert sweep(state, clock).confirmations == 1


def test_old_audit_rows_go_and_newer_stay(state: State, clock: Any) -> None:
    audit = Audit(state)
    for age in (31, 30, 1):
        audit.finish(AuditRow(clock() - age * DAY, "ok", tool=f"{age} days"))
    assert sweep(state, clock).event_log == 1
    assert column(state, "SELECT tool FROM event_log WHERE tool IS NOT NULL ORDER BY id") == [
        "30 days",
        "1 days",
    ]


def test_finished_runs_go_failed_ones_later_and_running_ones_never(state: State, clock: Any) -> None:
    with state.write() as conn:
        insert = (
            "INSERT INTO job_runs (name, lease_owner, started_at, finished_at, ok) VALUES (?, 'x', 0, ?, ?)"
        )
        for name, age, ok in (("done 8", 8, 1), ("done 6", 6, 1), ("failed 31", 31, 0), ("failed 8", 8, 0)):
            conn.exec_driver_sql(insert, (name, clock() - age * DAY, ok))
        conn.exec_driver_sql(insert, ("running", None, None))
    assert sweep(state, clock).job_runs == 2
    assert column(state, "SELECT name FROM job_runs ORDER BY id") == ["done 6", "failed 8", "running"]


def test_snapshots_beyond_the_retention_go(state: State, clock: Any) -> None:
    snapshots = Snapshots(state, now=clock)
    for number in range(5):
        snapshots.take("main", "a.md", str(number).encode(), "overwrite")
    assert sweep(state, clock, Retention(snapshots_per_path=2)).snapshots == 3
    assert snapshots.count("main") == 2


def test_thousands_of_rows_are_dropped(state: State, clock: Any) -> None:
    audit = Audit(state)
    with state.write() as conn:
        for number in range(1203):
            audit.write(conn, AuditRow(float(number), "ok", tool="old"))
    assert sweep(state, lambda: 100 * DAY).event_log == 1203


def test_a_row_that_was_found_expired_and_then_reused_is_not_dropped(state: State, clock: Any) -> None:
    keys = Keys(state, ttl=DAY, now=clock)
    keys.claim("main", "k", "t", "h")
    clock.forward(DAY)
    found = column(state, "SELECT rowid FROM idempotency_keys")
    keys.claim("main", "k", "t", "h")
    assert column(state, "SELECT rowid FROM idempotency_keys") == found
    assert delete_rows(state, "idempotency_keys", found, "expires_at <= ?", (clock(),)) == 0
    assert column(state, "SELECT key FROM idempotency_keys") == ["k"]


def test_the_sweep_runs_as_a_job_and_leaves_its_counts(state: State, clock: Any) -> None:
    jobs = Jobs(state, now=clock)
    jobs.declare("maintenance", 3600, lambda: sweep(state, clock))
    assert jobs.run_due() == ["maintenance"]
    assert column(state, "SELECT detail FROM job_runs") == [
        "idempotency_keys 0, confirmations 0, event_log 0, job_runs 0, snapshots 0"
    ]
