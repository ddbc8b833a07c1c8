"""The SDK's client judges our HTTP edge, in every era it speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.server.conftest import ERAS, Place, Web, speaks

Start = Callable[..., Web]


@pytest.mark.parametrize(("mode", "version"), ERAS)
def test_the_sdk_client_uses_every_surface(
    web: Start, monkeypatch: pytest.MonkeyPatch, mode: Any, version: str
) -> None:
    speaks(monkeypatch, mode, version)

    async def talk(url: str) -> None:
        async with Client(streamable_http_client(url), mode=mode) as client:
            assert client.protocol_version == version
            assert "add_numbers" in {tool.name for tool in (await client.list_tools()).tools}
            read = await client.call_tool("read_text", {"path": "a.md"})
            assert read.structured_content == {"path": "a.md", "text": "Alpha *text*.\n"}
            failed = await client.call_tool("fail_knowingly", {})
            assert failed.is_error
            assert failed.structured_content["code"] == "invalid_input"
            contents = (await client.read_resource("knapper://main/a.md")).contents
            assert contents[0].model_dump()["text"] == "Alpha *text*.\n"
            assert len((await client.list_resource_templates()).resource_templates) >= 1
            assert "discuss" in {prompt.name for prompt in (await client.list_prompts()).prompts}
            got = await client.get_prompt("discuss", {"topic": "tea"})
            assert got.messages[0].content.model_dump()["text"] == "Let us discuss tea."
            reference = types.PromptReference(type="ref/prompt", name="discuss")
            completed = await client.complete(reference, {"name": "vault", "value": "m"})
            assert completed.completion.values == ["main"]

    anyio.run(talk, web().url)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_progress_reaches_the_client_on_the_way(web: Start, mode: Any) -> None:
    seen: list[float] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async def talk(url: str) -> None:
        async with Client(streamable_http_client(url), mode=mode) as client:
            done = await client.call_tool("take_time", {"seconds": 0.2}, progress_callback=told)
            assert done.structured_content == {"result": "done"}

    anyio.run(talk, web().url)
    assert len(seen) >= 2
    assert seen == sorted(set(seen))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_person_is_asked_through_the_client(web: Start, place: Place, mode: Any) -> None:
    asked: list[str] = []

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"confirm": True})

    async def talk(url: str) -> None:
        async with Client(streamable_http_client(url), mode=mode, elicitation_callback=answer) as client:
            done = await client.call_tool("destroy_text", {"path": "a.md"})
            assert done.structured_content == {"result": "gone"}

    anyio.run(talk, web().url)
    assert len(asked) == 1
    assert (place.vault / "a.md").read_text() == ""


def test_ten_sessions_and_one_on_stdio_get_only_their_own_answers(web: Start, pipe: Any) -> None:
    one = pipe()
    one.initialize()

    async def talk(url: str, mode: Any, n: int) -> None:
        async with Client(streamable_http_client(url), mode=mode) as client:
            for m in range(10):
                added = await client.call_tool("add_numbers", {"a": n * 1000, "b": m})
                assert added.structured_content == {"result": n * 1000 + m}

    async def all_at_once(url: str) -> None:
        async with anyio.create_task_group() as group:
            for n in range(10):
                group.start_soon(talk, url, "legacy" if n % 2 else "auto", n)

    anyio.run(all_at_once, web().url)
    assert one.call(1, "add_numbers", a=40, b=2)["result"]["structuredContent"] == {"result": 42}
