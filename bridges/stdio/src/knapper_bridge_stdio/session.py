"""What the proxy and a host agree on: who the client is, and what the host answered to that."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from knapper.server.exchange import Peer

ACCEPT = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class Session(NamedTuple):
    """What was agreed on with the host."""

    id: str | None
    version: str
    capabilities: dict[str, Any]
    instructions: str

    @property
    def headers(self) -> dict[str, str]:
        found = {**ACCEPT, "mcp-protocol-version": self.version}
        return found | {"mcp-session-id": self.id} if self.id else found


class Greeting(NamedTuple):
    """Whom the session is for: the client's own words, and the way back to it."""

    version: str
    capabilities: dict[str, Any]
    client: dict[str, Any]
    peer: Peer


class Welcome(msgspec.Struct):
    """The host's answer to a greeting."""

    protocolVersion: str  # noqa: N815 (the protocol's spelling)
    capabilities: dict[str, Any] = {}
    instructions: str = ""
