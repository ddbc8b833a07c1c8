"""A served vault: the span of a call belongs to the trace that its request names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.wire import Site, end
from tests.server.conftest import Pipe
from tests.sink_otel.test_sink_otel import PARENT, Collector, collector  # noqa: F401 (a fixture)


@pytest.fixture
def pipe(tmp_path: Path, collector: Collector) -> Iterator[Pipe]:  # noqa: F811
    url = f"http://127.0.0.1:{collector.server_port}/v1/traces"
    site = Site(tmp_path, plugins={"only": ["notes", "sink-otel"]}, observability={"otel": {"endpoint": url}})
    one = site.pipe()
    yield one
    end(one)


def test_the_parent_comes_with_the_request(pipe: Pipe, collector: Collector) -> None:  # noqa: F811
    pipe.call(1, "read_note", {"traceparent": PARENT}, path="a.md")
    pipe.call(2, "read_note", {"traceparent": "0" * 500}, path="a.md")
    pipe.call(3, "read_note", path="a.md")
    assert pipe.leave() == 0
    spans = sorted(collector.spans, key=lambda span: int(span.start_time_unix_nano))
    assert [(span.name, span.kind) for span in spans] == [("knapper.read_note", 2)] * 3
    assert [span.parent_span_id.hex() for span in spans] == ["b7ad6b7169203331", "", ""]
    assert spans[0].trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert len({span.trace_id for span in spans}) == 3
