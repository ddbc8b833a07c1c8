"""The handler, and what becomes of its result: checked, encoded once, measured."""

from __future__ import annotations

import logging
import os
from time import perf_counter_ns
from typing import Any

import msgspec

from knapper import typed
from knapper.context import Attachment, Image, ResourceLink
from knapper.dispatch.call import Call
from knapper.dispatch.limit import Limit
from knapper.errors import ToolError
from knapper.page import trimmed

log = logging.getLogger("knapper.dispatch")

ENCODER = msgspec.json.Encoder()
MOST_CHECKED = 16_384  # bytes of an answer whose check costs less than anybody notices
_faulty: set[str] = set()


def not_cancelled(call: Call) -> None:
    if call.cancelled():
        raise ToolError("aborted", "the call was cancelled")


def handle(call: Call) -> None:
    started = perf_counter_ns()
    try:
        call.result = _limited(call)
        _cover(call)
    except ToolError as error:
        if lacking := _lacking(call):  # what seems not to be there may not have been looked at yet
            error.details.setdefault("incomplete", lacking)
        _suggest(call, error)
        raise
    finally:
        call.handler_us = (perf_counter_ns() - started) // 1000


def _limited(call: Call) -> Any:
    """What the tool gives, within the time that its domain allows it, where it allows none for ever."""
    arguments = call.tool.signature.arguments(call.args, call.bind)
    domain, context = call.tool.domain, call.context()
    if domain.limit is None:
        return call.tool.fn(context, **arguments)
    call.limit = limit = Limit(domain.limit(call.runtime.section(domain), call.tool))
    asked = call.cancelled
    call.cancelled = lambda: limit.over or asked()
    return limit.run(lambda: call.tool.fn(context, **arguments))


def _cover(call: Call) -> None:
    """An answer from an index that does not cover all files yet says so."""
    if (lacking := _lacking(call)) and hasattr(call.result, "incomplete"):
        call.result.incomplete = lacking


def _lacking(call: Call) -> str:
    index = vars(call.context()).get("index")
    return "" if index is None else str(index.incomplete)


def _suggest(call: Call, error: ToolError) -> None:
    """Who missed a note is told the paths most like the one that was given."""
    path = error.details.get("path")
    if error.code == "note_not_found" and isinstance(path, str) and "suggestions" not in error.details:
        error.details["suggestions"] = call.context().index.nearest(path)


def encode(call: Call) -> None:
    value: Any = {"result": call.result} if call.tool.wraps else call.result
    fields = call.tool.signature.terse
    if fields and call.args.verbosity == "terse":
        value = trimmed(value, fields)
    call.payload = ENCODER.encode(value)
    call.size = len(call.payload)


def check(call: Call) -> None:
    """A result that breaks its own output schema is the tool's fault: said so in strict mode, logged once otherwise."""
    strict = bool(os.environ.get("KNAPPER_STRICT_OUTPUT_SCHEMA"))
    if not strict and (call.size > MOST_CHECKED or call.name in _faulty):
        return
    try:
        typed.convert(msgspec.to_builtins(call.result), call.tool.signature.returns)
    except msgspec.ValidationError as error:
        if strict:
            raise ToolError("internal_error", f"{call.name} broke its output schema: {error}") from error
        _faulty.add(call.name)
        log.warning("%s breaks its output schema: %s", call.name, error)


def govern(call: Call) -> None:
    """What goes to the client is bounded, attachments included; nothing is cut, since a part may mislead."""
    limit = call.runtime.settings.governor.max_response_bytes
    size = call.size + sum(map(_attached, call.attachments))
    if size > limit:
        call.size, call.overflow = size, size - limit
        raise overflow(size, limit)


def overflow(size: int, limit: int) -> ToolError:
    message = f"the answer has {size} bytes, {limit} are allowed"
    return ToolError("overflow", message, result_size=size, limit=limit)


def _attached(item: Attachment) -> int:
    """Bytes are sent as base64, four for every three."""
    if isinstance(item, ResourceLink):
        return len(item.path)
    content = item.data if isinstance(item, Image) else item.content
    return len(content.encode()) if isinstance(content, str) else (len(content) + 2) // 3 * 4
