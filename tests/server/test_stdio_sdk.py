"""The SDK's client judges our stdio edge, in every era it speaks."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from knapper import __version__
from tests.server.conftest import ERAS, speaks


def served(place: Any) -> Any:
    command, *arguments = place.command
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=place.env))


@pytest.mark.parametrize(("mode", "version"), ERAS)
def test_the_sdk_client_lists_and_calls_tools(
    place: Any, monkeypatch: pytest.MonkeyPatch, mode: Any, version: str
) -> None:
    speaks(monkeypatch, mode, version)

    async def talk() -> None:
        async with Client(served(place), mode=mode) as client:
            assert client.protocol_version == version
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert {"add_numbers", "read_text"} <= set(names)
            read = await client.call_tool("read_text", {"path": "a.md"})
            assert read.structured_content == {"path": "a.md", "text": "Alpha *text*.\n"}
            assert read.content[0].model_dump()["text"] == '{"path":"a.md","text":"Alpha *text*.\\n"}'
            failed = await client.call_tool("read_text", {"path": "b.md"})
            assert failed.is_error
            assert failed.structured_content["code"] == "note_not_found"

    anyio.run(talk)


def test_the_sdk_client_learns_who_serves(place: Any) -> None:
    async def talk() -> None:
        async with Client(served(place), mode="auto") as client:
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == ("knapper", __version__)

    anyio.run(talk)
