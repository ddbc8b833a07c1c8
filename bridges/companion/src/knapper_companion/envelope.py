"""What the companion answers, unwrapped: its result, or its failure as an error that a caller can act on."""

from __future__ import annotations

from typing import Any

import msgspec

from knapper import typed
from knapper.errors import ToolError
from knapper_companion.transport import Answer, Transport

PASSED_ON = frozenset(
    {
        "plugin_missing",
        "plugin_unreachable",
        "invalid_input",
        "dql_error",
        "jsonlogic_error",
        "operation_timeout",
        "note_not_found",
        "note_exists",
        "acl_denied",
    }
)
KEY_REFUSED = "The Local REST API refuses the key: copy it from the plugin's settings to rest_api_key."


class Envelope(msgspec.Struct):
    """Success with a result, or a failure with a code and a message."""

    ok: bool
    result: Any = None
    code: str = ""
    message: str = ""
    details: Any = None


def opened(answer: Answer) -> Envelope | None:
    """The envelope in an answer, or None where it holds something else."""
    try:
        return typed.decode(answer.body, Envelope)
    except msgspec.DecodeError:
        return None


def result_of(answer: Answer, plugin: str, transport: Transport) -> Any:
    """The result, or a ToolError: codes that callers know pass, any other is plugin_unreachable and named in details."""
    found = opened(answer)
    if found is None:
        raise unexpected(answer, plugin)
    if found.ok:
        return found.result
    message = transport.clean(found.message) or f"the companion failed with {found.code!r}"
    details = {"plugin": plugin, **_details(found.details, transport)}
    if found.code in PASSED_ON:
        raise ToolError(found.code, message, **details)
    raise ToolError("plugin_unreachable", message, **{**details, "bridge_code": transport.clean(found.code)})


def unexpected(answer: Answer, plugin: str) -> ToolError:
    """Of an answer that is no envelope only its status may be told: its text could hold anything."""
    details: dict[str, Any] = {"plugin": plugin, "http_status": answer.status}
    if answer.status in (401, 403):
        details["hint"] = KEY_REFUSED
    what = "something else than an envelope" if answer.status < 300 else f"the status {answer.status}"
    return ToolError("plugin_unreachable", f"Obsidian answered for {plugin!r} with {what}", **details)


def _details(given: Any, transport: Transport) -> dict[str, Any]:
    """Details that are plain values, each cleaned; a companion of another version may send anything."""
    if not isinstance(given, dict):
        return {}
    plain = {str(key): value for key, value in given.items() if isinstance(value, str | int | float | bool)}
    return {k: transport.clean(v) if isinstance(v, str) else v for k, v in plain.items() if k != "plugin"}
