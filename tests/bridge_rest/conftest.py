"""A real server process with /bridge/v1 beside /mcp, and what its answers hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Place, Web, data_of, install, place, web  # noqa: F401 (fixtures)

DOORMAN = Path(__file__).parent / "knapper_doorman.py"
GUARDED = ("--set", "auth.mode=doorman")
BASE = "/bridge/v1"


class V1:
    """Plain requests below /bridge/v1, and requests to /mcp of the same server."""

    def __init__(self, served: Web) -> None:
        self.web = served

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        status, _, content = self.web.request(method, BASE + path, body, **headers)
        return status, json.loads(content) if content else None

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        return self.ask("GET", path, **headers)

    def call(self, tool: str, **arguments: Any) -> tuple[int, Any]:
        return self.ask("POST", f"/tools/{tool}/call", {"arguments": arguments})

    def mcp(self, method: str, _session: str = "", **params: Any) -> tuple[int, Any]:
        """A request to /mcp in the handshake's era; a session of its own where none is given."""
        session = _session or self.web.opened()
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        status, _, content = self.web.request(
            body=body, Mcp_Session_Id=session, MCP_Protocol_Version="2025-11-25"
        )
        return status, json.loads(content) if content.startswith(b"{") else data_of(content)


ONLY = {"KNAPPER_PLUGINS__ONLY": '["fixtures", "doorman", "bridge-rest"]'}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[V1]:
    """A server with the default configuration, for all tests of a module that change nothing."""
    at = Place(tmp_path_factory.mktemp("shared"))
    served = Web(at.command, {**at.env, **ONLY})
    yield V1(served)
    served.stop()


@pytest.fixture
def v1(
    web: Callable[..., Web],  # noqa: F811 (the fixture)
    place: Place,  # noqa: F811 (the fixture)
) -> Callable[..., V1]:
    """Start a server: `v1("--set", "transports.http.bridge=false")`."""
    install(place.site, source=DOORMAN)

    def start(*arguments: str, **env: str) -> V1:
        return V1(web(*arguments, **ONLY, **env))

    return start
