"""A tool called by its name: the same gates as everywhere, another envelope around the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from knapper.errors import ToolError
from knapper.server import eras, facade
from knapper.server.results import error_text, of_outcome
from knapper_bridge_rest.answers import Refused

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.runtime import Runtime

UNKNOWN = ("Tool not found", "TOOL_NOT_FOUND")
REQUIRED = "is required"


def call(app: Runtime, caller: Caller, name: str, body: bytes) -> dict[str, Any]:
    """What the tool answered, or what it failed with; Refused where it could not be asked."""
    if not facade.knows(app, name, caller):
        raise Refused(404, f"there is no tool {name[:64]!r}", error=UNKNOWN)
    arguments = _arguments(body)
    token = arguments.pop("elicit_token", None)  # before anything is hashed: a token is no argument
    target = facade.target(app, name, arguments, caller)
    outcome = target.call(caller, elicit_token=token if isinstance(token, str) else None)
    if outcome.error is None:
        return {"success": True, "content": of_outcome(outcome, eras.LATEST)["content"]}
    _check_fit(app, target, outcome.error)
    text = {"type": "text", "text": error_text(outcome.error)}
    return {"success": False, "content": [text], "isError": True}


def _arguments(body: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(400, "the body is not JSON") from None
    if not isinstance(found, dict):
        raise Refused(400, "the body is not an object")
    if not isinstance(found.get("arguments"), dict):
        raise Refused(400, "'arguments' is missing or not an object", details={"field": "arguments"})
    return dict(found["arguments"])


def _check_fit(app: Runtime, target: facade.Target, error: dict[str, Any]) -> None:
    """Refuse arguments that do not fit; a tool that finds something invalid by itself has been asked and has answered."""
    tool = app.tools.get(target.name) or facade.triad.tools.get(target.name)
    if error["code"] != "validation_error":
        return
    try:
        if tool is not None:
            tool.signature.parse(target.arguments)
            return
    except ToolError:
        pass
    issues = error.get("details", {}).get("issues", [])
    missing = [issue["field"] for issue in issues if issue["message"] == REQUIRED]
    raise Refused(400, error["message"], details={"missing": missing, "issues": issues})
