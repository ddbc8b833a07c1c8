"""Real proxies in front of real hosts, and in front of stand-ins that answer as they are told."""

from __future__ import annotations

import json
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from knapper.testing_http import Asked, Reply
from tests.server.conftest import SECONDS, Pipe, Place, Web, place  # noqa: F401 (a fixture)

PROXY = [sys.executable, "-c", "import sys; from knapper_bridge_stdio import main; sys.exit(main())"]
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}
NOWHERE = "http://127.0.0.1:9/mcp"  # the port of a service that throws everything away, and that nobody runs


class Proxy(Pipe):
    """A client of a proxy; that the tools have changed is counted."""

    changes = at_first = 0

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.told: list[Any] = []
        self._notes: queue.Queue[bytes] = queue.Queue()
        super().__init__(command, env)

    def _err(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors.append(line)
            self._notes.put(line)

    def said(self, text: bytes) -> None:
        """Wait until something is noted on stderr that was not waited for before."""
        while text not in self._notes.get(timeout=SECONDS):
            pass

    def greet(self) -> Any:
        """The first half of a handshake; before the second, a proxy whose host refuses may have ended."""
        client = {"name": "test", "version": "1"}
        return self.ask(0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)

    def ask(self, id: int | str, method: str, **params: Any) -> Any:
        """Send a request and return its answer; what is told meanwhile is kept."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        while (message := self.read()).get("id") != id:
            self.told.append(message)
        return message

    def read(self) -> Any:
        message = super().read()
        if message == CHANGED:
            self.changes += 1
            return self.read()
        return message

    def changed(self) -> None:
        """Wait until the client is told that the tools have changed, where it has not been yet."""
        while not self.changes:
            line = self._lines.get(timeout=SECONDS)
            assert line is not None
            message = json.loads(line)
            self.changes += message == CHANGED
            self.told += [message] if message != CHANGED else []

    def names(self, id: int = 900) -> list[str]:
        return [tool["name"] for tool in self.ask(id, "tools/list")["result"]["tools"]]


class Bench:
    """Starts hosts and proxies for one test, and ends them."""

    def __init__(self, place: Place) -> None:  # noqa: F811 (not the fixture)
        self.place = place
        self._started: list[Any] = []

    def host(self, *arguments: str, port: int = 0, **env: str) -> Web:
        """A knapper over HTTP; on the port of one that has gone, it is that one restarted."""
        self._started.append(Web([*self.place.command, *arguments], {**self.place.env, **env}, port))
        found: Web = self._started[-1]
        return found

    def proxy(self, url: str, *arguments: str, **env: str) -> Proxy:
        kept = {k: v for k, v in self.place.env.items() if not k.startswith(("KNAPPER_STDIO", "OBSIDIAN_"))}
        address = ["--url", url] if url else []
        self._started.append(Proxy([*PROXY, *address, *arguments], {**kept, **env}))
        found: Proxy = self._started[-1]
        return found

    def connected(self, url: str, *arguments: str, **env: str) -> Proxy:
        """A proxy whose client has introduced itself and whose host has been met."""
        one = self.proxy(url, *arguments, **env)
        one.initialize()
        one.said(b"connected to")
        one.ask(901, "ping")  # what was told before that line has been read when this is answered
        one.at_first, one.changes = one.changes, 0
        return one

    def close(self) -> None:
        for one in self._started:
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait()


@pytest.fixture
def bench(place: Place) -> Iterator[Bench]:  # noqa: F811 (the fixture)
    made = Bench(place)
    yield made
    made.close()


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        found: int = one.getsockname()[1]
    return found


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Do {name}.", "inputSchema": {"type": "object"}, **more}


class V1Host:
    """A host of /bridge/v1 alone: what it lists and how it answers calls can be changed while it runs."""

    def __init__(self, *tools: dict[str, Any]) -> None:
        self.tools = list(tools)
        self.result: Any = {"success": True, "content": []}

    def __call__(self, asked: Asked) -> Reply:
        if asked.path == "/bridge/v1/health":
            return Reply({"status": "ok", "version": "9", "protocolVersion": "1"})
        if asked.path == "/bridge/v1/tools":
            return Reply({"tools": self.tools, "hash": "of no concern"})
        if asked.path.startswith("/bridge/v1/tools/"):
            return Reply(self.result)
        return Reply({"error": "Not found"}, 404)


class McpHost:
    """A host of /mcp alone, with JSON answers; a method that is named in `replies` is answered with that."""

    def __init__(self, *tools: dict[str, Any]) -> None:
        self.tools = list(tools)
        self.replies: dict[str, Callable[[Asked], Reply]] = {}

    def __call__(self, asked: Asked) -> Reply:
        if asked.path != "/mcp" or asked.method != "POST":
            return Reply({"error": "Not found"}, 404)
        method = asked.body.get("method", "")
        if method in self.replies:
            return self.replies[method](asked)
        if "id" not in asked.body or "method" not in asked.body:
            return Reply(b"", 202)
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}},
            "tools/list": {"tools": self.tools},
            "tools/call": {"content": []},
        }
        if method not in results:
            return answered(asked, error={"code": -32601, "message": "Method not found"})
        return answered(asked, result=results[method])


def answered(asked: Asked, **body: Any) -> Reply:
    return Reply(
        {"jsonrpc": "2.0", "id": asked.body["id"], **body}, headers={"content-type": "application/json"}
    )


def asked_for(told: Any, method: str) -> list[Asked]:
    """The requests of a method that a stand-in has received over /mcp."""
    return [one for one in told.asked if isinstance(one.body, dict) and one.body.get("method") == method]


def until(condition: Callable[[], bool], one: Proxy) -> None:
    """Keep the proxy company until something has happened elsewhere."""
    while not condition():
        one.ask(902, "ping")
        threading.Event().wait(0.01)
