"""The audit log: with its change in one commit, off the path for reads, and never failing silently."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from knapper.errors import ToolError
from knapper.store.audit import Audit, AuditRow
from knapper.store.idempotency import Claimed, Keys, Replay
from knapper.store.state import State
from knapper.store.stats import Latency, Stats, ToolCount

ROW = AuditRow(
    ts=1_000_000.0,
    status="ok",
    vault_id="main",
    tool="write_note",
    caller="alice",
    session="s1",
    duration_us=1500,
    result_size=42,
    args_hash="hash-1",
)
CALL = ("main", "key-1", "write_note", "hash-1")


def logged(state: State) -> list[AuditRow]:
    return [entry.row for entry in Stats(state).recent(1000)]


def claim(keys: Keys) -> Claimed:
    claimed = keys.claim(*CALL)
    assert isinstance(claimed, Claimed)
    return claimed


def break_log(state: State) -> None:
    with state.write() as conn:
        conn.exec_driver_sql("ALTER TABLE event_log RENAME TO event_log_gone")


def test_a_row_comes_back_as_it_was_written(state: State) -> None:
    failed = ROW._replace(status="error", error_code="note_not_found", event_type="elicit_minted")
    audit = Audit(state)
    with state.write() as conn:
        audit.write(conn, ROW)
        audit.write(conn, failed)
    assert logged(state) == [failed, ROW]


def test_a_row_written_in_a_transaction_shares_its_fate(state: State, undone: Any) -> None:
    with undone(state) as conn:
        Audit(state).write(conn, ROW)
    assert logged(state) == []


def test_finishing_a_keyed_call_completes_it_and_logs_it(state: State) -> None:
    keys = Keys(state)
    assert Audit(state).finish(ROW, claim(keys), result=b'{"a":1}')
    assert logged(state) == [ROW]
    assert keys.claim(*CALL) == Replay(b'{"a":1}', 7)


def test_finishing_with_only_a_size_keeps_an_overflow(state: State) -> None:
    keys = Keys(state)
    assert Audit(state).finish(ROW, claim(keys), size=2_000_000)
    assert keys.claim(*CALL) == Replay(None, 2_000_000)


def test_finishing_a_call_that_failed_before_its_effect_gives_the_key_back(state: State) -> None:
    keys = Keys(state)
    assert Audit(state).finish(ROW._replace(status="error"), claim(keys))
    assert isinstance(keys.claim(*CALL), Claimed)


def test_finishing_a_call_that_failed_after_its_effect_leaves_it_uncertain(state: State) -> None:
    keys = Keys(state)
    claimed = claim(keys)
    keys.committed(claimed)
    assert Audit(state).finish(ROW._replace(status="error"), claimed)
    with pytest.raises(ToolError) as caught:
        keys.claim(*CALL)
    assert caught.value.code == "indeterminate_outcome"


def test_a_call_without_a_key_is_only_logged(state: State) -> None:
    assert Audit(state).finish(ROW, result=b"{}")
    assert logged(state) == [ROW]


def test_a_log_that_cannot_be_written_is_counted_and_the_outcome_is_kept(state: State) -> None:
    audit, keys = Audit(state), Keys(state)
    claimed = claim(keys)
    break_log(state)
    assert not audit.finish(ROW, claimed, result=b"{}")
    assert not audit.finish(ROW)
    assert audit.failed == 2
    assert keys.claim(*CALL) == Replay(b"{}", 2)


def test_an_outcome_that_cannot_be_kept_is_raised(path: Path) -> None:
    state = State.open(path)
    audit, claimed = Audit(state), claim(Keys(state))
    state.close()
    with pytest.raises(ToolError, match="the state is closed"):
        audit.finish(ROW, claimed, result=b"{}")
    assert audit.failed == 1


def test_queued_rows_are_all_there_after_a_flush(state: State) -> None:
    audit = Audit(state)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: audit.later(ROW._replace(result_size=number)), range(3000)))
    audit.flush()
    with state.read() as conn:
        sizes = conn.exec_driver_sql("SELECT result_size FROM event_log").scalars().all()
    audit.close()
    assert sorted(sizes) == list(range(3000))
    assert (audit.failed, audit.dropped) == (0, 0)


def test_queued_rows_are_written_without_anybody_asking(state: State) -> None:
    audit = Audit(state)
    audit.later(ROW)
    deadline = threading.Event()
    timer = threading.Timer(30, deadline.set)
    timer.start()
    while not logged(state) and not deadline.is_set():
        deadline.wait(0.01)
    timer.cancel()
    audit.close()
    assert logged(state) == [ROW]


def test_closing_writes_what_is_queued_and_drops_what_comes_after(state: State) -> None:
    audit = Audit(state)
    audit.later(ROW)
    audit.close()
    audit.later(ROW)
    assert logged(state) == [ROW]
    assert audit.dropped == 1


def test_queued_rows_that_cannot_be_written_are_counted(state: State) -> None:
    audit = Audit(state)
    break_log(state)
    audit.later(ROW)
    audit.later(ROW)
    audit.close()
    assert audit.failed == 2


def test_a_full_queue_drops_and_counts(state: State) -> None:
    audit = Audit(state, limit=3)
    with state.write():
        # The flusher cannot write while this thread holds the lock, so the queue fills; it may hold one batch itself.
        for _ in range(100):
            audit.later(ROW)
    audit.close()
    written = len(logged(state))
    assert audit.dropped > 0
    assert written + audit.dropped == 100


def test_a_killed_process_keeps_the_rows_it_flushed(path: Path, spawn: Callable[..., Any]) -> None:
    program = """
