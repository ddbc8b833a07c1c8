"""CloudEvents 1.0 of calls and server events: a spool of files for each vault and day, and a push where one is set."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from knapper import CallRecord, Event, Sink, hookimpl
from knapper.metrics import Family
from knapper.store.audit import AuditRow
from knapper_sink_cloudevents.letters import Letter, Spool, letter_of, safe
from knapper_sink_cloudevents.push import Push

log = logging.getLogger("knapper.sinks.cloudevents")
DROPPED = Family(
    "knapper_cloudevents_emit_dropped_total",
    "counter",
    "Events that the endpoint or the spool did not take.",
    ("vault", "reason"),
)
BESIDES = {  # what else a failed call is, beside a completed one
    "forbidden": "tc.acl.denied",
    "acl_denied": "tc.acl.denied",
    "elicit_required": "tc.elicit.requested",
    "throttled": "tc.rate_limit.hit",
    "overflow": "tc.governor.overflow",
}


class Emitter:
    """Writes events to the spool and hands them to the push; what the push does not take goes to the spool."""

    def __init__(
        self, spool: Spool, push: Push | None, dropped: Callable[[Letter, str], None], *, always: bool
    ) -> None:
        self._spool = spool
        self._push = push
        self._always = always
        self._dropped = dropped
        if push is not None:
            push.start(self._refused)

    def call(self, record: CallRecord) -> None:
        data = _call_data(record)
        self._emit("tc.tool.call.completed", record.vault, record.ts, data)
        if record.error_code in BESIDES:
            self._emit(BESIDES[record.error_code], record.vault, record.ts, data)
        if record.confirmed:
            self._emit("tc.elicit.consumed", record.vault, record.ts, data)

    def event(self, event: Event) -> None:
        self._emit(f"tc.{event.type}", event.vault, event.ts, {"vault_id": event.vault, **event.data})

    def close(self) -> None:
        if self._push is not None:
            self._push.close()

    def _emit(self, kind: str, vault: str, ts: float, data: dict[str, Any]) -> None:
        letter = letter_of(kind, vault, ts, data)
        if self._always:
            self._write(letter)
        if self._push is not None:
            self._push.put(letter)

    def _refused(self, letter: Letter, reason: str) -> None:
        """The endpoint did not take it: it is counted, and kept where it is not kept already."""
        self._dropped(letter, reason)
        if not self._always:
            self._write(letter)

    def _write(self, letter: Letter) -> None:
        try:
            self._spool.write(letter)
        except OSError:
            self._dropped(letter, "spool_write_failed")


def _call_data(record: CallRecord) -> dict[str, Any]:
    data: dict[str, Any] = {
        "vault_id": record.vault,
        "tool": record.tool,
        "caller_hash": record.caller_hash,
        "scopes_required": list(record.scopes),
        "status": record.status,
        "duration_ms": round(record.duration_us / 1000, 3),
        "result_size": record.result_size,
    }
    if record.error_code:
        data["error"] = {"code": record.error_code}
    if record.overflow_bytes:
        data["overflow_bytes"] = record.overflow_bytes
    if record.idempotency_key:
        data["idempotency_key"] = record.idempotency_key
    return data


def build(server: Any) -> Emitter | None:
    """The emitter, where a spool or an endpoint is configured."""
    chosen = server.settings.observability.cloudevents
    if not chosen.spool and chosen.http_endpoint is None:
        return None
    server.metrics.declare(DROPPED)
    headers = {name: value.get_secret_value() for name, value in chosen.http_headers.items()}
    push = Push(chosen.http_endpoint, headers) if chosen.http_endpoint else None
    return Emitter(Spool(server.folder / "events"), push, _counting(server), always=chosen.spool)


def _counting(server: Any) -> Callable[[Letter, str], None]:
    """Every loss is a number among the metrics and a row of the audit; the log has the first of its kind."""
    logged: set[str] = set()

    def dropped(letter: Letter, reason: str) -> None:
        server.metrics.add(DROPPED, letter.vault, reason)
        server.audit.later(
            AuditRow(
                ts=letter.when.timestamp(),
                status="skipped",
                vault_id=letter.vault or None,
                error_code=reason,
                event_type="cloudevents_emit_dropped",
            )
        )
        if reason not in logged:
            logged.add(reason)
            log.warning("an event could not be delivered (%s); further ones are counted", reason)

    return dropped


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="cloudevents", build=build)


__all__ = ["Emitter", "build", "knapper_sinks", "safe"]
