"""The way of a call: the gates in their order, then one record for whoever watches."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from knapper.dispatch import answer, authorise, confirm, idempotency, lookup
from knapper.dispatch.call import Call, Outcome
from knapper.dispatch.throttle import throttle
from knapper.errors import ToolError
from knapper.sinks import CallRecord
from knapper.store.audit import AuditRow
from knapper.store.sqlite import disk_full

log = logging.getLogger("knapper.dispatch")

LONGEST_MESSAGE = 2000
MOST_DETAILS = 65_536
FULL = "there is no space left on the disk of the server's own files"

GATES: tuple[Callable[[Call], None], ...] = (
    answer.not_cancelled,
    lookup.find,
    lookup.parse,
    authorise.authenticated,
    authorise.scopes,
    authorise.vault,
    authorise.writable,
    authorise.paths,
    authorise.precheck,
    idempotency.claim,
    answer.not_cancelled,
    throttle,
    confirm.floor,
    answer.not_cancelled,
    answer.handle,
    idempotency.mark,
    answer.encode,
    answer.check,
    answer.govern,
)


class Suspend(Exception):
    """Raised by an edge that must answer the client before the call can go on; the call has had no effect."""


def run(call: Call, gates: tuple[Callable[[Call], None], ...] = GATES) -> Outcome:
    """Take a call through the gates; always returns, whatever happened inside. A call that has been here is refused."""
    call.begin()
    started, began = call.runtime.clock(), perf_counter_ns()
    error: ToolError | None = None
    try:
        for gate in gates:
            gate(call)
            if call.replayed:
                break
    except ToolError as raised:
        error = raised
    except Suspend:
        if call.claim is not None:
            call.runtime.keys.release(call.claim)
        call.end()
        raise
    except (Exception, SystemExit) as raised:  # a plugin that exits must not take the server along
        log.exception("%s failed inside", call.name)
        error = ToolError("internal", FULL if disk_full(raised) else "internal error")
    if error is not None:
        call.gate = gate.__name__
    duration = (perf_counter_ns() - began) // 1000
    _finish(call, started, duration, error)
    call.end()
    return Outcome(
        payload=call.payload if call.payload is not None and error is None else b"null",
        error=_envelope(error) if error else None,
        refusal=call.refusal(error) if error else None,
        attachments=call.attachments,
        vault=vault.id if (vault := getattr(call, "vault", None)) else "",
        replayed=call.replayed,
        duration_us=duration,
        result_size=call.size,
    )


def _envelope(error: ToolError) -> dict[str, Any]:
    """The error as the client gets it: details that are too much, or no JSON, are left out, and the text is cut."""
    body = error.envelope()
    body["message"] = error.message[:LONGEST_MESSAGE]
    if error.details:
        try:
            size = len(answer.ENCODER.encode(error.details))
        except (TypeError, ValueError, RecursionError):
            log.exception("the details of %s cannot be sent", error.code)
            size = None
        if size is None or size > MOST_DETAILS:
            body["details"] = {"omitted_bytes": size}
    return body


def _finish(call: Call, started: float, duration: int, error: ToolError | None) -> None:
    """Settle the key and write the audit row in one commit where something may have changed; tell the sinks."""
    record = call.record(started, duration, error)
    row = AuditRow(
        ts=started,
        status=record.status,
        vault_id=record.vault or None,
        tool=call.name,
        caller=call.caller.name,
        session=call.caller.session,
        duration_us=duration,
        result_size=call.size,
        error_code=record.error_code,
        args_hash=call.args_hash,
        event_type=f"{call.kind}_invocation",
    )
    if call.claim is not None or call.effect or (record.mutating and error is None):
        _settle(call, row, error)
    else:
        call.runtime.audit.later(row)
    call.runtime.hub.put(record)
    if log.isEnabledFor(logging.DEBUG):
        _tell(record)


def _tell(record: CallRecord) -> None:
    """A line a call, where one is wanted; a name that is no tool's is the caller's own words."""
    tool = record.tool if record.rate != "unknown" or record.kind != "tool" else "unknown"
    fields = {
        "tool": tool,
        "vault": record.vault,
        "status": record.status,
        "error_code": record.error_code,
        "total_ms": record.duration_us / 1000,
        "handler_ms": record.handler_us / 1000,
    }
    shown = {**fields, "code": f" {record.error_code}" if record.error_code else ""}
    log.debug("%(tool)s %(status)s%(code)s in %(total_ms).1f ms", shown, extra={"fields": fields})


def _settle(call: Call, row: AuditRow, error: ToolError | None) -> None:
    """What became of the key, which changes took place, and the audit row: one commit."""
    overflow = error is not None and error.code == "overflow"
    try:
        call.runtime.audit.finish(
            row,
            call.claim,
            result=None if error else call.payload,
            size=call.size if overflow else None,
            landings=call.landings,
        )
    except Exception:  # what has happened has happened: the durable rows still say the least that is certain
        call.runtime.keys.release_failed += call.claim is not None
        log.exception("the outcome of %s could not be recorded", call.name)
