"""What goes through a proxy: everything as it came, once, over the protocol that the host speaks."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from knapper.testing_http import Asked, Reply, loopback
from tests.bridge_stdio.conftest import Bench, McpHost, V1Host, answered, asked_for, tool

ODD = [
    {"type": "text", "text": "line\u2028separator, snow ☃ and \u0000"},
    {"type": "image", "data": "R0lGODlh", "mimeType": "image/gif", "extra": {"deep": [1, None]}},
    {"type": "hologram", "projector": 7, "_meta": {"x": 1}},
]


def calls(told: Any) -> list[Asked]:
    """Every call that the host has received, over whichever protocol."""
    plain = [one for one in told.asked if one.path.startswith("/bridge/v1/tools/")]
    return plain + asked_for(told, "tools/call")


@pytest.mark.parametrize("success", [True, False])
def test_content_of_every_kind_comes_through_v1_as_it_was(bench: Bench, success: bool) -> None:
    stand_in = V1Host(tool("show", extra=True))
    stand_in.result = {"success": success, "content": ODD, "structuredContent": {"n": 1.0}}
    if not success:
        stand_in.result["isError"] = True
    with loopback(stand_in) as told:
        one = bench.connected(told.url, "--transport", "v1")
        assert one.ask(1, "tools/list")["result"]["tools"] == [tool("show", extra=True)]
        found = one.call(2, "show", deep={"a": [1, 2]})["result"]
        assert found == {"content": ODD, "structuredContent": {"n": 1.0}, "isError": not success}
        assert calls(told)[0].body == {"arguments": {"deep": {"a": [1, 2]}}}


def stream(body: bytes) -> Reply:
    lines = b"".join(b"data: " + one + b"\r\n" for one in body.split(b"\n"))
    events = b"id: 1\r\ndata: \r\n\r\n: ping\r\n\r\nevent: message\r\n" + lines + b"\r\n"
    return Reply(events, headers={"content-type": "text/event-stream; charset=utf-8"})


@pytest.mark.parametrize("streamed", [False, True], ids=["json", "events"])
def test_content_of_every_kind_comes_through_mcp_as_it_was(bench: Bench, streamed: bool) -> None:
    result = {"content": ODD, "structuredContent": {"n": 1.0}, "later": {"big": 12345678901234567890123}}
    stand_in = McpHost(tool("show", annotations={"x": 1}))

    def show(asked: Asked) -> Reply:
        body = {"jsonrpc": "2.0", "id": asked.body["id"], "result": result}
        text = json.dumps(body, ensure_ascii=False, indent=1).encode()
        return stream(text) if streamed else Reply(text, headers={"content-type": "application/json"})

    stand_in.replies["tools/call"] = show
    with loopback(stand_in) as told:
        one = bench.connected(told.url + "/mcp", "--transport", "mcp")
        assert one.ask(1, "tools/list")["result"]["tools"] == [tool("show", annotations={"x": 1})]
        assert one.call(2, "show")["result"] == result
        assert one.ask(3, "ping")["result"] == {}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("utils/helper", "/bridge/v1/tools/utils%2Fhelper/call"),
        ("メモ", "/bridge/v1/tools/%E3%83%A1%E3%83%A2/call"),
        ("a b?c#d", "/bridge/v1/tools/a%20b%3Fc%23d/call"),
    ],
)
def test_names_of_every_kind_reach_the_host(bench: Bench, name: str, path: str) -> None:
    with loopback(V1Host(tool(name))) as told:
        one = bench.connected(told.url, "--transport", "v1")
        assert one.call(1, name)["result"]["isError"] is False
        assert [asked.path for asked in calls(told)] == [path]


def test_a_refused_call_is_a_failed_tool_with_the_hosts_words(bench: Bench) -> None:
    stand_in = V1Host(tool("a"))
    with loopback(stand_in) as told:
        one = bench.connected(told.url, "--transport", "v1", "--poll", "3600")
        told.answer = lambda asked: Reply({"error": "Tool not found", "message": "no 'b'"}, 404)
        found = one.call(1, "b")["result"]
        text = "Error: the host answered 404 Not Found: Tool not found: no 'b'"
        assert found == {"content": [{"type": "text", "text": text}], "isError": True}


def test_an_error_of_the_hosts_own_stays_that_error(bench: Bench) -> None:
    stand_in = McpHost(tool("a"))
    error = {"code": -32001, "message": "not running", "data": {"errorCode": "OBSIDIAN_NOT_RUNNING"}}
    stand_in.replies["tools/call"] = lambda asked: answered(asked, error=error)
    with loopback(stand_in) as told:
        one = bench.connected(told.url + "/mcp", "--transport", "mcp")
        assert one.call(1, "a")["error"] == error


@pytest.mark.parametrize("status", [404, 405, 500, 501])
def test_auto_lists_over_v1_whatever_is_wrong_with_mcp(bench: Bench, status: int) -> None:
    stand_in = V1Host(tool("a"))

    def answer(asked: Asked) -> Reply:
        return Reply({"error": "no"}, status) if asked.path == "/mcp" else stand_in(asked)

    with loopback(answer) as told:
        one = bench.connected(told.url + "/mcp")
        assert one.names() == ["a"]
        assert one.call(1, "a")["result"]["isError"] is False
        assert [asked.path for asked in calls(told)] == ["/bridge/v1/tools/a/call"]
        assert one.ask(2, "resources/list")["error"]["code"] == -32601
        assert b"connected to" in one.errors[-1]
        assert b"over v1: 1 tools" in one.errors[-1]


def test_a_host_without_sessions_is_talked_to_without_one(bench: Bench) -> None:
    stand_in = McpHost(tool("a"))
    stand_in.replies["initialize"] = lambda asked: answered(asked, error={"code": -32601, "message": "no"})
    with loopback(stand_in) as told:
        one = bench.connected(told.url + "/mcp", "--transport", "mcp")
        assert one.call(1, "a")["result"] == {"content": []}


def both(stand_in: McpHost) -> Any:
    """A host of both protocols."""
    plain = V1Host(*stand_in.tools)
    return lambda asked: stand_in(asked) if asked.path == "/mcp" else plain(asked)


def test_a_call_that_gets_no_answer_is_not_sent_again(bench: Bench) -> None:
    stand_in, held = McpHost(tool("a")), threading.Event()
    stand_in.replies["tools/call"] = lambda asked: Reply({}, hold=held)
    with loopback(both(stand_in)) as told:
        one = bench.connected(told.url + "/mcp", "--timeout", "0.2")
        found = one.call(1, "a")["result"]
        assert found["isError"] is True
        text = f"Error: the host at {told.url} gave no answer within 0.2 s; it was sent once and may have taken effect"
        assert found["content"][0]["text"] == text
        assert len(calls(told)) == 1
        held.set()


@pytest.mark.parametrize(
    "reply",
    [Reply(hang_up=True), Reply({"error": "oh"}, 500), Reply(b"half of", 200)],
    ids=["gone", "500", "cut"],
)
def test_a_call_that_may_have_been_executed_is_not_sent_again(bench: Bench, reply: Reply) -> None:
    stand_in = McpHost(tool("a"))
    stand_in.replies["tools/call"] = lambda asked: reply
    with loopback(both(stand_in)) as told:
        one = bench.connected(told.url + "/mcp")
        found = one.call(1, "a")["result"]
        assert found["isError"] is True
        assert found["content"][0]["text"].endswith("it was sent once and may have taken effect")
        assert len(calls(told)) == 1


@pytest.mark.parametrize("how", [404, 405, 501, "unknown method"])
def test_a_call_that_certainly_was_not_executed_goes_the_other_way(bench: Bench, how: Any) -> None:
    stand_in = McpHost(tool("a"))
    unknown = {"code": -32601, "message": "Method not found"}
    stand_in.replies["tools/call"] = lambda asked: (
        answered(asked, error=unknown) if how == "unknown method" else Reply({"error": "no"}, how)
    )
    with loopback(both(stand_in)) as told:
        one = bench.connected(told.url + "/mcp")
        assert one.call(1, "a")["result"]["isError"] is False
        assert [asked.path for asked in calls(told)] == ["/bridge/v1/tools/a/call", "/mcp"]


def test_a_host_that_is_named_by_its_protocol_is_not_asked_in_another(bench: Bench) -> None:
    with loopback(V1Host(tool("a"))) as told:
        one = bench.proxy(told.url + "/mcp", "--transport", "mcp")
        assert "result" in one.greet()
        assert one.process.wait(30) == 1
        assert {asked.path for asked in told.asked} == {"/mcp"}


def test_all_pages_of_a_list_are_read(bench: Bench) -> None:
    stand_in = McpHost()
    pages: dict[Any, dict[str, Any]] = {
        None: {"tools": [tool("a")], "nextCursor": "x"},
        "x": {"tools": [tool("b")], "nextCursor": "y"},
        "y": {"tools": [tool("c")]},
    }
    stand_in.replies["tools/list"] = lambda asked: answered(
        asked, result=pages[asked.body["params"].get("cursor")]
    )
    with loopback(stand_in) as told:
        assert bench.connected(told.url + "/mcp", "--transport", "mcp").names() == ["a", "b", "c"]


def test_the_host_learns_who_the_client_is_and_hears_what_it_says(bench: Bench) -> None:
    with loopback(McpHost(tool("a"))) as told:
        one = bench.proxy(told.url + "/mcp", "--transport", "mcp")
        one.initialize("2025-06-18", roots={"listChanged": True})
        while not asked_for(told, "notifications/initialized"):
            one.ask(1, "ping")
        (greeting,) = asked_for(told, "initialize")
        assert greeting.body["params"] == {
            "protocolVersion": "2025-06-18",
            "capabilities": {"roots": {"listChanged": True}},
            "clientInfo": {"name": "test", "version": "1"},
        }
        assert one.names() == ["a"]
        one.notify("notifications/roots/list_changed")
        while not asked_for(told, "notifications/roots/list_changed"):
            one.ask(2, "ping")


def test_what_the_host_asks_is_asked_and_what_the_client_answers_is_sent_back(bench: Bench) -> None:
    stand_in, heard = McpHost(tool("a")), threading.Event()
    question = {"jsonrpc": "2.0", "id": "q1", "method": "roots/list", "params": {}}

    def ask(asked: Asked) -> Reply:
        done = {"jsonrpc": "2.0", "id": asked.body["id"], "result": {"content": []}}
        body = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in (question, done))
        return Reply(body, headers={"content-type": "text/event-stream"})

    def answer(asked: Asked) -> Reply:
        if asked.body and asked.body.get("id") == "q1":
            heard.set()
        return stand_in(asked)

    stand_in.replies["tools/call"] = ask
    with loopback(answer) as told:
        one = bench.connected(told.url + "/mcp", "--transport", "mcp")
        one.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a"}})
        found = {("method" in message): message for message in (one.read(), one.read())}
        assert found[True]["method"] == "roots/list"
        assert found[False]["result"] == {"content": []}
        roots = {"roots": [{"uri": "file:///notes"}]}
        one.send({"jsonrpc": "2.0", "id": found[True]["id"], "result": roots})
        assert heard.wait(30)
        (sent,) = [asked.body for asked in told.asked if asked.body and asked.body.get("id") == "q1"]
        assert sent == {"jsonrpc": "2.0", "id": "q1", "result": roots}


def test_a_host_that_forgot_the_session_is_greeted_again_and_asked_again(bench: Bench) -> None:
    stand_in, sessions = McpHost(tool("a")), iter(["one", "two"])

    def greet(asked: Asked) -> Reply:
        welcome = {"protocolVersion": "2025-06-18", "capabilities": {}}
        reply = answered(asked, result=welcome)
        return reply._replace(headers={**reply.headers, "Mcp-Session-Id": next(sessions)})

    def call(asked: Asked) -> Reply:
        if asked.headers.get("mcp-session-id") == "one":
            return Reply({"error": {"code": -32001, "message": "Session not found"}}, 404)
        return answered(asked, result={"content": []})

    stand_in.replies |= {"initialize": greet, "tools/call": call}
    with loopback(both(stand_in)) as told:
        one = bench.connected(told.url + "/mcp", "--poll", "3600")
        assert one.call(1, "a")["result"] == {"content": []}
        assert [asked.headers["mcp-session-id"] for asked in calls(told)] == ["one", "two"]
        assert {asked.headers["mcp-protocol-version"] for asked in calls(told)} == {"2025-06-18"}
