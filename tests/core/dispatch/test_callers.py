"""Who may call what, and in which vault."""

from __future__ import annotations

from typing import Any

import pytest

from knapper.caller import Caller
from tests.core.dispatch.desk import Desk, MakeDesk

NOBODY = Caller(None)


def known(*scopes: str, vault: str | None = None) -> Caller:
    return Caller("bob", frozenset(scopes), authenticated=True, vault=vault)


def test_a_tool_with_scopes_needs_an_authenticated_caller(desk: Desk) -> None:
    claims_much = Caller("mallory", frozenset({"*"}), authenticated=False)
    assert desk.error("look", path="a.md", by=claims_much)["code"] == "unauthorized"
    assert desk.error("look", path="a.md", by=NOBODY)["code"] == "unauthorized"


def test_a_tool_without_scopes_answers_anybody(desk: Desk) -> None:
    assert desk.result("knock", by=NOBODY) == "here"


def test_every_scope_of_a_tool_is_needed(desk: Desk) -> None:
    error = desk.error("wipe", path="a.md", by=known("read:*", "write:*"))
    assert error["code"] == "forbidden"
    assert error["details"] == {"required": ["delete:notes"]}
    assert desk.file("home/a.md") == "at home"


def test_arguments_are_judged_before_the_caller_and_scopes_before_the_vault(desk: Desk) -> None:
    assert desk.code("look", by=NOBODY) == "validation_error"
    assert desk.code("look", path="a.md", vault="nowhere", by=known("write:*")) == "forbidden"
    assert desk.code("look", path="a.md", vault="nowhere", by=known("read:*")) == "vault_not_found"


def test_an_unbound_caller_uses_any_vault_and_the_default_where_it_names_none(desk: Desk) -> None:
    assert desk.result("look", path="a.md") == "at home"
    assert desk.result("look", path="a.md", vault="work") == "at work"


def test_the_configured_default_vault_is_the_default(make_desk: MakeDesk) -> None:
    assert make_desk(default_vault="work").result("look", path="a.md") == "at work"


def test_a_bound_caller_has_its_own_vault_only(desk: Desk) -> None:
    bound = known("*", vault="work")
    assert desk.result("look", path="a.md", by=bound) == "at work"
    assert desk.result("look", path="a.md", vault="work", by=bound) == "at work"
    error = desk.error("look", path="a.md", vault="home", by=bound)
    assert (error["code"], error["details"]) == ("forbidden", {"vault": "home", "bound_vault": "work"})


def test_a_bound_caller_learns_nothing_of_which_vaults_there_are(desk: Desk) -> None:
    bound = known("*", vault="work")
    there, absent = (desk.error("look", path="a.md", vault=v, by=bound) for v in ("home", "nowhere"))
    assert there["message"] == absent["message"]
    assert there["code"] == absent["code"]


def test_a_caller_bound_to_a_vault_that_is_gone_has_none(desk: Desk) -> None:
    assert desk.code("look", path="a.md", by=known("*", vault="gone")) == "vault_not_found"


def test_a_vaults_own_rules_hold_whether_it_is_named_bound_or_the_default(make_desk: MakeDesk) -> None:
    folder = make_desk().folder
    rules = {"read_paths": ["open/**"]}
    desk = make_desk(
        vaults=[
            {"id": "home", "path": str(folder / "home"), "acl": rules},
            {"id": "work", "path": str(folder / "work")},
        ]
    )
    assert desk.code("look", path="a.md") == "acl_denied"
    assert desk.code("look", path="a.md", vault="home") == "acl_denied"
    assert desk.code("look", path="a.md", by=known("*", vault="home")) == "acl_denied"
    assert desk.code("look", path="a.md", vault="work") == "ok"


def test_a_vault_without_rules_has_the_servers(make_desk: MakeDesk) -> None:
    desk = make_desk(acl={"read_paths": ["open/**"]})
    assert desk.code("look", path="a.md", vault="work") == "acl_denied"


@pytest.mark.parametrize("tool", ["put", "put_and_fail", "wipe", "press", "scribble"])
def test_the_read_only_switch_stops_every_tool_that_changes_something(make_desk: MakeDesk, tool: str) -> None:
    desk = make_desk(acl={"read_only": True})
    arguments: dict[str, Any] = {
        "put": {"path": "b.md", "text": "x"},
        "put_and_fail": {"path": "b.md", "when": "inside"},
        "wipe": {"path": "a.md"},
        "press": {"command": "c"},
        "scribble": {"path": "b.md", "lines": 1},
    }
    error = desk.error(tool, **arguments[tool])
    assert (error["code"], error["message"]) == ("forbidden", "the vault 'home' is read-only")
    assert desk.ran == []


def test_the_read_only_switch_leaves_reading_and_administration(make_desk: MakeDesk) -> None:
    desk = make_desk(acl={"read_only": True})
    assert desk.result("look", path="a.md") == "at home"
    assert desk.result("tune") == "tuned"


def test_the_servers_read_only_switch_holds_for_vaults_with_rules_of_their_own(make_desk: MakeDesk) -> None:
    folder = make_desk().folder
    own = {"id": "home", "path": str(folder / "home"), "acl": {"write_paths": ["**"]}}
    desk = make_desk(vaults=[own], acl={"read_only": True})
    assert desk.code("put", path="b.md", text="x") == "forbidden"


def test_one_vault_can_be_read_only_beside_another(make_desk: MakeDesk) -> None:
    folder = make_desk().folder
    desk = make_desk(
        vaults=[
            {"id": "home", "path": str(folder / "home"), "acl": {"read_only": True}},
            {"id": "work", "path": str(folder / "work")},
        ]
    )
    assert desk.code("put", path="b.md", text="x") == "forbidden"
    assert desk.code("put", path="b.md", text="x", vault="work") == "ok"


@pytest.mark.parametrize("kind", ["docs", "system"])
def test_a_vault_of_documents_or_of_the_system_takes_no_changes(make_desk: MakeDesk, kind: str) -> None:
    folder = make_desk().folder
    desk = make_desk(vaults=[{"id": "home", "path": str(folder / "home"), "kind": kind}])
    error = desk.error("put", path="b.md", text="x")
    assert (error["code"], error["details"]) == ("forbidden", {"vault": "home", "kind": kind})
    assert desk.result("look", path="a.md") == "at home"
