"""What is left of a call: an audit row, with the change it made in one commit, and a record for the sinks."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Any

import pytest

from knapper.caller import Caller
from knapper.sinks import CallRecord, Event
from tests.core.dispatch.desk import Desk, MakeDesk


class Watcher:
    """A sink that keeps what it is told."""

    def __init__(self) -> None:
        self.seen: list[CallRecord] = []

    def call(self, record: CallRecord) -> None:
        self.seen.append(record)

    def event(self, event: Event) -> None: ...
    def close(self) -> None: ...


def watched(desk: Desk) -> list[CallRecord]:
    watcher = Watcher()
    desk.runtime.hub.add("watcher", watcher)
    return watcher.seen


def drain(desk: Desk) -> None:
    assert all(lane.drain(10) for lane in desk.runtime.hub.lanes)


def test_every_call_leaves_an_audit_row_whatever_became_of_it(desk: Desk) -> None:
    desk.call("look", path="a.md")
    desk.call("look", path="../a.md")
    desk.call("look")
    desk.call("nothing")
    desk.call("put", path="b.md", text="x")
    desk.call("wipe", path="b.md")
    desk.call("put_and_fail", path="b.md", when="inside")
    desk.call("look", path="a.md", by=Caller(None))
    # Changes are written at once and the rest in batches, whenever one is due: the order says nothing.
    assert Counter(desk.audited()) == Counter(
        [
            ("look", "ok", None),
            ("look", "error", "path_invalid"),
            ("look", "error", "validation_error"),
            ("nothing", "error", "not_found"),
            ("put", "ok", None),
            ("wipe", "denied", "elicit_required"),
            ("put_and_fail", "error", "internal"),
            ("look", "denied", "unauthorized"),
        ]
    )


def test_a_row_names_the_vault_the_caller_the_session_and_the_hash_but_no_argument(desk: Desk) -> None:
    outcome = desk.call("put", path="b.md", text="what nobody may log", vault="work")
    (logged,) = desk.runtime.view.stats().recent(1)
    row = logged.row
    assert (row.vault_id, row.tool, row.caller, row.session) == ("work", "put", "alice", "s-alice")
    assert (row.status, row.result_size, row.ts) == ("ok", outcome.result_size, desk.clock.now)
    assert row.args_hash is not None
    assert len(row.args_hash) == 32
    assert "nobody" not in repr(row)


def commits(desk: Desk) -> list[list[str]]:
    """The statements of each commit from now on, by table and verb."""
    found: list[list[str]] = []
    state = desk.runtime.state
    inner = state._writer.connection.dbapi_connection
    assert inner is not None

    def trace(statement: str) -> None:
        words = statement.split()
        if words[0] == "BEGIN":
            found.append([])
        elif words[0] in ("INSERT", "UPDATE", "DELETE") and found:
            table = next(w for w in words[1:] if w.lower() in TABLES)
            if not found[-1] or found[-1][-1] != f"{words[0]} {table}":
                found[-1].append(f"{words[0]} {table}")

    inner.set_trace_callback(trace)
    return found


TABLES = {"event_log", "idempotency_keys", "note_snapshots", "snapshot_blobs", "confirmations"}


def test_a_change_is_recorded_in_the_commit_of_its_audit_row(desk: Desk) -> None:
    found = commits(desk)
    desk.call("put", path="a.md", text="new")
    assert found == [
        ["INSERT snapshot_blobs", "INSERT note_snapshots"],
        ["UPDATE note_snapshots", "INSERT event_log"],
    ]


def test_a_keyed_change_settles_its_key_in_the_same_commit(desk: Desk) -> None:
    found = commits(desk)
    desk.call("put", path="a.md", text="new", idempotency_key="k")
    assert found == [
        ["INSERT idempotency_keys"],
        ["UPDATE idempotency_keys"],
        ["INSERT snapshot_blobs", "INSERT note_snapshots"],
        ["UPDATE note_snapshots", "UPDATE idempotency_keys", "INSERT event_log"],
    ]


def test_a_read_writes_nothing_on_its_way(desk: Desk) -> None:
    found = commits(desk)
    desk.call("look", path="a.md")
    assert found == []


def test_a_snapshot_knows_what_the_change_left(desk: Desk) -> None:
    written = desk.call("put", path="a.md", text="new")
    assert written.error is None
    (kept,) = desk.runtime.snapshots.list("home")
    assert kept.landed
    assert kept.after_hash == "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"
    assert desk.runtime.snapshots.read("home", kept.id) == b"at home"


def test_a_failed_audit_is_counted_and_visible_and_the_call_goes_on(desk: Desk) -> None:
    with desk.runtime.state.write() as conn:
        conn.exec_driver_sql(
            "CREATE TRIGGER deaf BEFORE INSERT ON event_log BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    assert desk.code("put", path="b.md", text="x", idempotency_key="k") == "ok"
    assert desk.code("put", path="a.md", text="x") == "ok"
    assert desk.code("look", path="b.md") == "ok"
    desk.runtime.audit.flush()
    measured = {family.name: readings for family, readings in desk.runtime.metrics.read()}
    assert [one.value for one in measured["knapper_audit_write_failed_total"]] == [3]
    assert desk.keys() == [("home", "k", "completed")]
    assert all(kept.landed for kept in desk.runtime.snapshots.list("home"))


def test_a_state_that_cannot_be_written_after_an_effect_does_not_lose_the_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError("the disk of the state is full")

    monkeypatch.setattr(desk.runtime.audit, "finish", fail)
    assert desk.code("put", path="b.md", text="x", idempotency_key="k") == "ok"
    assert desk.keys() == [("home", "k", "effect_committed")]
    assert desk.runtime.keys.release_failed == 1
    desk.clock.now += 61
    assert desk.code("put", path="b.md", text="x", idempotency_key="k") == "indeterminate_outcome"


def test_the_sinks_get_one_finished_record_without_arguments_or_answer(desk: Desk) -> None:
    seen = watched(desk)
    desk.approve(desk.error("wipe", path="a.md"))
    desk.call("wipe", path="a.md", how={"trace": {"traceparent": "00-1"}})
    drain(desk)
    denied, done = seen
    assert (denied.status, denied.error_code, denied.gate) == ("denied", "elicit_required", "floor")
    assert (done.status, done.confirmed, done.gate, done.mutating) == ("ok", True, "", True)
    assert (done.tool, done.vault, done.caller, done.session) == ("wipe", "home", "alice", "s-alice")
    assert (done.rate, done.scopes, done.trace) == ("delete", ("delete:notes",), {"traceparent": "00-1"})
    assert done.duration_us >= done.handler_us > 0


def test_a_token_is_in_no_record(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    seen = watched(desk)
    hashed = desk.error("wipe", path="a.md")["details"]["args_hash"]
    token = desk.runtime.approvals.mint("home", "wipe", hashed, "alice")
    desk.call("wipe", path="a.md", how={"elicit_token": token})
    desk.call("wipe", path="a.md", how={"elicit_token": token})
    drain(desk)
    everything = repr(seen) + repr(desk.audited()) + caplog.text
    with desk.runtime.state.read() as conn:
        for table in TABLES:
            everything += repr(conn.exec_driver_sql(f"SELECT * FROM {table}").all())
    assert token not in everything


def test_a_replay_is_recorded_as_one(desk: Desk) -> None:
    seen = watched(desk)
    for _ in range(2):
        desk.call("put", path="b.md", text="x", idempotency_key="k")
    drain(desk)
    assert [(record.replayed, record.idempotency_key) for record in seen] == [(False, "k"), (True, "k")]


def test_calls_of_many_threads_are_all_recorded(make_desk: MakeDesk) -> None:
    desk = make_desk()
    seen = watched(desk)

    def go(number: int) -> None:
        for turn in range(10):
            desk.call("put", path=f"{number}-{turn}.md", text="x")
            desk.call("look", path="a.md")

    threads = [threading.Thread(target=go, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drain(desk)
    assert len(seen) == 120
    assert len(desk.audited()) == 120
    assert len(desk.runtime.snapshots.list("home", limit=1000)) == 60


def test_a_call_that_finds_the_servers_own_disk_full_says_so_and_changes_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    text = random.Random(1).randbytes(50_000).hex()  # its snapshot needs new pages, however it is packed
    (desk.folder / "home" / "a.md").write_text(text)
    with desk.runtime.state.write() as conn:
        conn.exec_driver_sql("PRAGMA max_page_count = 1")  # no more than there are
    error = desk.error("put", path="a.md", text="x")
    assert error["code"] == "internal"
    assert error["message"] == "there is no space left on the disk of the server's own files"
    assert desk.file("home/a.md") == text
    assert "ROLLBACK" not in caplog.text
