import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import knapper_sink_otel
from knapper import Caller, Context, Domain, __version__
from knapper.caller import LOCAL
from knapper.testing import Calls, VaultFolder

probe = Domain("probe", summary="A tool to watch.")
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@probe.tool("read:notes")
def look(ctx: Context, word: str) -> str:
    """Give a word back."""
    return word


class Collector(HTTPServer):
    """A real OTLP receiver over HTTP."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Any] = []
        self.resource: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.entered, self.release = threading.Event(), threading.Event()
        self.release.set()


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        import gzip

        self.server.entered.set()
        self.server.release.wait(60)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            self.server.resource = {a.key: a.value.string_value for a in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.server.spans += scope.spans
        self.server.headers = dict(self.headers)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()


def attributes(span: Any) -> dict[str, Any]:
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in span.attributes}


def run(call: Calls, collector: Collector, arguments: dict[str, str], **how: Any) -> Any:
    (span,) = runs(call, collector, arguments, **how)
    return span


def runs(call: Calls, collector: Collector, *each: dict[str, str], **how: Any) -> list[Any]:
    url = f"http://127.0.0.1:{collector.server_port}/v1/traces"
    call.settings["observability"] = {"otel": {"endpoint": url, "headers": {"x-key": "k"}}}
    call.plugins.append(knapper_sink_otel)
    runtime = call.runtime(probe)
    for arguments in each:
        runtime.call("look", arguments, Caller("ann", LOCAL, authenticated=True, session="s"), **how)
    runtime.hub.close(10)
    return collector.spans


def test_a_call_is_one_server_span_with_its_facts(
    call: Calls, vault: VaultFolder, collector: Collector
) -> None:
    span = run(call, collector, {"word": "secretword"})
    found = attributes(span)
    assert (span.name, span.kind, span.parent_span_id) == ("knapper.look", 2, b"")
    assert found.pop("knapper.duration_ms") > 0
    assert found == {
        "knapper.vault_id": "main",
        "knapper.tool": "look",
        "knapper.caller_hash": Caller("ann", LOCAL, authenticated=True).hash,
        "knapper.scopes_required": "read:notes",
        "knapper.status": "ok",
        "knapper.elicit_used": False,
        "rate_limit.hit": False,
    }
    assert "ann" not in str(found.values())
    assert "secretword" not in str(span)
    assert span.end_time_unix_nano >= span.start_time_unix_nano
    assert collector.resource["service.name"] == "knapper"
    assert collector.resource["service.version"] == __version__
    assert collector.resource["service.instance.id"].startswith(f"{os.getpid()}-")
    assert collector.headers["x-key"] == "k"


def test_an_answer_that_is_too_large_says_by_how_much(
    call: Calls, vault: VaultFolder, collector: Collector
) -> None:
    call.settings["governor"] = {"max_response_bytes": 100}
    found = attributes(run(call, collector, {"word": "w" * 200}))
    assert (found["knapper.status"], found["knapper.error_code"]) == ("error", "overflow")
    assert found["knapper.overflow_b"] == 113


def test_a_throttled_call_says_so(call: Calls, vault: VaultFolder, collector: Collector) -> None:
    call.settings["throttle"] = {"tiers": {"read": {"per_minute": 1, "burst": 1}}}
    first, second = runs(call, collector, {"word": "x"}, {"word": "x"})
    assert (attributes(first)["rate_limit.hit"], attributes(second)["rate_limit.hit"]) == (False, True)
    assert attributes(second)["knapper.status"] == "denied"


def test_a_receiver_that_hangs_holds_up_neither_calls_nor_the_end(
    call: Calls, vault: VaultFolder, collector: Collector
) -> None:
    collector.release.clear()
    url = f"http://127.0.0.1:{collector.server_port}/v1/traces"
    call.settings["observability"] = {"otel": {"endpoint": url}}
    call.plugins.append(knapper_sink_otel)
    runtime = call.runtime(probe)
    caller = Caller("ann", LOCAL, authenticated=True)
    assert [runtime.call("look", {"word": "x"}, caller).error for _ in range(600)] == [None] * 600
    assert collector.entered.wait(30)  # a whole batch is under way, and the receiver keeps it
    assert runtime.call("look", {"word": "x"}, caller).error is None
    closing = threading.Thread(target=runtime.close)
    closing.start()
    closing.join(60)
    assert not closing.is_alive()


def test_a_failed_call_is_an_error_with_its_code(
    call: Calls, vault: VaultFolder, collector: Collector
) -> None:
    span = run(call, collector, {})
    assert (span.status.code, span.status.message) == (2, "validation_error")


def test_the_span_belongs_to_the_callers_trace(call: Calls, vault: VaultFolder, collector: Collector) -> None:
    span = run(call, collector, {"word": "x"}, trace={"traceparent": PARENT})
    assert span.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert span.parent_span_id.hex() == "b7ad6b7169203331"


def test_an_over_long_parent_is_not_looked_at(call: Calls, vault: VaultFolder, collector: Collector) -> None:
    span = run(call, collector, {"word": "x"}, trace={"traceparent": PARENT + "-" + "0" * 200})
    assert span.parent_span_id == b""


def test_it_is_off_until_configured(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(knapper_sink_otel)
    assert call.runtime(probe).hub.lanes == []
