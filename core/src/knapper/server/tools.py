"""tools/call: from the protocol through every gate and back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from knapper.server import facade
from knapper.server.client import Answered, Client
from knapper.server.exchange import Exchange
from knapper.server.results import of_outcome
from knapper.server.wire import INVALID_PARAMS, ProtocolError

TRACE = {"traceparent": 128, "tracestate": 512, "baggage": 8192}
PROGRESS_SECONDS = 0.02


def call(exchange: Exchange) -> dict[str, Any]:
    """Call a tool, by its own name or through the facade."""
    with exchange.host.calling():
        return _call(exchange)


def _call(exchange: Exchange) -> dict[str, Any]:
    name, arguments = exchange.text("name"), dict(exchange.table("arguments"))
    token = arguments.pop("elicit_token", None)  # before anything is hashed: a token is no argument
    runtime = exchange.host.runtime
    target = facade.target(runtime, name, arguments, exchange.caller)
    client = Client(exchange, runtime, target.name, target.args_hash)
    try:
        outcome = target.call(
            exchange.caller,
            ask=client.asks,
            client=client,
            cancelled=lambda: exchange.cancelled,
            on_progress=progress(exchange),
            elicit_token=token if isinstance(token, str) else None,
            trace=trace(exchange.meta),
        )
    except Answered as answered:
        return answered.unwrap()
    error = outcome.error
    if (
        error is not None
        and error["code"] == "not_found"
        and not facade.knows(runtime, name, exchange.caller)
    ):
        raise unknown(error)
    return of_outcome(outcome, exchange.version)


def unknown(error: dict[str, Any]) -> ProtocolError:
    """The request itself is wrong where it names no tool; many clients show a model nothing but the message."""
    near = error.get("details", {}).get("suggestions", [])
    message = f"{error['message']}; the nearest: {', '.join(near)}" if near else error["message"]
    data = {"errorCode": error["code"], **{k: v for k, v in error.items() if k not in ("code", "message")}}
    return ProtocolError(INVALID_PARAMS, message, data)


def progress(exchange: Exchange) -> Callable[[float, float | None, str], None] | None:
    """A function that tells the client how far a call is, where it asked to be told."""
    token = exchange.meta.get("progressToken")
    if not isinstance(token, (int, str)) or isinstance(token, bool):
        return None
    last, at = float("-inf"), 0.0

    def report(done: float, total: float | None, message: str) -> None:
        """Progress only ever grows, and a tool that reports every file does not flood the client."""
        nonlocal last, at
        now = time.monotonic()
        if done <= last or (now - at < PROGRESS_SECONDS and done != total):
            return
        last, at = done, now
        params: dict[str, Any] = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        exchange.peer.notify("notifications/progress", params)

    return report


def trace(meta: dict[str, Any]) -> dict[str, str] | None:
    """The caller's trace context; what is longer than the standard allows is left out."""
    found = {k: v for k, most in TRACE.items() if isinstance(v := meta.get(k), str) and len(v) <= most}
    return found or None
