"""What is counted of calls, in the shapes that Prometheus reads."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from knapper import CallRecord, Event
from knapper_sink_prometheus.listener import Listener

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
BYTES = (1e3, 1e4, 1e5, 1e6, 1e7)


class Metrics:
    """Counts finished calls; never labelled by caller or scope."""

    def __init__(self, registry: CollectorRegistry, listener: Listener) -> None:
        self._listener = listener
        tool, rated = ["vault", "tool"], ["vault", "scope_class"]
        self._calls = Counter("knapper_tool_calls", "Finished calls.", [*tool, "status"], registry=registry)
        self._seconds = Histogram(
            "knapper_tool_duration_seconds", "Time of calls.", tool, buckets=SECONDS, registry=registry
        )
        self._bytes = Histogram(
            "knapper_response_bytes", "Size of answers.", tool, buckets=BYTES, registry=registry
        )
        self._denied = Counter("knapper_acl_denied", "Refused calls.", [*rated, "reason"], registry=registry)
        self._asked = Counter(
            "knapper_hitl_elicited", "Calls that a person had to confirm.", tool, registry=registry
        )
        self._limited = Counter("knapper_rate_limit_hits", "Throttled calls.", rated, registry=registry)
        self._replayed = Counter(
            "knapper_idempotency_hits", "Calls answered from an earlier one.", tool, registry=registry
        )
        self._overflowed = Counter(
            "knapper_governor_truncations", "Answers over the byte limit.", tool, registry=registry
        )

    def call(self, record: CallRecord) -> None:
        tool = (record.vault, record.tool)
        self._calls.labels(*tool, record.status).inc()
        self._seconds.labels(*tool).observe(record.duration_us / 1e6)
        if record.status == "ok":
            self._bytes.labels(*tool).observe(record.result_size)
        if record.replayed:
            self._replayed.labels(*tool).inc()
        if record.error_code in ("forbidden", "acl_denied", "read_only_mode", "unauthorized"):
            self._denied.labels(record.vault, record.rate, record.error_code).inc()
        elif record.error_code == "elicit_required":
            self._asked.labels(*tool).inc()
        elif record.error_code == "throttled":
            self._limited.labels(record.vault, record.rate).inc()
        elif record.error_code == "overflow":
            self._overflowed.labels(*tool).inc()

    def event(self, event: Event) -> None:
        """Only calls are counted."""

    def close(self) -> None:
        self._listener.close()
