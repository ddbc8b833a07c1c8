"""The paths of /bridge/v1, and which verb each of them takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_to_bytes

import msgspec

from knapper import __version__
from knapper.config.interlocks import is_loopback
from knapper.routes import Route
from knapper_bridge_rest.answers import Refused, json, nothing, refuse
from knapper_bridge_rest.calls import call

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from knapper.caller import Caller
    from knapper.runtime import Runtime

BASE = "/bridge/v1"
PROTOCOL = "1"
MOST_BYTES = 1_048_576
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
Serve = Callable[[], Any]


def routes() -> list[Route]:
    """Everything below /bridge/v1 comes here, so that what is wrong with it reads the same."""
    paths = (BASE, BASE + "/{path:path}")
    return [Route(path, _answer, VERBS, most_bytes=MOST_BYTES, refuse=refuse) for path in paths]


def _answer(app: Runtime, caller: Caller, request: Request) -> Response:
    try:
        _check_served(app, request)
        verbs, serve = _found(app, caller, request)
    except Refused as refused:
        return refused.response()
    allowed = ", ".join((*verbs, "OPTIONS"))
    if request.method == "OPTIONS":
        return nothing(allow=allowed)
    if request.method not in verbs:
        message = f"{request.method} is not for this path; it takes {allowed}"
        return Refused(405, message).response(allow=allowed)
    try:
        return json(serve())
    except Refused as refused:
        return refused.response()


def _check_served(app: Runtime, request: Request) -> None:
    """The protocol was made for programs on one machine; what the listener is open to makes no difference."""
    if not app.settings.transports.http.bridge:
        raise Refused(404, f"{BASE} is switched off")
    if request.client is not None and not is_loopback(request.client.host):
        raise Refused(403, f"{BASE} is served to this machine only; use MCP from elsewhere")


def _found(app: Runtime, caller: Caller, request: Request) -> tuple[tuple[str, ...], Serve]:
    match _segments(request):
        case ["health"]:
            return ("GET", "HEAD"), _health
        case ["tools"]:
            return ("GET", "HEAD"), lambda: _tools(app, caller)
        case ["tools", name, "call"]:
            return ("POST",), lambda: call(app, caller, name, request._body)
    raise Refused(404, "there is nothing at this path")


def _segments(request: Request) -> list[str]:
    """The parts of the path below the base; a slash inside a tool's name is encoded, and stays one."""
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    parts = raw.removeprefix(BASE.encode()).strip(b"/").split(b"/")
    return [unquote_to_bytes(part).decode("utf-8", "replace") for part in parts]


def _health() -> dict[str, str]:
    return {"status": "ok", "version": __version__, "protocolVersion": PROTOCOL}


def _tools(app: Runtime, caller: Caller) -> dict[str, Any]:
    """The tools that MCP lists for this caller, and their hash."""
    from knapper.server import digest, facade

    listed = [msgspec.json.decode(one) for one in facade.items(app, caller)]
    return {"tools": digest.shown(listed), "hash": digest.tools_hash(listed)}
