"""A client in front of a host that runs, is not there yet, dies, and comes back."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from knapper.caller import LOCAL, Caller
from knapper.server.exchange import Exchange, Session
from knapper.testing_http import Reply, loopback
from knapper_bridge_stdio.options import Options
from knapper_bridge_stdio.remote import Remote
from tests.bridge_stdio.conftest import NOWHERE, PROXY, Bench, V1Host, free_port, tool
from tests.server.conftest import install

DOORMAN = Path(__file__).parent.parent / "bridge_rest" / "knapper_doorman.py"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_client_uses_everything_that_the_host_has(bench: Bench, mode: Any) -> None:
    asked: list[str] = []
    steps: list[float] = []

    async def confirm(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"confirm": True})

    async def told(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def talk(url: str) -> None:
        command = StdioServerParameters(
            command=PROXY[0], args=[*PROXY[1:], "--url", url], env=bench.place.env
        )
        async with Client(stdio_client(command), mode=mode, elicitation_callback=confirm) as client:
            assert client.protocol_version == "2025-11-25"
            assert client.server_info is not None
            assert client.server_info.name == "knapper-stdio"
            assert "add_numbers" in {one.name for one in (await client.list_tools()).tools}
            read = await client.call_tool("read_text", {"path": "a.md"})
            assert read.structured_content == {"path": "a.md", "text": "Alpha *text*.\n"}
            failed = await client.call_tool("fail_knowingly", {})
            assert (failed.is_error, failed.structured_content["code"]) == (True, "invalid_input")
            done = await client.call_tool("take_time", {"seconds": 0.2}, progress_callback=told)
            assert done.structured_content == {"result": "done"}
            gone = await client.call_tool("destroy_text", {"path": "a.md"})
            assert gone.structured_content == {"result": "gone"}
            contents = (await client.read_resource("knapper://main/a.md")).contents
            assert contents[0].model_dump()["text"] == ""
            got = await client.get_prompt("discuss", {"topic": "tea"})
            assert got.messages[0].content.model_dump()["text"] == "Let us discuss tea."

    anyio.run(talk, bench.host().url)
    assert len(asked) == 1
    assert len(steps) >= 2


def test_a_host_that_never_answers_does_not_keep_the_client_waiting(bench: Bench) -> None:
    held = threading.Event()
    with loopback(lambda asked: Reply({}, hold=held)) as told:
        one = bench.proxy(told.url + "/mcp")
        assert "result" in one.initialize()
        assert one.ask(1, "ping")["result"] == {}
        held.set()  # whoever waited for an answer of the host would not have come this far


def test_a_client_is_greeted_before_the_first_look_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float | None] = []
    monkeypatch.setattr(threading.Event, "wait", lambda self, seconds=None: waited.append(seconds))
    remote = Remote(Options(NOWHERE, cache_dir=str(tmp_path)))  # whom nobody has told to look
    session = Session(Caller("test", LOCAL))
    remote.greet(Exchange(remote, session, "initialize", {}, 1, remote))
    (seconds,) = waited
    assert seconds is not None
    assert seconds < 1


def test_it_answers_without_a_host_and_tells_when_the_tools_are_there(bench: Bench) -> None:
    port = free_port()
    one = bench.proxy(f"http://127.0.0.1:{port}/mcp")
    found = one.initialize()["result"]
    assert found["serverInfo"]["name"] == "knapper-stdio"
    assert found["capabilities"] == {"tools": {"listChanged": True}}
    assert one.names() == []
    refused = one.call(1, "add_numbers", a=1, b=2)["result"]
    assert refused["isError"] is True
    assert f"the host at http://127.0.0.1:{port} does not answer" in refused["content"][0]["text"]
    bench.host(port=port)
    one.changed()
    assert "add_numbers" in one.names()
    assert one.call(2, "add_numbers", a=1, b=2)["result"]["structuredContent"] == {"result": 3}
    assert one.leave() == 0
    told = one.stderr()
    assert "no tools are known yet, and it is looked for again" in told
    assert "last known" not in told


def test_the_last_known_tools_are_shown_while_the_host_is_away(bench: Bench) -> None:
    host = bench.host()
    first = bench.connected(host.url)
    tools = first.ask(1, "tools/list")["result"]["tools"]
    told = first.ask(2, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})["result"]
    assert first.leave() == 0
    host.stop()
    second = bench.proxy(host.url)
    found = second.initialize()["result"]
    assert second.ask(1, "tools/list")["result"]["tools"] == tools
    assert found["capabilities"] == told["capabilities"]
    assert {"prompts", "resources", "tools"} <= found["capabilities"].keys()
    assert found["instructions"] == told["instructions"]
    assert second.call(2, "add_numbers", a=1, b=2)["result"]["isError"] is True


def test_a_client_is_not_told_of_tools_that_it_has_been_shown(bench: Bench) -> None:
    host = bench.host()
    assert bench.connected(host.url).leave() == 0
    one = bench.connected(host.url, "--poll", "0.05")
    assert one.at_first == 0
    for n in range(20):
        assert one.call(n, "add_numbers", a=n, b=1)["result"]["structuredContent"] == {"result": n + 1}
    assert one.changes == 0


def test_what_is_kept_is_for_one_key_and_its_owner_only(bench: Bench) -> None:
    host = bench.host()
    assert bench.connected(host.url).leave() == 0
    (kept,) = Path(bench.place.env["KNAPPER_CACHE_DIR"], "stdio").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    host.stop()
    other = bench.proxy(host.url, KNAPPER_STDIO_API_KEY="another")
    other.initialize()
    assert other.names() == []
    kept.write_bytes(b"half of somethi")
    broken = bench.proxy(host.url)
    broken.initialize()
    assert broken.names() == []


def test_a_host_that_is_killed_costs_one_call_and_is_found_again(bench: Bench) -> None:
    host = bench.host()
    one = bench.connected(host.url)
    one.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "take_time", "arguments": {"seconds": 50}},
        }
    )
    while "take_time" not in str(host.modern("tools/call", name="running_now", arguments={})):
        pass
    host.process.send_signal(signal.SIGKILL)
    host.process.wait()
    lost = one.read()
    assert lost["id"] == 1
    assert lost["result"]["isError"] is True
    assert lost["result"]["content"][0]["text"].endswith("it was sent once and may have taken effect")
    assert one.call(2, "add_numbers", a=1, b=2)["result"]["isError"] is True
    assert one.ask(3, "ping")["result"] == {}
    assert "add_numbers" in one.names()
    bench.host(port=host.port)
    assert one.call(4, "add_numbers", a=1, b=2)["result"]["structuredContent"] == {"result": 3}
    assert one.leave() == 0


def test_what_holds_for_a_session_holds_for_the_one_after_a_restart(bench: Bench) -> None:
    host = bench.host()
    one = bench.connected(host.url)
    assert one.ask(1, "resources/subscribe", uri="knapper://main/a.md")["result"] == {}
    host.process.send_signal(signal.SIGKILL)
    host.process.wait()
    bench.host(port=host.port)
    assert one.call(2, "add_numbers", a=1, b=2)["result"]["structuredContent"] == {"result": 3}
    while not (told := [m for m in one.told if m["method"] == "notifications/resources/updated"]):
        with (bench.place.vault / "a.md").open("a") as note:
            note.write("More.\n")
        one.call(3, "take_time", seconds=0.2)
    assert told[0]["params"]["uri"] == "knapper://main/a.md"


def test_a_change_of_configuration_reaches_the_client_before_the_next_look(bench: Bench) -> None:
    config = bench.place.vault.parent / "knapper.toml"
    text = f'[[vaults]]\nid = "main"\npath = "{bench.place.vault}"\n'
    config.write_text(text)
    bench.place.command_path = str(config)
    host = bench.host()
    one = bench.connected(host.url, "--poll", "3600")
    assert "shout" in one.names()
    config.write_text(text + '[tool_visibility]\ndisabled = ["shout"]\n')
    one.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "reload_now"}})
    one.changed()
    assert "shout" not in one.names()


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_clients_of_older_revisions_are_served_in_theirs(bench: Bench, version: str) -> None:
    one = bench.proxy(bench.host().url)
    assert one.initialize(version)["result"]["protocolVersion"] == version
    assert "add_numbers" in one.names()
    found = one.call(1, "point_to", path="a.md")["result"]["content"]
    link = "resource_link" if version == "2025-06-18" else "text"
    assert [content["type"] for content in found] == ["text", link, "image"]
    one.said(b"over mcp")


def test_a_cancelled_call_stops_at_the_host_and_is_not_answered(bench: Bench) -> None:
    one = bench.connected(bench.host().url)
    one.send(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "take_time", "arguments": {"seconds": 50}},
        }
    )
    while "take_time" not in str(one.call(2, "running_now")):
        pass
    one.notify("notifications/cancelled", requestId=1)
    while "take_time" in str(one.call(3, "running_now")):
        pass
    assert one.leave() == 0
    assert one.rest() == []


def test_a_client_that_cannot_ask_a_person_gets_the_hosts_way_out(bench: Bench) -> None:
    one = bench.connected(bench.host().url)
    refused = one.call(1, "destroy_text", path="a.md")["result"]
    assert refused["structuredContent"]["code"] == "elicit_required"
    assert "run `knapper approvals approve" in json.dumps(refused)
    assert (bench.place.vault / "a.md").read_text() == "Alpha *text*.\n"


def test_one_host_serves_many_clients_and_each_gets_its_own_answers(bench: Bench) -> None:
    host = bench.host()
    many = [bench.connected(host.url) for _ in range(3)]
    for n in range(10):
        for who, one in enumerate(many):
            body = {"name": "add_numbers", "arguments": {"a": who * 1000, "b": n}}
            one.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": body})
    for who, one in enumerate(many):
        answers = [one.read() for _ in range(10)]
        found = {answer["id"]: answer["result"]["structuredContent"]["result"] for answer in answers}
        assert found == {n: who * 1000 + n for n in range(10)}
        assert one.leave() == 0


def test_a_key_is_sent_and_a_host_that_refuses_is_not_asked_again(bench: Bench) -> None:
    install(bench.place.site, source=DOORMAN)
    host = bench.host("--set", "auth.mode=doorman", KNAPPER_PLUGINS__ONLY='["fixtures", "doorman"]')
    one = bench.connected(host.url, "--api-key-env", "MY_KEY", MY_KEY="friend")
    assert one.call(1, "add_numbers", a=1, b=2)["result"]["structuredContent"] == {"result": 3}
    refused = bench.proxy(host.url, KNAPPER_STDIO_API_KEY="stranger")
    assert "result" in refused.greet()
    assert refused.process.wait(30) == 1
    assert refused.stderr() == "knapper: the host answered 401 Unauthorized: invalid or expired token\n"


def test_both_protocols_give_one_hash_and_switching_is_no_change(bench: Bench) -> None:
    pytest.importorskip("knapper_bridge_rest")
    host = bench.host(KNAPPER_PLUGINS__ONLY='["fixtures", "bridge-rest"]')
    shelf = Path(bench.place.env["KNAPPER_CACHE_DIR"], "stdio")
    hashes: list[str] = []
    for transport in ("v1", "mcp", "v1"):
        one = bench.connected(host.url, "--transport", transport)
        assert one.call(1, "add_numbers", a=1, b=2)["result"]["content"][0]["text"] == '{"result":3}'
        assert not hashes or one.at_first == one.changes == 0
        assert one.leave() == 0
        assert f"over {transport}: " in one.stderr()
        (kept,) = shelf.iterdir()
        hashes.append(json.loads(kept.read_bytes())["hash"])
    status, _, content = host.request("GET", "/bridge/v1/tools")
    assert (status, set(hashes)) == (200, {json.loads(content)["hash"]})


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_lets_what_runs_finish_and_ends_well(bench: Bench, name: str) -> None:
    one = bench.connected(bench.host().url)
    params = {"name": "take_time", "arguments": {"seconds": 1}}
    one.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    while "take_time" not in str(one.call(2, "running_now")):
        pass
    one.process.send_signal(getattr(signal, name))
    assert one.read()["result"]["structuredContent"] == {"result": "done"}
    assert one.process.wait(30) == 0
    assert one.rest() == []


@pytest.mark.parametrize("end", [lambda one: one.leave(), lambda one: one.notify("exit")])
def test_it_ends_well_without_a_host_and_writes_nothing_but_answers(
    bench: Bench, end: Callable[[Any], Any]
) -> None:
    one = bench.proxy(NOWHERE)
    one.initialize()
    assert one.names() == []
    end(one)
    assert one.process.wait(30) == 0
    assert one.rest() == []


def test_a_signal_ends_it_before_anybody_has_said_anything(bench: Bench) -> None:
    with loopback(V1Host(tool("a"))) as told:
        one = bench.proxy(told.url + "/mcp")
        one.raw(b"")
        one.raw(b"nonsense")
        assert one.read()["error"]["code"] == -32700
        one.process.terminate()
        assert one.process.wait(30) == 0


def test_requests_before_the_handshake_are_refused_and_modern_ones_are_told_which_revisions_there_are(
    bench: Bench,
) -> None:
    one = bench.proxy(NOWHERE)
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    error = one.ask(2, "server/discover", _meta=meta)["error"]
    assert error["code"] == -32022
    assert error["data"] == {
        "supported": ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"],
        "requested": "2026-07-28",
    }
    assert one.ask(1, "tools/call", name="x")["error"]["code"] == -32600
    assert "result" in one.initialize()
    one.said(b"does not answer")
