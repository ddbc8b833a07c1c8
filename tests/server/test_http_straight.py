"""Plain calls over HTTP are answered without the SDK; nobody may see a difference but in how long it takes."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.server.conftest import Web, data_of, envelope

Start = Callable[..., Web]
BY_THE_SDK = {"Accept": "*/*"}  # what goes straight says plainly what it takes
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("add_numbers", {"a": 1, "b": 2}),
    ("read_text", {"path": "a.md"}),
    ("read_text", {"path": "missing.md"}),
    ("point_to", {"path": "a.md"}),
    ("add_numbers", {"a": "one"}),
    ("fail_inside", {}),
    ("fail_knowingly", {}),
    ("no_such_tool", {}),
    ("find_capability", {"query": "add"}),
    ("call_capability", {"name": "add_numbers", "args": {"a": 3, "b": 4}}),
]


def called(web: Web, session: str, name: str, arguments: Any, **headers: str) -> tuple[int, str, Any]:
    """A call in a session: its status, the kind of its answer, and the answer."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    status, found, content = web.request(body=body, Mcp_Session_Id=session, **headers)
    return status, found.get("content-type", "").partition(";")[0], data_of(content)


def test_what_is_read_in_a_session_comes_as_json_and_says_what_the_sdk_would_say(web: Start) -> None:
    one = web()
    session = one.opened()
    for name, arguments in CALLS:
        status, kind, answer = called(one, session, name, arguments)
        assert (status, answer) == called(one, session, name, arguments, **BY_THE_SDK)[::2], name
        assert kind == ("text/event-stream" if name == "no_such_tool" else "application/json")


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_modern_call_says_what_the_sdk_would_say(web: Start, name: str, arguments: Any) -> None:
    one = web()
    assert one.modern("tools/call", name=name, arguments=arguments) == one.modern(
        "tools/call", BY_THE_SDK, name=name, arguments=arguments
    )


def test_what_asks_a_person_is_served_by_the_sdk_in_a_session(web: Start) -> None:
    one = web()
    status, kind, answer = called(one, one.opened(), "destroy_text", {"path": "a.md"})
    assert (status, kind) == (200, "text/event-stream")
    assert answer["result"]["structuredContent"]["code"] == "elicit_required"


def test_a_session_that_was_ended_is_gone_for_plain_calls_too(web: Start) -> None:
    one = web()
    session = one.opened()
    assert called(one, session, "add_numbers", {"a": 1, "b": 1})[0] == 200
    assert one.request("DELETE", Mcp_Session_Id=session)[0] == 204
    assert called(one, session, "add_numbers", {"a": 1, "b": 1})[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "shout"},
        {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/list", "Mcp_Name": "add_numbers"},
        {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call"},
    ],
)
def test_headers_that_say_something_else_than_the_body_are_refused(
    web: Start, headers: dict[str, str]
) -> None:
    params = {"_meta": envelope(), "name": "add_numbers", "arguments": {"a": 1, "b": 1}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    status, _, content = web().request(body=body, **headers)
    assert status == 400
    assert "header does not match" in json.loads(content)["error"]["message"]


PLAIN: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "add_numbers", "arguments": {"a": 1, "b": 1}},
}
BOTH = "application/json, text/event-stream"


def test_only_what_is_said_plainly_goes_straight(web: Start) -> None:
    one = web()
    session = one.opened()
    cases = [
        ({"Content_Type": "application/json; charset=utf-8"}, (200, "application/json")),
        ({"Content_Type": "application/jsonx"}, (415, "application/json")),
        ({"Content_Type": "text/plain"}, (400, "")),
        ({"Accept": "text/event-stream;q=0.5, application/json;q=0.9"}, (200, "application/json")),
        ({"Accept": "application/json;q=0, text/event-stream"}, (200, "text/event-stream")),
        ({"Accept": "application/jsonx, text/event-stream"}, (406, "application/json")),
        ({"MCP_Protocol_Version": "2025-11-25"}, (200, "application/json")),
        ({"MCP_Protocol_Version": "2024-11-05"}, (200, "text/event-stream")),
        ({"MCP_Protocol_Version": "1999-01-01"}, (400, "application/json")),
    ]
    for headers, expected in cases:
        status, found, _ = one.request(body=PLAIN, Mcp_Session_Id=session, **headers)
        assert (status, found.get("content-type", "").partition(";")[0]) == expected, headers


