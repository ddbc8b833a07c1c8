"""What tools/list shows in each mode, and that every tool can be called by name in all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from knapper.caller import LOCAL, Caller
from knapper.config.model import Settings
from knapper.plugins import Plugins
from knapper.runtime import Runtime
from knapper.server import facade
from tests.fixtures_plugin import knapper_fixtures
from tests.server.conftest import Pipe

ME = Caller("test", LOCAL, authenticated=True)
Served = Callable[..., Runtime]


@pytest.fixture
def served(tmp_path: Any) -> Iterator[Served]:
    opened: list[Runtime] = []

    def open(**settings: Any) -> Runtime:
        vault = tmp_path / "vault"
        vault.mkdir(exist_ok=True)
        (vault / "a.md").write_text("Alpha.\n")
        base = {"vaults": [{"id": "main", "path": str(vault)}], "cache_dir": str(tmp_path / "cache")}
        plugins = Plugins(strict=True)
        plugins.add(knapper_fixtures, "fixtures")
        opened.append(Runtime(Settings.model_validate({**base, **settings}), plugins))
        return opened[-1]

    yield open
    for runtime in opened:
        runtime.close()


def listed(runtime: Runtime, caller: Caller = ME) -> list[dict[str, Any]]:
    return [json.loads(item) for item in facade.items(runtime, caller)]


def called(runtime: Runtime, name: str, arguments: dict[str, Any], caller: Caller = ME) -> Any:
    outcome = facade.target(runtime, name, arguments, caller).call(caller)
    return outcome.error if outcome.error is not None else json.loads(outcome.payload)


def mode(name: str) -> dict[str, Any]:
    return {"tool_facade": {"mode": name}}


def test_the_triad_is_three_tools_in_under_five_hundred_tokens(served: Served) -> None:
    runtime = served()
    tools = listed(runtime)
    assert [tool["name"] for tool in tools] == ["find_capability", "describe_capability", "call_capability"]
    assert sum(map(len, facade.items(runtime, ME))) / 4 < 500
    assert [tool["annotations"]["readOnlyHint"] for tool in tools] == [True, True, False]
    assert tools[2]["annotations"]["destructiveHint"] is True
    assert tools[2]["annotations"]["idempotentHint"] is False  # a note appended to twice has grown twice


def test_a_tool_is_found_looked_up_and_called_through_the_triad(served: Served) -> None:
    runtime = served()
    found = called(runtime, "find_capability", {"query": "sum of two numbers", "limit": 3})["matches"]
    assert found[0]["name"] == "add_numbers"
    assert found[0]["summary"] == "Add two numbers."
    about = called(runtime, "describe_capability", {"name": "add_numbers"})
    assert about["input_schema"]["required"] == ["a", "b"]
    assert about["required_scopes"] == ["read:notes"]
    assert about["annotations"] == {"read_only": True, "destructive": False}
    assert called(runtime, "call_capability", {"name": "add_numbers", "args": {"a": 1, "b": 2}}) == {
        "result": 3
    }


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("find_capability", {"query": "x", "top": 5}, "top"),
        ("find_capability", {"query": ""}, "query"),
        ("find_capability", {"query": "x", "limit": 51}, "limit"),
        ("describe_capability", {}, "name"),
        ("call_capability", {"name": "add_numbers", "arguments": {"a": 1, "b": 2}}, "arguments"),
        ("call_capability", {"name": "add_numbers", "args": [1, 2]}, "args"),
    ],
)
def test_an_envelope_that_is_spelled_wrongly_is_refused_by_field(
    served: Served, name: str, arguments: dict[str, Any], field: str
) -> None:
    refused = called(served(), name, arguments)
    assert refused["code"] == "validation_error"
    assert field in {issue["field"] for issue in refused["details"]["issues"]}


def test_what_is_called_inside_is_recorded_as_itself(served: Served) -> None:
    runtime = served()
    called(runtime, "call_capability", {"name": "add_numbers", "args": {"a": 1, "b": 2}})
    called(runtime, "call_capability", {"wrong": 1})
    runtime.audit.flush()
    with runtime.state.read() as conn:
        rows = conn.exec_driver_sql("SELECT tool, status, error_code FROM event_log ORDER BY id").all()
    assert [tuple(row) for row in rows] == [
        ("add_numbers", "ok", None),
        ("call_capability", "error", "validation_error"),
    ]


def test_an_unknown_tool_is_the_same_answer_everywhere(served: Served) -> None:
    runtime = served(tool_visibility={"disabled": ["shout"]})
    for name in ("nonsense", "shout"):
        direct = called(runtime, name, {})
        inside = called(runtime, "call_capability", {"name": name})
        assert direct == inside
        assert direct["message"] == f"unknown tool: {name}"
    about = called(runtime, "describe_capability", {"name": "add_number"})
    assert (about["code"], about["details"]["suggestions"][0]) == ("not_found", "add_numbers")


def test_a_caller_finds_only_what_it_may_use_but_hidden_tools_stay_callable(served: Served) -> None:
    runtime = served(tool_visibility={"hidden": ["shout"]})
    reader = Caller("reader", frozenset({"read:notes"}), authenticated=True)
    found = {
        m["name"]
        for m in called(
            runtime, "find_capability", {"query": "overwrite text read print", "limit": 50}, reader
        )["matches"]
    }
    assert "read_text" in found
    assert found.isdisjoint({"destroy_text", "shout"})
    assert called(runtime, "describe_capability", {"name": "destroy_text"}, reader)["code"] == "not_found"
    assert (
        called(runtime, "call_capability", {"name": "destroy_text", "args": {"path": "a.md"}}, reader)["code"]
        == "forbidden"
    )
    assert called(runtime, "shout", {"text": "x"}) == {"result": "printed"}


def test_in_domain_mode_each_domain_is_one_tool_with_its_actions(served: Served) -> None:
    runtime = served(**mode("domain"))
    (one,) = listed(runtime)
    assert one["name"] == "fixtures"
    assert "- add_numbers: Add two numbers." in one["description"]
    assert "add_numbers" in one["inputSchema"]["properties"]["action"]["enum"]
    assert one["annotations"] == {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}
    assert called(runtime, "fixtures", {"action": "add_numbers", "args": {"a": 2, "b": 2}}) == {"result": 4}
    for wrong in (
        {"action": "nope"},
        {"action": "add_numbers", "arguments": {}},
        {},
        {"action": "add_numbers", "args": 5},
    ):
        assert called(runtime, "fixtures", wrong)["code"] == "validation_error"


def test_flat_mode_lists_every_tool_with_schemas_titles_and_hints(served: Served) -> None:
    runtime = served(**mode("flat"))
    tools = {tool["name"]: tool for tool in listed(runtime)}
    assert list(tools) == sorted(runtime.tools)
    assert tools["add_numbers"] == {
        "name": "add_numbers",
        "title": "Add numbers",
        "description": "Add two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {"result": {"type": "integer"}},
            "required": ["result"],
        },
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }
    assert tools["destroy_text"]["annotations"]["destructiveHint"] is True


@pytest.mark.parametrize("name", ["triad", "domain", "flat"])
def test_every_tool_is_callable_by_name_in_each_mode(served: Served, name: str) -> None:
    assert called(served(**mode(name)), "add_numbers", {"a": 1, "b": 1}) == {"result": 2}


def test_a_read_only_vault_shows_no_tool_that_changes_something(served: Served) -> None:
    runtime = served(**mode("flat"), acl={"read_only": True})
    names = {tool["name"] for tool in listed(runtime)}
    assert "read_text" in names
    assert "destroy_text" not in names


def test_a_token_stands_beside_the_arguments_and_never_among_them(pipe: Callable[..., Pipe]) -> None:
    one = pipe("--facade", "triad")
    one.initialize()
    inner: dict[str, Any] = {"name": "destroy_text", "args": {"path": "a.md"}}
    refused = one.call(1, "call_capability", **inner)["result"]["structuredContent"]
    again = one.call(2, "call_capability", **inner, elicit_token="0" * 32)["result"]["structuredContent"]
    assert refused["details"]["args_hash"] == again["details"]["args_hash"]
