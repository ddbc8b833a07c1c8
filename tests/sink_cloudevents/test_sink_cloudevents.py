import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import knapper_sink_cloudevents
from knapper import Caller, Context, Domain
from knapper.caller import LOCAL
from knapper.maintenance import run_sweep
from knapper.testing import Calls, VaultFolder
from knapper_sink_cloudevents import push, safe

probe = Domain("probe", summary="A tool to watch.")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")


@probe.tool("read:notes")
def look(ctx: Context, word: str) -> str:
    """Give a word back."""
    return word


class Receiver(HTTPServer):
    """A real endpoint that keeps what it is sent and answers with the status it is told."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.status = 204
        self.entered, self.release = threading.Event(), threading.Event()
        self.release.set()


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.entered.set()
        self.server.release.wait(30)
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.server.headers.append(dict(self.headers))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()


def run(call: Calls, scopes: frozenset[str] = LOCAL) -> Path:
    call.plugins.append(knapper_sink_cloudevents)
    runtime = call.runtime(probe)
    runtime.call("look", {"word": "secretword"}, Caller("ann", scopes, authenticated=True, session="s"))
    runtime.hub.close()
    return runtime.folder / "events"


def losses(runtime: Any) -> dict[str, float]:
    measured = {family.name: readings for family, readings in runtime.metrics.read()}
    return {one.labels["reason"]: one.value for one in measured["knapper_cloudevents_emit_dropped_total"]}


def spooled(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for file in sorted(folder.rglob("*.jsonl")) for line in file.read_text().splitlines()
    ]


def test_a_call_is_one_event_in_the_spool_of_its_vault_and_day(call: Calls, vault: VaultFolder) -> None:
    call.settings["observability"] = {"cloudevents": {"spool": True}}
    folder = run(call)
    (event,) = spooled(folder)
    assert (event["specversion"], event["type"], event["source"]) == (
        "1.0",
        "tc.tool.call.completed",
        "knapper/main",
    )
    assert event["data"]["tool"] == "look"
    assert "secretword" not in json.dumps(event)
    assert "ann" not in json.dumps(event)
    assert [file.parent.name for file in folder.rglob("*.jsonl")] == ["main"]


def test_a_denied_call_is_also_a_denial(call: Calls, vault: VaultFolder) -> None:
    call.settings["observability"] = {"cloudevents": {"spool": True}}
    kinds = [event["type"] for event in spooled(run(call, frozenset({"write:notes"})))]
    assert kinds == ["tc.tool.call.completed", "tc.acl.denied"]


def test_events_are_pushed_with_the_configured_headers_and_not_spooled(
    call: Calls, vault: VaultFolder, receiver: Receiver
) -> None:
    url = f"http://127.0.0.1:{receiver.server_port}/events"
    call.settings["observability"] = {"cloudevents": {"http_endpoint": url, "http_headers": {"X-Token": "t"}}}
    folder = run(call)
    assert [event["type"] for event in receiver.got] == ["tc.tool.call.completed"]
    assert receiver.headers[0]["X-Token"] == "t"
    assert receiver.headers[0]["Content-Type"] == "application/cloudevents+json"
    assert spooled(folder) == []


def test_what_the_endpoint_refuses_stays_in_the_spool_and_is_counted_and_logged(
    call: Calls, vault: VaultFolder, receiver: Receiver
) -> None:
    receiver.status = 503
    url = f"http://127.0.0.1:{receiver.server_port}/events"
    call.settings["observability"] = {"cloudevents": {"http_endpoint": url}}
    assert len(spooled(run(call))) == 1
    runtime = call.runtime(probe)
    assert losses(runtime) == {"http_push_failed": 1}
    runtime.audit.flush()
    rows = [one.row for one in runtime.view.stats().recent()]
    assert [(row.event_type, row.status, row.error_code, row.vault_id) for row in rows] == [
        ("cloudevents_emit_dropped", "skipped", "http_push_failed", "main"),
        ("tool_invocation", "ok", None, "main"),
    ]


def test_an_endpoint_that_hangs_delays_neither_calls_nor_the_spool(
    call: Calls, vault: VaultFolder, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "QUEUE", 3)
    monkeypatch.setattr(push, "SECONDS", 120.0)  # not given up while the test looks
    receiver.release.clear()
    url = f"http://127.0.0.1:{receiver.server_port}/events"
    call.settings["observability"] = {"cloudevents": {"http_endpoint": url, "spool": True}}
    call.plugins.append(knapper_sink_cloudevents)
    runtime = call.runtime(probe)
    caller = Caller("ann", LOCAL, authenticated=True)
    assert runtime.call("look", {"word": "x"}, caller).error is None
    assert receiver.entered.wait(10)
    answers = [runtime.call("look", {"word": "x"}, caller).payload for _ in range(9)]
    (lane,) = runtime.hub.lanes
    assert lane.drain(10)
    assert answers == [b'{"result":"x"}'] * 9
    assert len(spooled(runtime.folder / "events")) == 10
    assert losses(runtime) == {"http_queue_full": 6}


def test_what_still_waits_at_the_end_goes_to_the_spool(
    call: Calls, vault: VaultFolder, receiver: Receiver
) -> None:
    receiver.release.clear()
    url = f"http://127.0.0.1:{receiver.server_port}/events"
    call.settings["observability"] = {"cloudevents": {"http_endpoint": url}}
    call.plugins.append(knapper_sink_cloudevents)
    runtime = call.runtime(probe)
    for _ in range(3):
        runtime.call("look", {"word": "x"}, Caller("ann", LOCAL, authenticated=True))
    assert receiver.entered.wait(10)
    runtime.hub.close(30)
    assert len(spooled(runtime.folder / "events")) == 3


@needs_full
def test_a_full_disk_costs_events_and_no_call(call: Calls, vault: VaultFolder) -> None:
    """/dev/full takes nothing: every write to it says that the disk is full."""
    call.settings["observability"] = {"cloudevents": {"spool": True}}
    call.plugins.append(knapper_sink_cloudevents)
    runtime = call.runtime(probe)
    folder = runtime.folder / "events" / "main"
    folder.mkdir(parents=True)
    today = datetime.fromtimestamp(runtime.clock(), UTC)
    for day in (today, today + timedelta(days=1)):
        (folder / f"events-{day:%Y-%m-%d}.jsonl").symlink_to("/dev/full")
    caller = Caller("ann", LOCAL, authenticated=True)
    assert [runtime.call("look", {"word": "x"}, caller).error for _ in range(5)] == [None] * 5
    (lane,) = runtime.hub.lanes
    assert lane.drain(10)
    assert losses(runtime) == {"spool_write_failed": 5}


def test_the_servers_own_events_are_events(call: Calls, vault: VaultFolder) -> None:
    call.settings["observability"] = {"cloudevents": {"spool": True}}
    call.plugins.append(knapper_sink_cloudevents)
    runtime = call.runtime(probe)
    run_sweep(runtime)
    (lane,) = runtime.hub.lanes
    assert lane.drain(10)
    (event,) = spooled(runtime.folder / "events")
    assert (event["type"], event["source"]) == ("tc.maintenance.sweep", "knapper/")
    assert event["data"]["rows_dropped"] == 0


def test_a_dead_endpoint_loses_nothing(call: Calls, vault: VaultFolder, receiver: Receiver) -> None:
    url = f"http://127.0.0.1:{receiver.server_port}/events"
    receiver.shutdown()
    receiver.server_close()
    call.settings["observability"] = {"cloudevents": {"http_endpoint": url}}
    assert len(spooled(run(call))) == 1


def test_a_vault_name_cannot_leave_the_folder() -> None:
    assert (safe("../x"), safe(".."), safe("")) == (".._x", "_", "_")


def test_it_is_off_until_configured(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(knapper_sink_cloudevents)
    assert call.runtime(probe).hub.lanes == []
