"""The same tools over /mcp: what the two surfaces share, and what JSON-RPC answers for what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from knapper.server.digest import tools_hash
from tests.bridge_rest.conftest import GUARDED, V1
from tests.server.conftest import envelope

Start = Callable[..., V1]


def test_both_list_the_same_tools_under_one_hash(one: V1) -> None:
    _, listed = one.mcp("tools/list")
    _, found = one.get("/tools")
    cut = [
        {key: tool[key] for key in ("name", "description", "inputSchema")}
        for tool in listed["result"]["tools"]
    ]
    assert sorted(cut, key=lambda tool: str(tool["name"])) == found["tools"]
    assert tools_hash(listed["result"]["tools"]) == found["hash"]


@pytest.mark.parametrize(
    ("tool", "arguments", "failed"),
    [
        ("add_numbers", {"a": 1, "b": 2}, False),
        ("point_to", {"path": "a.md"}, False),
        ("fail_knowingly", {}, True),
        ("read_text", {"path": "missing.md"}, True),
    ],
)
def test_both_answer_a_call_with_the_same_content(
    one: V1, tool: str, arguments: dict[str, Any], failed: bool
) -> None:
    _, answer = one.mcp("tools/call", name=tool, arguments=arguments)
    _, found = one.call(tool, **arguments)
    assert answer["result"]["content"] == found["content"]
    assert answer["result"]["isError"] is failed
    assert found["success"] is not failed


def test_what_is_no_request_has_the_codes_of_json_rpc(one: V1) -> None:
    session = {"Mcp_Session_Id": one.web.opened(), "MCP_Protocol_Version": "2025-11-25"}
    bad = {"bad json": b"{", "no jsonrpc": {"id": 1, "method": "tools/list"}}
    codes = {
        name: json.loads(one.web.request(body=body, **session)[2])["error"]["code"]
        for name, body in bad.items()
    }
    assert codes["bad json"] == -32700
    assert codes["no jsonrpc"] == -32600
    assert one.mcp("tools/nope")[1]["error"]["code"] == -32601


def test_unknown_and_disabled_tools_are_refused_over_mcp_too(v1: Start) -> None:
    one = v1("--set", 'tool_visibility.disabled=["shout"]')
    for name in ("nope", "shout"):
        _, answer = one.mcp("tools/call", name=name, arguments={"text": "x"})
        assert answer["error"]["code"] == -32602
        assert answer["error"]["message"] == f"unknown tool: {name}"
        assert answer["error"]["data"]["errorCode"] == "not_found"


def test_a_wrong_bearer_is_401_on_both_surfaces(v1: Start) -> None:
    one = v1(*GUARDED)
    for wrong in ("Bearer stranger", "Basic friend", "Bearer"):
        assert one.web.request(body={}, Authorization=wrong)[0] == 401
        assert one.get("/health", Authorization=wrong)[0] == 401
    assert one.get("/health", Authorization="Bearer friend")[0] == 200


HEADERS = ({"Authorization": "Bearer {}"}, {"X_ObsiScripta_Api_Key": "{}"})


@pytest.mark.parametrize("header", HEADERS, ids=["bearer", "key"])
def test_a_key_is_taken_from_either_header_on_both_surfaces(v1: Start, header: dict[str, str]) -> None:
    one = v1(*GUARDED)
    ((name, form),) = header.items()
    for key, status in (("friend", 200), ("stranger", 401), ("", 401)):
        given = {name: form.format(key)}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": envelope()}}
        modern = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/list"}
        assert one.web.request(body=body, **modern, **given)[0] == status
        assert one.get("/tools", **given)[0] == status


def test_the_header_that_mcp_has_counts_where_both_are_there(v1: Start) -> None:
    one = v1(*GUARDED)
    assert one.get("/tools", Authorization="Bearer stranger", X_ObsiScripta_Api_Key="friend")[0] == 401
    assert one.get("/tools", Authorization="Bearer friend", X_ObsiScripta_Api_Key="stranger")[0] == 200


def test_a_session_is_needed_ends_and_is_its_own(one: V1) -> None:
    session = one.web.opened()
    other = one.web.opened()
    assert session != other
    assert one.web.request(body={"jsonrpc": "2.0", "id": 1, "method": "ping"})[0] == 400
    assert one.mcp("ping", "unknown")[0] == 404
    status, headers, content = one.web.request("DELETE", Mcp_Session_Id=session)
    assert (status, content) == (204, b"")
    assert not {"content-type", "content-length"} & set(headers)
    assert one.mcp("ping", session)[0] == 404
    assert one.web.request("DELETE", Mcp_Session_Id=session)[0] == 404
    assert one.mcp("ping", other)[1]["result"] == {}
