"""A host over /bridge/v1: plain requests, one for each call."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from knapper.server.exchange import Exchange
from knapper_bridge_stdio.http import HostError, Http, decoded, line
from knapper_bridge_stdio.known import Known, known

BASE = "/bridge/v1"
PROTOCOL = "1"
LOOK_SECONDS = 5.0
JSON = {"content-type": "application/json", "accept": "application/json"}
CAPABILITIES: dict[str, Any] = {"tools": {"listChanged": True}}


class Health(msgspec.Struct):
    """What a host says of itself."""

    protocolVersion: str  # noqa: N815 (the protocol's spelling)


class Listed(msgspec.Struct):
    """The tools of a host."""

    tools: list[msgspec.Raw]


class V1:
    """The host's three paths."""

    def __init__(self, http: Http, seconds: float) -> None:
        self._http = http
        self._seconds = seconds
        self._met = False

    def look(self) -> Known:
        """The host's tools; a host that was not met before has to say first that it speaks this protocol."""
        if not self._met:
            spoken = decoded(self._get("/health"), Health).protocolVersion
            if spoken != PROTOCOL:
                raise HostError(f"the host speaks version {spoken!r} of {BASE}, not {PROTOCOL!r}", status=400)
            self._met = True
        listed = decoded(self._get("/tools"), Listed)
        return known([line(tool) for tool in listed.tools], CAPABILITIES, "")

    def call(self, exchange: Exchange) -> dict[str, Any]:
        """Call a tool once; what the host answers beside the success is the result."""
        name, arguments = exchange.text("name"), exchange.table("arguments")
        url = f"{self._http.origin}{BASE}/tools/{quote(name, safe='')}/call"
        body = msgspec.json.encode({"arguments": arguments})
        with self._http.asked("POST", url, body, JSON, self._seconds) as answer:
            found = decoded(answer.read(), dict[str, msgspec.Raw])
        success = found.pop("success", msgspec.Raw(b"true"))
        result: dict[str, Any] = {key: line(value) for key, value in found.items()}
        result.setdefault("content", [])
        return {**result, "isError": bytes(success) != b"true"}

    def _get(self, path: str) -> bytes:
        with self._http.asked("GET", self._http.origin + BASE + path, None, JSON, LOOK_SECONDS) as answer:
            return answer.read()
