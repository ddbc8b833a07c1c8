"""The way of a call: the gates in their order, then one record for whoever watches."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter_ns

from knapper.dispatch import answer, authorise, confirm, idempotency, lookup
from knapper.dispatch.call import Call, Outcome
from knapper.dispatch.throttle import throttle
from knapper.errors import ToolError
from knapper.store.audit import AuditRow

log = logging.getLogger("knapper.dispatch")

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
    answer.check,
    answer.encode,
    answer.govern,
)


class Suspend(Exception):
    """Raised by an edge that must answer the client before the call can go on; the call has had no effect."""


def run(call: Call, gates: tuple[Callable[[Call], None], ...] = GATES) -> Outcome:
    """Take a call through the gates; always returns, whatever happened inside."""
    started, began = call.runtime.clock(), perf_counter_ns()
    error: ToolError | None = None
    try:
        for gate in gates:
            gate(call)
            if call.payload is not None and call.replayed:
                break
    except ToolError as raised:
        error = raised
        call.gate = gate.__name__
    except Suspend:
        if call.claim is not None:
            call.runtime.keys.release(call.claim)
        raise
    except Exception:
        log.exception("%s failed inside", call.name)
        error = ToolError("internal", "internal error")
        call.gate = gate.__name__
    duration = (perf_counter_ns() - began) // 1000
    _finish(call, started, duration, error)
    return Outcome(
        payload=call.payload if call.payload is not None and error is None else b"null",
        error=error.envelope() if error else None,
        attachments=call.attachments,
        vault=vault.id if (vault := getattr(call, "vault", None)) else "",
        replayed=call.replayed,
        duration_us=duration,
        result_size=call.size,
    )


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
    audit = call.runtime.audit
    if call.claim is not None:
        overflow = error is not None and error.code == "overflow"
        audit.finish(
            row, call.claim, result=None if error else call.payload, size=call.size if overflow else None
        )
    elif record.mutating and (call.effect or error is None):
        audit.finish(row)
    else:
        audit.later(row)
    call.runtime.hub.put(record)