import sys
from knapper.store.audit import Audit, AuditRow
from knapper.store.state import State
audit = Audit(State.open(sys.argv[1]))
audit.later(AuditRow(ts=1.0, status="ok", tool="read_note"))
audit.flush()
print("flushed", flush=True)
sys.stdin.readline()
"""
    child = spawn(program, str(path))
    assert child.line() == "flushed"
    child.kill()
    state = State.open(path)
    assert logged(state) == [AuditRow(ts=1.0, status="ok", tool="read_note")]
    state.close()


def fill(state: State) -> None:
    audit = Audit(state)
    with state.write() as conn:
        for number in range(1, 21):
            audit.write(conn, AuditRow(float(number), "ok", "main", "read_note", duration_us=number * 10))
        audit.write(conn, AuditRow(21.0, "error", "main", "read_note", duration_us=5000))
        audit.write(conn, AuditRow(22.0, "ok", "other", "write_note", session="s1", duration_us=70))
        audit.write(conn, AuditRow(23.0, "denied", "other", "delete_note"))
        audit.write(conn, AuditRow(24.0, "ok", event_type="sweep_run"))


def test_calls_are_counted_by_tool_and_status(state: State) -> None:
    fill(state)
    stats = Stats(state)
    assert stats.counts() == [
        ToolCount("other", "delete_note", "denied", 1),
        ToolCount("main", "read_note", "error", 1),
        ToolCount("main", "read_note", "ok", 20),
        ToolCount("other", "write_note", "ok", 1),
    ]
    assert stats.counts(vault="other", since=23.0) == [ToolCount("other", "delete_note", "denied", 1)]


def test_latencies_are_nearest_ranks_and_absent_where_nothing_was_measured(state: State) -> None:
    fill(state)
    stats = Stats(state)
    assert stats.latencies() == [Latency("read_note", 21, 110, 200), Latency("write_note", 1, 70, 70)]
    assert stats.latencies(since=19.0, vault="main") == [Latency("read_note", 3, 200, 5000)]


def test_recent_rows_are_paged_by_the_last_one_seen(state: State) -> None:
    fill(state)
    stats = Stats(state)
    first = stats.recent(2)
    second = stats.recent(2, before=first[-1].id)
    assert [entry.row.ts for entry in first + second] == [24.0, 23.0, 22.0, 21.0]
    assert [entry.row.ts for entry in stats.recent(tool="read_note", status="error")] == [21.0]
    assert [entry.row.ts for entry in stats.recent(session="s1")] == [22.0]
    assert [entry.row.ts for entry in stats.recent(since=20.0, vault="main")] == [21.0, 20.0]
