"""The inspector's command line as a client of the real server, on both transports."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.conftest import Place

PACKAGE = "@modelcontextprotocol/inspector@2.12.0"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_calls_and_reads(
    npx: Callable[..., Any], web: Callable[..., Any], place: Place, transport: str
) -> None:
    target = place.command if transport == "stdio" else [web().url]
    ours = {name: value for name, value in place.env.items() if name.startswith(("KNAPPER_", "PYTHONPATH"))}
    handed = [part for name, value in ours.items() for part in ("-e", f"{name}={value}")]
    before = handed if transport == "stdio" else []

    def inspect(*arguments: str) -> Any:
        done = npx(PACKAGE, "mcp-inspector", "--cli", *before, *arguments, "--", *target)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    tools = inspect("--method", "tools/list", "--strict")["tools"]
    assert "add_numbers" in {tool["name"] for tool in tools}
    called = inspect("--method", "tools/call", "--tool-name", "add_numbers", "--tool-arg", "a=20", "b=22")
    assert called["structuredContent"] == {"result": 42}
    read = inspect("--method", "resources/read", "--uri", "knapper://main/a.md")
    assert read["contents"][0]["text"] == "Alpha *text*.\n"
