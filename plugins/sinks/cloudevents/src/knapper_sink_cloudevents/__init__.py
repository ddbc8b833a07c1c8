"""CloudEvents 1.0 of calls and server events: a spool of files for each vault and day, and a push where one is set."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from knapper import CallRecord, Event, Sink, hookimpl
from knapper.config.paths import cache_dir

log = logging.getLogger("knapper.sinks.cloudevents")
UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
BESIDES = {  # what else a failed call is, beside a completed one
    "forbidden": "tc.acl.denied",
    "acl_denied": "tc.acl.denied",
    "elicit_required": "tc.elicit.requested",
    "throttled": "tc.rate_limit.hit",
    "overflow": "tc.governor.overflow",
}


class Emitter:
    """Writes events to the spool and pushes them; what the push does not take stays in the spool."""

    def __init__(self, folder: Path, endpoint: str | None, headers: dict[str, str], *, spool: bool) -> None:
        self._folder = folder
        self._endpoint = endpoint
        self._spool = spool
        self._client: Any = None
        self._headers = {**headers, "Content-Type": "application/cloudevents+json"}
        self.dropped = {"spool_write_failed": 0, "http_push_failed": 0}

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
        if self._client is not None:
            self._client.close()

    def _emit(self, kind: str, vault: str, ts: float, data: dict[str, Any]) -> None:
        when = datetime.fromtimestamp(ts, UTC)
        body = msgspec.json.encode(
            {
                "specversion": "1.0",
                "id": str(uuid4()),
                "source": f"knapper/{vault}",
                "type": kind,
                "datacontenttype": "application/json",
                "time": when.isoformat(),
                "data": data,
            }
        )
        pushed = self._endpoint is not None and self._push(body)
        if self._spool or (self._endpoint is not None and not pushed):
            self._write(vault, when, body)

    def _push(self, body: bytes) -> bool:
        import httpx

        try:
            if self._client is None:
                self._client = httpx.Client(timeout=5.0, headers=self._headers)
            self._client.post(self._endpoint, content=body).raise_for_status()
        except httpx.HTTPError as error:
            self._drop("http_push_failed", error)
            return False
        return True

    def _write(self, vault: str, when: datetime, body: bytes) -> None:
        folder = self._folder / safe(vault)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (folder / f"events-{when:%Y-%m-%d}.jsonl").open("ab") as file:
                file.write(body + b"\n")
        except OSError as error:
            self._drop("spool_write_failed", error)

    def _drop(self, reason: str, error: Exception) -> None:
        self.dropped[reason] += 1
        if self.dropped[reason] == 1:
            log.warning(
                "an event could not be delivered (%s, %s); further ones are counted",
                reason,
                type(error).__name__,
            )


def safe(vault: str) -> str:
    """A vault's name as a folder that is certainly below ours."""
    name = UNSAFE.sub("_", vault)
    return "_" if not name.strip(".") else name


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


def build(settings: Any) -> Emitter | None:
    """The emitter, where a spool or an endpoint is configured."""
    chosen = settings.observability.cloudevents
    if not chosen.spool and chosen.http_endpoint is None:
        return None
    headers = {name: value.get_secret_value() for name, value in chosen.http_headers.items()}
    return Emitter(cache_dir(settings) / "events", chosen.http_endpoint, headers, spool=chosen.spool)


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="cloudevents", build=build)
