"""Agreeing on a revision, and saying who serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper import __version__
from knapper.server import eras
from knapper.server.exchange import Exchange
from knapper.server.wire import INVALID_PARAMS, INVALID_REQUEST, UNSUPPORTED_VERSION, ProtocolError

if TYPE_CHECKING:
    from knapper.server.host import Host

SERVER_INFO = {"name": "knapper", "title": "knapper", "version": __version__}
CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}


def initialize(exchange: Exchange) -> dict[str, Any]:
    """The revision the client asked for where we speak it, else our latest of that era."""
    requested = exchange.params.get("protocolVersion")
    check_revision(exchange.host, requested)
    if exchange.session.modern:
        data = {"supported": list(eras.MODERN), "requested": requested}
        raise ProtocolError(UNSUPPORTED_VERSION, "This connection is served without a handshake", data)
    if not isinstance(requested, str):
        raise ProtocolError(INVALID_PARAMS, "Invalid params: 'protocolVersion' must be a string")
    session = exchange.session
    session.version = agreed(requested)
    session.capabilities = exchange.table("capabilities")
    session.client = exchange.table("clientInfo")
    return {
        "protocolVersion": session.version,
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": exchange.host.catalogue.instructions,
    }


def agreed(requested: str) -> str:
    return requested if requested in eras.HANDSHAKE else eras.LATEST_HANDSHAKE


def check_revision(host: Host, requested: Any) -> None:
    """ProtocolError where the configuration wants a later revision than a handshake would agree on."""
    lowest = host.catalogue.min_protocol_version
    if lowest is not None and (not isinstance(requested, str) or min(requested, agreed(requested)) < lowest):
        data = {"supported": [v for v in eras.HANDSHAKE if v >= lowest], "requested": requested}
        raise ProtocolError(
            INVALID_REQUEST, f"Invalid request: this server needs protocol {lowest} or later", data
        )


def discover(exchange: Exchange) -> dict[str, Any]:
    return {
        "supportedVersions": list(eras.MODERN),
        "capabilities": CAPABILITIES,
        "instructions": exchange.host.catalogue.instructions,
        "ttlMs": 0,
        "cacheScope": "private",
    }


def ping(_: Exchange) -> dict[str, Any]:
    return {}


def set_level(exchange: Exchange) -> dict[str, Any]:
    """From now on the client gets log messages of this level and above."""
    from knapper.server.client import LEVELS

    level = exchange.text("level")
    if level not in LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: 'level' must be one of {', '.join(LEVELS)}")
    exchange.session.log_level = level
    return {}
