"""Tools over /bridge/v1: what is listed, what a call answers, and what is refused before a tool is asked."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from knapper import __version__
from tests.bridge_rest.conftest import GUARDED, V1

Start = Callable[..., V1]
MOST = 1_048_576


def test_health_says_three_things_and_nothing_else(one: V1) -> None:
    expected = {"status": "ok", "version": __version__, "protocolVersion": "1"}
    assert one.get("/health") == (200, expected)


def test_tools_are_listed_by_name_with_three_fields_and_without_the_disabled(v1: Start) -> None:
    status, found = v1("--set", 'tool_visibility.disabled=["shout"]').get("/tools")
    names = [tool["name"] for tool in found["tools"]]
    assert status == 200
    assert set(found) == {"tools", "hash"}
    assert names == sorted(names)
    assert "add_numbers" in names
    assert "shout" not in names
    assert {tuple(sorted(tool)) for tool in found["tools"]} == {("description", "inputSchema", "name")}


def test_the_facade_is_that_of_mcp(v1: Start) -> None:
    one = v1("--facade", "triad")
    names = [tool["name"] for tool in one.get("/tools")[1]["tools"]]
    assert names == ["call_capability", "describe_capability", "find_capability"]
    inner = {"name": "add_numbers", "args": {"a": 1, "b": 2}}
    assert one.call("call_capability", **inner)[1]["content"] == [{"type": "text", "text": '{"result":3}'}]
    status, refused = one.call("call_capability", name="add_numbers", args={"a": 1})
    assert (status, refused["details"]["missing"]) == (400, ["b"])


def test_a_call_that_succeeds_has_content_and_no_word_of_errors(one: V1) -> None:
    expected = {"success": True, "content": [{"type": "text", "text": '{"result":3}'}]}
    assert one.call("add_numbers", a=1, b=2) == (200, expected)


def test_a_tool_that_fails_is_an_answer_and_not_a_fault(one: V1) -> None:
    text = "Error [invalid_input]: this never works\nCorrect what the message names."
    failed = {"success": False, "content": [{"type": "text", "text": text}], "isError": True}
    assert one.call("fail_knowingly") == (200, failed)
    status, raised = one.call("fail_inside")
    assert (status, raised["success"], raised["isError"]) == (200, False, True)
    assert "secret" not in json.dumps(raised)


def test_a_picture_arrives_byte_for_byte_with_its_type(one: V1) -> None:
    _, found = one.call("point_to", path="a.md")
    text, link, picture = found["content"]
    assert text == {"type": "text", "text": '{"result":"see there"}'}
    assert link == {
        "type": "resource_link",
        "uri": "knapper://main/a.md",
        "name": "a.md",
        "mimeType": "text/markdown",
    }
    assert (picture["type"], picture["mimeType"]) == ("image", "image/gif")
    assert base64.b64decode(picture["data"]) == b"GIF89a"


@pytest.mark.parametrize(
    "body",
    [
        b"nonsense",
        b"",
        b"[]",
        b'"x"',
        b"{}",
        b'{"arguments": null}',
        b'{"arguments": []}',
        b'{"arguments": "x"}',
        b'{"arguments": {"a": 1}',
        b'{"arguments": {"a": "\xff"}}',
        b"[" * 100_000,
    ],
    ids=[
        "not json",
        "nothing",
        "array",
        "string",
        "no arguments",
        "null",
        "list",
        "text",
        "cut",
        "bytes",
        "deep",
    ],
)
def test_a_body_that_is_no_call_is_refused(one: V1, body: bytes) -> None:
    status, refused = one.ask("POST", "/tools/add_numbers/call", body)
    assert (status, refused["error"], refused["code"]) == (400, "Invalid request body", "INVALID_ARGUMENTS")
    assert isinstance(refused["message"], str)


def test_arguments_that_are_missing_are_named(one: V1) -> None:
    status, refused = one.call("add_numbers", a=1)
    assert (status, refused["error"], refused["code"]) == (400, "Invalid request body", "INVALID_ARGUMENTS")
    assert refused["details"]["missing"] == ["b"]


def test_an_argument_of_the_wrong_type_is_refused_and_nothing_is_missing(one: V1) -> None:
    status, refused = one.call("add_numbers", a=1, b="two")
    assert (status, refused["details"]["missing"]) == (400, [])
    assert [issue["field"] for issue in refused["details"]["issues"]] == ["b"]


@pytest.mark.parametrize("name", ["nope", "shout", "utils%2Fhelper", "%E3%83%A1%E3%83%A2", "%FF"])
def test_unknown_and_disabled_tools_are_the_same_404_whatever_the_body(v1: Start, name: str) -> None:
    one = v1("--set", 'tool_visibility.disabled=["shout"]')
    bodies: list[Any] = [{"arguments": {}}, b"nonsense"]
    for body in bodies:
        status, refused = one.ask("POST", f"/tools/{name}/call", body)
        assert (status, refused["error"], refused["code"]) == (404, "Tool not found", "TOOL_NOT_FOUND")


def test_a_name_is_what_its_encoding_stands_for(one: V1) -> None:
    assert one.call("add%5Fnumbers", a=1, b=2)[1]["success"] is True
    assert "'utils/helper'" in one.call("utils%2Fhelper")[1]["message"]
    assert "'メモ'" in one.call("%E3%83%A1%E3%83%A2")[1]["message"]


@pytest.mark.parametrize(
    ("method", "path", "status", "error", "code"),
    [
        ("DELETE", "/tools", 405, "Method not allowed", "METHOD_NOT_ALLOWED"),
        ("POST", "/health", 405, "Method not allowed", "METHOD_NOT_ALLOWED"),
        ("GET", "/tools/add_numbers/call", 405, "Method not allowed", "METHOD_NOT_ALLOWED"),
        ("TRACE", "/tools", 405, "Method not allowed", "METHOD_NOT_ALLOWED"),
        ("GET", "/nope", 404, "Not found", "NOT_FOUND"),
        ("GET", "", 404, "Not found", "NOT_FOUND"),
        ("POST", "/tools/a/b/call", 404, "Not found", "NOT_FOUND"),
    ],
)
def test_other_verbs_and_other_paths_are_refused_in_json(
    one: V1, method: str, path: str, status: int, error: str, code: str
) -> None:
    found, refused = one.ask(method, path)
    assert (found, refused["error"], refused["code"]) == (status, error, code)


def test_a_known_path_says_which_verbs_it_takes(one: V1) -> None:
    status, headers, content = one.web.request("OPTIONS", "/bridge/v1/tools/add_numbers/call")
    assert (status, headers["allow"], content) == (204, "POST, OPTIONS", b"")
    assert one.web.request("PUT", "/bridge/v1/tools")[1]["allow"] == "GET, HEAD, OPTIONS"


def padded(size: int) -> bytes:
    body = b'{"arguments": {"a": 1, "b": 2}}'
    return body + b" " * (size - len(body))


def chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 65_536):
        yield body[start : start + 65_536]


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "chunked"])
def test_bodies_are_counted_as_they_arrive(one: V1, chunked: bool) -> None:

    def sent(size: int) -> tuple[int, Any]:
        body: Any = chunks(padded(size)) if chunked else padded(size)
        return one.web.sent("POST", "/bridge/v1/tools/add_numbers/call", body)

    assert sent(MOST)[1] == {"success": True, "content": [{"type": "text", "text": '{"result":3}'}]}
    status, refused = sent(MOST + 1)
    assert (status, refused["error"], refused["code"]) == (413, "Request body too large", "BODY_TOO_LARGE")


def test_a_fault_of_the_host_says_neither_where_nor_why(v1: Start) -> None:
    one = v1(*GUARDED)
    status, refused = one.get("/tools", Authorization="Bearer broken")
    assert status == 500
    assert (refused["error"], refused["code"]) == ("Internal server error", "EXECUTION_ERROR")
    assert not {"/home", "Traceback", "RuntimeError", "secret"} & set(json.dumps(refused).split())
    assert "/" not in json.dumps(refused)


def test_where_callers_must_be_known_they_must_be_known_here_too(v1: Start) -> None:
    one = v1(*GUARDED)
    for headers in ({}, {"Authorization": "Bearer stranger"}):
        status, refused = one.get("/tools", **headers)
        assert (status, refused["error"], refused["code"]) == (401, "Unauthorized", "UNAUTHORIZED")
    names = [tool["name"] for tool in one.get("/tools", Authorization="Bearer reader")[1]["tools"]]
    assert "add_numbers" in names
    assert "destroy_text" not in names


def test_it_can_be_switched_off(v1: Start) -> None:
    one = v1("--set", "transports.http.bridge=false")
    assert one.get("/health")[0] == 404
    assert one.call("add_numbers", a=1, b=2)[0] == 404
    assert one.mcp("ping")[1]["result"] == {}
