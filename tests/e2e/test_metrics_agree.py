"""A served vault: `get_metrics` and the metrics listener say the same, number for number."""

from __future__ import annotations

import re
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.security.wire import Site, end, in_session
from tests.server.conftest import Web

Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Web, int]]:
    port = free_port()
    site = Site(
        tmp_path,
        plugins={"only": ["admin", "notes", "capture", "sessions", "sink-prometheus", "sink-cloudevents"]},
        observability={"prometheus": {"enabled": True, "port": port}, "cloudevents": {"spool": True}},
    )
    web = site.web()
    yield web, port
    end(web)


def exposed(port: int) -> Numbers:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        families = text_string_to_metric_families(answer.read().decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
        if not sample.name.endswith("_bucket")
    }


def told(web: Web, session: str) -> Numbers:
    got = in_session(web, session, "get_metrics", {})
    return {(one["name"], tuple(sorted(one["labels"].items()))): one["value"] for one in got["metrics"]}


def test_the_tool_and_the_listener_agree_number_for_number(served: tuple[Web, int]) -> None:
    web, port = served
    session = web.opened()
    for tool, arguments in (
        ("read_note", {"path": "a.md"}),
        ("read_note", {"path": "missing.md"}),
        ("write_note", {"path": "new.md", "content": "text"}),
        ("enqueue_capture", {"content": "text", "idempotency_key": "k"}),
        ("enqueue_capture", {"content": "text", "idempotency_key": "k"}),
        ("start_session", {"caller": "me"}),
        ("delete_note", {"path": "new.md"}),
    ):
        in_session(web, session, tool, arguments)
    unknown = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "no_such_tool"}}
    assert b"-32602" in web.request(body=unknown, Mcp_Session_Id=session)[2]
    # A call is counted when it has ended, so this one is not among its own numbers: both see the same calls.
    listened = exposed(port)
    asked = told(web, session)
    moving = ("knapper_uptime_seconds", ())
    assert asked.pop(moving) >= listened.pop(moving) > 0
    vaultless = {key for key in listened if ("vault", "work") in key[1] or ("vault", "") in key[1]}
    assert asked == {key: value for key, value in listened.items() if key not in vaultless}
    assert asked["knapper_tool_calls_total", labels(vault="home", tool="read_note", status="ok")] == 1
    assert asked["knapper_idempotency_hits_total", labels(vault="home", tool="enqueue_capture")] == 1
    assert asked["knapper_capture_queue_depth", labels(vault="home")] == 1
    assert asked["knapper_active_sessions", labels(vault="home")] == 1
    assert asked["knapper_tool_duration_seconds_count", labels(vault="home", tool="write_note")] == 1
    assert listened["knapper_tool_calls_total", labels(vault="", tool="unknown", status="error")] == 1
    assert all(re.fullmatch(r"knapper_[a-z_]+", name) for name, _ in listened)


def labels(**given: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(given.items()))
