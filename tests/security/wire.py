"""Real server processes with the notes tools, for attacks that come over the wire."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.server.conftest import Pipe, Web, data_of

COMMAND = [sys.executable, "-c", "import sys; from knapper.cli import main; sys.exit(main())"]


class Site:
    """Two vaults, a place for state, and a configuration file for one test's servers."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        for vault in ("home", "work"):
            (root / vault).mkdir(parents=True)
            (root / vault / "a.md").write_text(f"at {vault}\n")
        self.config = root / "config.json"
        base: dict[str, Any] = {
            "vaults": [{"id": id, "path": str(root / id)} for id in ("home", "work")],
            "cache_dir": str(root / "cache"),
            "plugins": {"only": ["notes", "history", "properties", "verifier-jwt", "verifier-apikey"]},
            "throttle": {"enabled": False},
            "tool_facade": {"mode": "flat"},
        }
        self.config.write_text(json.dumps({**base, **settings}))
        self.env = {
            name: value for name, value in os.environ.items() if not name.startswith(("KNAPPER_", "XDG_"))
        } | {"HOME": str(root)}

    def web(self, *arguments: str) -> Web:
        return Web([*COMMAND, "serve", str(self.config), *arguments], self.env)

    def pipe(self, *arguments: str) -> Pipe:
        one = Pipe([*COMMAND, "serve", str(self.config), *arguments], self.env)
        one.initialize()
        return one

    def file(self, path: str) -> str | None:
        place = self.root / path
        return place.read_text() if place.exists() else None


def called(web: Web, tool: str, arguments: dict[str, Any], **headers: str) -> dict[str, Any]:
    """The result of a tool in a session of the older era: its structured content, errors included."""
    session = web.opened(**headers)
    return in_session(web, session, tool, arguments, **headers)


def in_session(
    web: Web, session: str, tool: str, arguments: dict[str, Any], **headers: str
) -> dict[str, Any]:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    status, _, content = web.request(body=body, Mcp_Session_Id=session, **headers)
    assert status == 200, content
    found: dict[str, Any] = data_of(content)["result"]["structuredContent"]
    return found


def end(*servers: Web | Pipe) -> None:
    for one in servers:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
