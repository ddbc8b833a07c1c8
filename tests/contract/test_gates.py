"""Every gate against every tool that is installed, whoever wrote it."""

from __future__ import annotations

from inspect import Parameter
from typing import Any

import pytest

from knapper.caller import Caller
from knapper.dispatch.confirm import has_floor
from knapper.domain import Tool
from knapper.lint import problems
from knapper.touches import Access
from tests.contract.surface import (
    ALICE,
    SECRET,
    Server,
    arguments,
    path_places,
    plugins,
    tools,
    usual_paths,
)

EVERY = pytest.mark.parametrize("tool", tools().values(), ids=list(tools()))
MUTATING = {name: tool for name, tool in tools().items() if tool.mutating}
PLACES = [(tool, wire, access) for tool in tools().values() for wire, access in path_places(tool)]
OUT = {
    "../outside.md": "path_invalid",
    "Open/../../outside.md": "path_invalid",
    "..\\outside.md": "path_invalid",
    "/etc/passwd": "path_invalid",
    "C:\\Windows\\win.ini": "path_invalid",
    "%2e%2e/outside.md": "path_invalid",
    "Open/a\x00.md": "path_invalid",
    "Open/NUL.md": "path_invalid",
    ".obsidian/secret.json": "acl_denied",
    ".OBSIDIAN/secret.json": "acl_denied",
    ".obsidian/bookmarks.json": "acl_denied",
    ".obsidian/workspaces.json": "acl_denied",
    ".Obsidian/Workspace.json": "acl_denied",
    ".git/config": "acl_denied",
    ".trash/gone.md": "acl_denied",
    "Open/.hidden.md": "acl_denied",
    "Private/secret.md": "acl_denied",
    "Private/not there.md": "acl_denied",
    "./Private//secret.md": "acl_denied",
}


def named(*scopes: str, vault: str | None = None) -> Caller:
    return Caller("bob", frozenset(scopes), authenticated=True, vault=vault)


def fields(outcome: Any) -> set[str]:
    assert outcome.error["code"] == "validation_error"
    return {issue["field"] for issue in outcome.error["details"]["issues"]}


def test_every_installed_plugin_is_loaded() -> None:
    assert {plugin.name: plugin.error for plugin in plugins().all if plugin.error} == {}


def test_our_own_tools_and_somebody_elses_are_here() -> None:
    assert {"read_note", "delete_note", "server_health", "destroy_text"} <= set(tools())


@EVERY
def test_it_lacks_nothing_that_every_tool_must_have(tool: Tool) -> None:
    assert [problem for problem in problems(tool.domain) if repr(tool.name) in problem] == []


@EVERY
def test_an_argument_that_it_does_not_have_is_refused_by_name(server: Server, tool: Tool) -> None:
    given = {**arguments(tool), "no_such_argument": 1}
    assert fields(server.call(tool.name, given)) == {"no_such_argument"}


@EVERY
def test_what_it_needs_is_asked_for_by_name(server: Server, tool: Tool) -> None:
    needed = {p.wire for p in tool.signature.parameters if p.default is Parameter.empty}
    if needed:
        assert fields(server.call(tool.name, {})) == needed


@EVERY
def test_a_value_of_no_type_it_takes_is_refused_by_field(server: Server, tool: Tool) -> None:
    for parameter in tool.signature.parameters:
        outcome = server.call(tool.name, {**arguments(tool), parameter.wire: _unfit(parameter.type)})
        if outcome.error is not None and outcome.error["code"] == "validation_error":
            assert fields(outcome) == {parameter.wire}


def _unfit(hint: Any) -> Any:
    return [[[{"un": "fit"}]]] if "list" not in str(hint) else "unfit"


@EVERY
def test_somebody_unknown_may_not_call_it(server: Server, tool: Tool) -> None:
    code = server.code(tool.name, arguments(tool), Caller("x", frozenset({"*"}), authenticated=False))
    assert (code == "unauthorized") is bool(tool.scopes)


@EVERY
def test_each_of_its_scopes_is_needed(server: Server, tool: Tool) -> None:
    for missing in tool.scopes:
        rest = frozenset(tool.scopes) - {missing}
        outcome = server.call(tool.name, arguments(tool), named(*rest, "read:nothing"))
        assert outcome.error is not None
        assert outcome.error["code"] == "forbidden"
        assert outcome.error["details"] == {"required": list(tool.scopes)}


