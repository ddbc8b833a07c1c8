"""Sessions with real servers: over HTTP on a connection that is kept, and over the pipes of a process."""

from __future__ import annotations

import http.client
import json
from typing import Any, Protocol

from tests.server.conftest import SECONDS, Pipe, Web, data_of


class Refused(Exception):
    """A tool's error, as the client got it."""

    def __init__(self, tool: str, error: dict[str, Any]) -> None:
        super().__init__(f"{tool}: {error.get('code')}: {error.get('message')}")
        self.code = error.get("code")


class Session(Protocol):
    """What a worker needs of a server."""

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]: ...


class OverHttp:
    """A session of its own over a connection of its own."""

    def __init__(self, web: Web, **headers: str) -> None:
        self._session = web.opened(**headers)
        self._headers = headers
        self._path = web.path
        self._connection = http.client.HTTPConnection(web.host, web.port, timeout=2 * SECONDS)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Mcp-Session-Id": self._session,
            **self._headers,
        }
        self._connection.request("POST", self._path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return _result(tool, data_of(content) if content[:1] != b"{" else json.loads(content))


class OverPipes:
    """The one session of a process."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        message = self._pipe.ask(1, "tools/call", name=tool, arguments=arguments)
        while "method" in message:  # what the server tells meanwhile is no answer
            message = self._pipe.read()
        return _result(tool, message)


def _result(tool: str, message: dict[str, Any]) -> dict[str, Any]:
    if "error" in message:
        raise Refused(tool, message["error"])
    found: dict[str, Any] = message["result"]["structuredContent"]
    if message["result"].get("isError"):
        raise Refused(tool, found.get("error", found))
    return found
