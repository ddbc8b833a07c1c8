"""The protocol's methods: one table, which both edges answer from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from knapper.server import eras, lifecycle, listing
from knapper.server.exchange import Exchange
from knapper.server.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    ProtocolError,
)

Result = dict[str, Any]
Handler = Callable[[Exchange], Result | None]


class Method(NamedTuple):
    """One method: what answers it, in which of the two eras it exists, and whether it is answered at once."""

    handler: Handler
    handshake: bool = True
    modern: bool = True
    quick: bool = False


def _late(module: str, name: str) -> Handler:
    """A handler whose module needs the loaded server, so it is imported when it is first asked."""

    def handler(exchange: Exchange) -> Result | None:
        from importlib import import_module

        found: Result | None = getattr(import_module(f"knapper.server.{module}"), name)(exchange)
        return found

    return handler


METHODS: dict[str, Method] = {
    "initialize": Method(lifecycle.initialize, modern=False, quick=True),
    "server/discover": Method(lifecycle.discover, handshake=False, quick=True),
    "ping": Method(lifecycle.ping, modern=False, quick=True),
    "tools/list": Method(listing.tools, quick=True),
    "tools/call": Method(_late("tools", "call")),
    "resources/list": Method(_late("resources", "list_")),
    "resources/templates/list": Method(_late("resources", "templates")),
    "resources/read": Method(_late("resources", "read")),
    "resources/subscribe": Method(_late("resources", "subscribe"), modern=False),
    "resources/unsubscribe": Method(_late("resources", "unsubscribe"), modern=False),
    "subscriptions/listen": Method(_late("subscriptions", "listen"), handshake=False),
    "prompts/list": Method(_late("prompts", "list_")),
    "prompts/get": Method(_late("prompts", "get")),
    "completion/complete": Method(_late("completion", "complete")),
    "logging/setLevel": Method(lifecycle.set_level, modern=False),
}


def answer(exchange: Exchange) -> Result | None:
    """The result of a request, complete for its era; None where the request stays open, ProtocolError where it fails."""
    method = METHODS.get(exchange.method)
    if method is None or not (method.modern if exchange.modern else method.handshake):
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {exchange.method}")
    if exchange.modern:
        _check_envelope(exchange)
    elif exchange.session.version is None and exchange.method not in ("initialize", "ping"):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: send 'initialize' first")
    result = method.handler(exchange)
    return complete(result) if exchange.modern and result is not None else result


def complete(result: Result) -> Result:
    """A result with what the modern revisions want in every one."""
    result.setdefault("resultType", "complete")
    result["_meta"] = {**result.get("_meta", {}), eras.SERVER: lifecycle.SERVER_INFO}
    return result


def listened(exchange: Exchange) -> Result:
    """The last word of a subscription that the server ends."""
    return complete({"_meta": {eras.SUBSCRIPTION: exchange.id}})


def is_quick(method: str) -> bool:
    """Whether a method is answered where it is read, without a worker."""
    found = METHODS.get(method)
    return found is None or found.quick


def _check_envelope(exchange: Exchange) -> None:
    missing = [key for key in (eras.VERSION, eras.CAPABILITIES) if key not in exchange.meta]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta lacks {', '.join(missing)}")
    version = exchange.meta[eras.VERSION]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta {eras.VERSION} must be a string")
    if version not in eras.MODERN:
        data = {"supported": list(eras.MODERN), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(exchange.meta[eras.CAPABILITIES], dict):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta {eras.CAPABILITIES} must be an object")