@EVERY
def test_a_caller_bound_to_one_vault_cannot_use_it_in_another(server: Server, tool: Tool) -> None:
    if "vault" not in {p.wire for p in tool.signature.parameters}:
        return
    outcome = server.call(tool.name, {**arguments(tool), "vault": "home"}, named("*", vault="work"))
    assert outcome.error is not None
    assert outcome.error["details"] == {"vault": "home", "bound_vault": "work"}


@EVERY
def test_a_vault_that_is_not_there_is_said_to_be_so(server: Server, tool: Tool) -> None:
    if "vault" in {p.wire for p in tool.signature.parameters}:
        assert server.code(tool.name, {**arguments(tool), "vault": "nowhere"}) == "vault_not_found"


@EVERY
def test_disabled_it_answers_as_if_it_had_never_been(
    server: Server, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = server.runtime
    rules = runtime.settings.tool_visibility.model_copy(update={"disabled": [tool.name]})
    monkeypatch.setattr(runtime, "settings", runtime.settings.model_copy(update={"tool_visibility": rules}))
    disabled = server.call(tool.name, arguments(tool))
    monkeypatch.undo()
    monkeypatch.setattr(runtime, "tools", {k: v for k, v in runtime.tools.items() if k != tool.name})
    assert disabled.error == server.call(tool.name, arguments(tool)).error
    assert disabled.error is not None
    assert disabled.error["code"] == "not_found"


@pytest.mark.parametrize("tool", MUTATING.values(), ids=list(MUTATING))
def test_the_read_only_switch_stops_it(frozen: Server, tool: Tool) -> None:
    before = frozen.state()
    outcome = frozen.call(tool.name, {**arguments(tool), **_key(tool)})
    assert outcome.error is not None
    assert (outcome.error["code"], outcome.error["message"]) == ("forbidden", "the vault 'home' is read-only")
    assert frozen.state() == before


def _key(tool: Tool) -> dict[str, str]:
    return {"idempotency_key": "k"} if tool.keyed else {}


@pytest.mark.parametrize("kind", ["docs", "system"])
@pytest.mark.parametrize("tool", MUTATING.values(), ids=list(MUTATING))
def test_it_changes_no_vault_of_documents(
    server: Server, tool: Tool, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.runtime.vaults.get("home"), "kind", kind)
    before = server.state()
    outcome = server.call(tool.name, arguments(tool))
    assert outcome.error is not None
    assert outcome.error["details"] == {"vault": "home", "kind": kind}
    assert server.state() == before


@pytest.mark.parametrize(
    ("tool", "wire", "access"),
    PLACES,
    ids=[f"{tool.name}-{wire}-{access.op}" for tool, wire, access in PLACES],
)
def test_no_path_leads_out_of_what_its_caller_may_use(
    fenced: Server, tool: Tool, wire: str, access: Access
) -> None:
    before = fenced.state()
    usual = usual_paths(tool)
    for bad, code in OUT.items():
        given = arguments(tool)
        given[wire] = arguments(tool, lambda one, bad=bad: bad if one == access else usual(one))[wire]  # type: ignore[misc]
        outcome = fenced.call(tool.name, {**given, **_key(tool)})
        assert outcome.error is not None, bad
        assert outcome.error["code"] == code, bad
        assert SECRET not in repr(outcome.error)
        assert str(fenced.folder.parent) not in repr(outcome.error)
    assert fenced.state() == before


@EVERY
def test_its_hints_say_what_the_gates_do(server: Server, tool: Tool) -> None:
    hints = tool.annotations
    assert hints["readOnlyHint"] is not tool.mutating
    assert hints["openWorldHint"] is False
    assert hints["destructiveHint"] is (tool.mutating and (has_floor(tool) or bool(tool.confirm)))
    assert hints["idempotentHint"] is (tool.repeat in ("natural", "pure"))
    if {"write", "delete"} & {access.op for access in tool.signature.accesses}:
        assert tool.mutating


@pytest.mark.parametrize(
    "tool",
    [t for t in tools().values() if has_floor(t)],
    ids=[t.name for t in tools().values() if has_floor(t)],
)
def test_a_person_is_asked_before_it_acts_each_time(server: Server, tool: Tool) -> None:
    before = {path: hash for path, hash in server.state().items() if not path.startswith("rows")}
    codes = [server.code(tool.name, arguments(tool)) for _ in range(2)]
    # What makes no sense may be refused before anybody is bothered with it, but nothing is done.
    assert "ok" not in codes
    assert codes[0] == codes[1]
    assert {path: hash for path, hash in server.state().items() if not path.startswith("rows")} == before
    if codes[0] == "elicit_required":
        (request,) = [one for one in server.runtime.approvals.list() if one.tool == tool.name]
        assert request.caller == ALICE.name
