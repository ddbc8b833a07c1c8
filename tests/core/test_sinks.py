"""A sink that hangs, raises or is slow costs its own records and nobody's call."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from knapper import Domain, Sink, hookimpl
from knapper.caller import LOCAL, Caller
from knapper.context import Context
from knapper.sinks import QUEUE, CallRecord, Event, Hub, Lane
from knapper.testing import Calls

small = Domain("small", summary="One tool.")
RECORD = CallRecord(ts=0.0, tool="t")


@small.tool("read:notes", vault=False)
def ping(ctx: Context) -> str:
    """Answer."""
    return "pong"


class Keeper:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.seen: list[CallRecord | Event] = []
        self.closed = 0

    def call(self, record: CallRecord) -> None:
        self.seen.append(record)

    def event(self, event: Event) -> None:
        self.seen.append(event)

    def close(self) -> None:
        self.closed += 1


class Hanging(Keeper):
    """Waits at its first record until the test lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.release = threading.Event(), threading.Event()

    def call(self, record: CallRecord) -> None:
        self.entered.set()
        self.release.wait()
        super().call(record)


class Raising(Keeper):
    def call(self, record: CallRecord) -> None:
        raise RuntimeError("the backend is gone")

    def close(self) -> None:
        raise RuntimeError("still gone")


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    yield hub
    hub.close(0.1)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    sink = Hanging()
    yield sink
    sink.release.set()


def test_records_and_events_arrive_in_order(hub: Hub) -> None:
    keeper = Keeper()
    hub.add("keeper", keeper)
    first, second = RECORD, Event(ts=1.0, type="server.start")
    hub.put(first)
    hub.put(second)
    assert hub.lanes[0].drain(10)
    assert keeper.seen == [first, second]


def test_a_hanging_sink_holds_nobody_up_and_drops_what_does_not_fit(hub: Hub, hanging: Hanging) -> None:
    keeper = Keeper()
    hub.add("hanging", hanging)
    hub.add("keeper", keeper)
    hub.put(RECORD)
    assert hanging.entered.wait(10)
    for _ in range(QUEUE + 25):
        hub.put(RECORD)
    lanes = {lane.name: lane for lane in hub.lanes}
    assert lanes["hanging"].dropped == 25
    assert not lanes["hanging"].drain(0)
    assert lanes["keeper"].drain(10)
    assert len(keeper.seen) + lanes["keeper"].dropped == QUEUE + 26


def test_a_raising_sink_is_counted_and_logged_once(hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    hub.add("raising", Raising())
    for _ in range(5):
        hub.put(RECORD)
    assert hub.lanes[0].drain(10)
    assert hub.lanes[0].failed == 5
    assert [r.getMessage() for r in caplog.records] == [
        "sink raising failed; further failures are only counted"
    ]


def test_a_sink_settles_when_nothing_waits_any_more_and_may_fail_to(hub: Hub) -> None:
    class Settling(Keeper):
        def settle(self) -> None:
            raise RuntimeError(f"after {len(self.seen)}")

    keeper = Settling()
    hub.add("settling", keeper)
    for number in (1, 2):
        hub.put(RECORD)
        assert hub.lanes[0].drain(10)
        assert (len(keeper.seen), hub.lanes[0].failed) == (number, number)


def test_closing_hands_over_what_is_queued_and_closes_the_sink() -> None:
    keeper = Keeper()
    lane = Lane("keeper", keeper)
    for _ in range(100):
        lane.put(RECORD)
    lane.close(10)
    assert (len(keeper.seen), keeper.closed) == (100, 1)


def test_closing_does_not_wait_for_a_sink_that_hangs(hanging: Hanging) -> None:
    lane = Lane("hanging", hanging)
    lane.put(RECORD)
    assert hanging.entered.wait(10)
    closing = threading.Thread(target=lane.close, args=(0.05,))
    closing.start()
    closing.join(30)
    assert not closing.is_alive()


def test_a_sink_that_fails_to_close_costs_nothing(hub: Hub) -> None:
    hub.add("raising", Raising())
    hub.close(10)


def with_sinks(call: Calls, *sinks: Sink) -> Any:
    class Plugin:
        @hookimpl
        def knapper_sinks(self) -> list[Sink]:
            return list(sinks)

    call.plugins.append(Plugin())
    return call.runtime(small)


def pings(runtime: Any, number: int) -> list[bytes]:
    caller = Caller("test", LOCAL, authenticated=True)
    return [runtime.call("ping", {}, caller).payload for _ in range(number)]


def test_calls_are_answered_while_a_sink_hangs_and_another_raises(call: Calls, hanging: Hanging) -> None:
    keeper = Keeper()
    runtime = with_sinks(
        call,
        Sink("hanging", lambda runtime: hanging),
        Sink("raising", lambda runtime: Raising()),
        Sink("keeper", lambda runtime: keeper),
    )
    assert pings(runtime, 50) == [b'{"result":"pong"}'] * 50
    lanes = {lane.name: lane for lane in runtime.hub.lanes}
    assert lanes["keeper"].drain(10)
    assert lanes["raising"].drain(10)
    assert len(keeper.seen) == 50
    assert (lanes["raising"].failed, lanes["hanging"].failed) == (50, 0)
    measured = {family.name: readings for family, readings in runtime.metrics.read()}
    failed = {one.labels["sink"]: one.value for one in measured["knapper_sink_failed_total"]}
    assert failed == {"hanging": 0, "raising": 50, "keeper": 0}


def test_a_sink_that_cannot_be_built_or_is_off_is_left_out(call: Calls) -> None:
    def broken(runtime: Any) -> Keeper:
        raise OSError("no such endpoint")

    keeper = Keeper()
    runtime = with_sinks(
        call,
        Sink("broken", broken),
        Sink("off", lambda runtime: None),
        Sink("keeper", lambda runtime: keeper),
    )
    assert pings(runtime, 1) == [b'{"result":"pong"}']
    assert [lane.name for lane in runtime.hub.lanes] == ["keeper"]


def test_a_state_whose_disk_is_full_costs_audit_rows_and_no_call(call: Calls) -> None:
    runtime = with_sinks(call)
    with runtime.state.write() as conn:
        conn.exec_driver_sql("PRAGMA max_page_count = 1")  # not one page more than there are
    assert pings(runtime, 400) == [b'{"result":"pong"}'] * 400
    runtime.audit.flush()
    measured = {family.name: readings for family, readings in runtime.metrics.read()}
    assert [one.value for one in measured["knapper_audit_write_failed_total"]] == [runtime.audit.failed]
    assert runtime.audit.failed >= 1
