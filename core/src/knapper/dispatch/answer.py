"""The handler, and what becomes of its result: checked, encoded once, measured."""

from __future__ import annotations

import os
from time import perf_counter_ns
from typing import Any

import msgspec

from knapper.dispatch.call import Call
from knapper.errors import ToolError
from knapper.page import trimmed

ENCODER = msgspec.json.Encoder()


def not_cancelled(call: Call) -> None:
    if call.cancelled():
        raise ToolError("aborted", "the call was cancelled")


def handle(call: Call) -> None:
    started = perf_counter_ns()
    try:
        call.result = call.tool.fn(call.context(), **call.tool.signature.arguments(call.args, call.bind))
    except ToolError as error:
        _suggest(call, error)
        raise
    finally:
        call.handler_us = (perf_counter_ns() - started) // 1000


def _suggest(call: Call, error: ToolError) -> None:
    """Who missed a note is told the paths most like the one that was given."""
    path = error.details.get("path")
    if error.code == "note_not_found" and isinstance(path, str) and "suggestions" not in error.details:
        error.details["suggestions"] = call.context().index.nearest(path)


def check(call: Call) -> None:
    """In strict mode a result that breaks its own output schema is the tool's fault, and said so."""
    if not os.environ.get("KNAPPER_STRICT_OUTPUT_SCHEMA"):
        return
    try:
        msgspec.convert(msgspec.to_builtins(call.result), call.tool.signature.returns)
    except msgspec.ValidationError as error:
        raise ToolError("internal_error", f"{call.name} broke its output schema: {error}") from error


def encode(call: Call) -> None:
    value: Any = {"result": call.result} if call.tool.wraps else call.result
    fields = call.tool.signature.terse
    if fields and call.args.verbosity == "terse":
        value = trimmed(value, fields)
    call.payload = ENCODER.encode(value)
    call.size = len(call.payload)


def govern(call: Call) -> None:
    limit = call.runtime.settings.governor.max_response_bytes
    if call.size > limit:
        call.overflow = call.size - limit
        raise ToolError(
            "overflow",
            f"the answer has {call.size} bytes, {limit} are allowed",
            result_size=call.size,
            limit=limit,
        )
