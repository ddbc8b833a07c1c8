"""What belongs together is one commit: no crash can come between."""

from __future__ import annotations

from typing import Any

from knapper.store.audit import Audit, AuditRow
from knapper.store.idempotency import Claimed, Keys
from knapper.store.snapshots import Before, Snapshots
from knapper.store.state import State


def trace(state: State) -> list[str]:
    """The first words of what the writer runs from here on."""
    seen: list[str] = []
    with state.write() as conn:
        driver: Any = conn.connection.dbapi_connection
        driver.set_trace_callback(lambda sql: seen.append(sql.split()[0]))
    seen.clear()
    return seen


def test_the_outcome_of_a_keyed_call_and_its_audit_row_are_one_commit(state: State) -> None:
    claim = Keys(state).claim("main", "k", "write_note", "h")
    assert isinstance(claim, Claimed)
    seen = trace(state)
    Audit(state).finish(AuditRow(1.0, "ok"), claim, result=b"{}")
    assert seen == ["BEGIN", "UPDATE", "INSERT", "COMMIT"]


def test_the_snapshots_of_a_bulk_change_are_one_commit(state: State) -> None:
    seen = trace(state)
    Snapshots(state).take_many("main", [Before("a.md", b"a", "overwrite"), Before("b.md", b"b", "overwrite")])
    assert seen == ["BEGIN", "INSERT", "INSERT", "INSERT", "INSERT", "COMMIT"]


def test_a_batch_of_queued_rows_is_one_commit(state: State) -> None:
    audit = Audit(state)
    seen = trace(state)
    with state.write():
        # The background thread cannot write meanwhile, and joining it is what close() does.
        audit.later(AuditRow(1.0, "ok"))
        audit.later(AuditRow(2.0, "ok"))
        seen.clear()
    audit.close()
    assert seen == ["COMMIT", "BEGIN", "INSERT", "INSERT", "COMMIT"]
