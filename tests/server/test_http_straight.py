"""Plain calls over HTTP are answered without the SDK; nobody may see a difference but in how long it takes."""

from __future__ import annotations

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
    assert one.request("DELETE", Mcp_Session_Id=session)[0] == 200
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