def test_an_id_is_a_string_or_an_integer_of_any_size(web: Start) -> None:
    one = web()
    session = one.opened()
    for id in (0, -1, 2**70, "", "é"):
        _, _, content = one.request(body={**PLAIN, "id": id}, Mcp_Session_Id=session)
        assert data_of(content)["id"] == id
    for wrong in (1.0, True, None, [1]):
        status, _, content = one.request(body={**PLAIN, "id": wrong}, Mcp_Session_Id=session)
        assert (status, data_of(content)["error"]["code"]) == (400, -32600), wrong


@pytest.mark.parametrize("modern", [False, True])
def test_a_header_that_decides_something_may_come_once(web: Start, modern: bool) -> None:
    one = web()
    headers = {"Accept": BOTH, "Content-Type": "application/json"}
    body = PLAIN
    if modern:
        body = {**PLAIN, "params": {**PLAIN["params"], "_meta": envelope()}}
        headers |= {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "add_numbers",
        }
    else:
        headers |= {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": one.opened()}
    for twice in ("", *(name for name in headers if name != "Accept")):
        connection = http.client.HTTPConnection(one.host, one.port, timeout=30)
        connection.putrequest("POST", one.path)
        data = json.dumps(body).encode()
        for name, value in (*headers.items(), ("Content-Length", str(len(data)))):
            connection.putheader(name, value)
            if name == twice:
                connection.putheader(name, value)
        connection.endheaders(data)
        assert connection.getresponse().status == (400 if twice else 200), twice
        connection.close()


@pytest.mark.parametrize(
    "odd",
    [
        {"io.modelcontextprotocol/clientInfo": 5},
        {"io.modelcontextprotocol/clientInfo": None},
        {"io.modelcontextprotocol/clientCapabilities": {"elicitation": 5}},
        {"io.modelcontextprotocol/clientCapabilities": None},
    ],
)
def test_an_odd_envelope_is_answered_as_the_sdk_would(web: Start, odd: dict[str, Any]) -> None:
    one = web()
    asked: dict[str, Any] = {"name": "add_numbers", "arguments": {"a": 1, "b": 1}, "_meta": envelope(**odd)}
    assert one.modern("tools/call", **asked) == one.modern("tools/call", BY_THE_SDK, **asked)


def test_a_token_is_seen_however_it_is_spelled(web: Start) -> None:
    one = web()
    params = {"name": "take_time", "arguments": {"seconds": 0.1}, "_meta": envelope(progressToken="t")}
    body = json.dumps({**PLAIN, "params": params}).replace("progressToken", "progress\\u0054oken").encode()
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "take_time"}
    _, found, content = one.request(body=body, **headers)
    assert found["content-type"].startswith("text/event-stream")
    assert b'"notifications/progress"' in content


def test_what_is_logged_on_the_way_reaches_the_client_of_a_plain_call(web: Start) -> None:
    one = web()
    session = one.opened()
    for _ in range(2):  # the first call only shows that this tool has something to tell
        body = {**PLAIN, "params": {"name": "murmur", "arguments": {"level": "warning"}}}
        _, _, content = one.request(body=body, Mcp_Session_Id=session)
        told = [json.loads(line[6:]) for line in content.decode().splitlines() if line.startswith("data: {")]
        assert [message.get("method") for message in told] == ["notifications/message", None]
        assert told[0]["params"]["data"] == "a warning on the way"


def test_a_session_of_plain_calls_grows_old_only_while_none_is_served(web: Start) -> None:
    one = web("--set", "transports.http.session_idle_seconds=3", "--set", "transports.http.max_sessions=1")
    session = one.opened()
    assert called(one, session, "take_time", {"seconds": 4})[0] == 200
    assert called(one, session, "add_numbers", {"a": 1, "b": 1})[0] == 200
    first = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    again = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": first}
    while one.request(body=again)[0] == 503:
        pass
    assert called(one, session, "add_numbers", {"a": 1, "b": 1})[0] == 404


def test_a_client_of_the_older_era_that_goes_away_has_not_cancelled(web: Start) -> None:
    one = web()
    session = one.opened()
    connection = http.client.HTTPConnection(one.host, one.port, timeout=30)
    body = {**PLAIN, "params": {"name": "take_time", "arguments": {"seconds": 1.5}}}
    headers = {"Accept": BOTH, "Content-Type": "application/json", "Mcp-Session-Id": session}
    connection.request("POST", one.path, json.dumps(body), headers)
    while "take_time" not in str(called(one, session, "running_now", {})[2]):
        pass
    connection.close()
    while "take_time" in str(called(one, session, "running_now", {})[2]):
        pass
    finished = called(one, session, "finished_until_now", {})[2]
    assert finished["result"]["structuredContent"] == {"result": [1.5]}
