"""One OpenTelemetry SERVER span a call, sent over OTLP and HTTP in batches; the SDK is loaded only where it is used."""

from __future__ import annotations

import os
import time
from typing import Any

from knapper import CallRecord, Event, Sink, __version__, hookimpl

LONGEST = {"traceparent": 128, "tracestate": 512, "baggage": 8192}


class Spans:
    """Turns finished calls into spans with the times they really had."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("knapper", __version__)

    def call(self, record: CallRecord) -> None:
        from opentelemetry.trace import SpanKind, Status, StatusCode

        start = int(record.ts * 1e9)
        span = self._tracer.start_span(
            f"knapper.{record.tool}",
            context=_parent(record.trace),
            kind=SpanKind.SERVER,
            start_time=start,
            attributes=_attributes(record),
        )
        if record.error_code:
            span.set_status(Status(StatusCode.ERROR, record.error_code))
        span.end(start + record.duration_us * 1000)

    def event(self, event: Event) -> None:
        """Only calls are spans."""

    def close(self) -> None:
        self._provider.shutdown()


def _attributes(record: CallRecord) -> dict[str, Any]:
    found: dict[str, Any] = {
        "knapper.vault_id": record.vault,
        "knapper.tool": record.tool,
        "knapper.caller_hash": record.caller_hash,
        "knapper.scopes_required": ",".join(record.scopes),
        "knapper.status": record.status,
        "knapper.elicit_used": record.confirmed,
        "knapper.duration_ms": record.duration_us / 1000,
        "rate_limit.hit": record.error_code == "throttled",
    }
    if record.error_code:
        found["knapper.error_code"] = record.error_code
    if record.overflow_bytes:
        found["knapper.overflow_b"] = record.overflow_bytes
    return found


def _parent(trace: dict[str, str] | None) -> Any:
    """The caller's own span, from what came with the request; what is over-long is not looked at."""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {k: v for k, v in (trace or {}).items() if len(v) <= LONGEST.get(k, 0)}
    return TraceContextTextMapPropagator().extract(carrier)


def build(server: Any) -> Spans | None:
    """The spans, where an endpoint is configured."""
    chosen = server.settings.observability.otel
    if chosen.endpoint is None:
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    instance = f"{os.getpid()}-{int(time.time() * 1000)}"
    resource = Resource.create(
        {"service.name": "knapper", "service.version": __version__, "service.instance.id": instance}
    )
    provider = TracerProvider(resource=resource)
    headers = {name: value.get_secret_value() for name, value in chosen.headers.items()}
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=chosen.endpoint, headers=headers))
    )
    return Spans(provider)


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="otel", build=build)
