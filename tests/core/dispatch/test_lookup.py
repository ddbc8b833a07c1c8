"""Which tools there are for a caller, and the one answer for those that there are not."""

from __future__ import annotations

import pytest

from knapper.caller import Caller
from knapper.config.model import VisibilitySettings
from knapper.dispatch.visibility import verdict
from tests.core.dispatch.desk import ALICE, Desk, MakeDesk

READER = Caller("reader", frozenset({"read:*"}), authenticated=True)


def test_an_unknown_tool_and_a_disabled_one_are_the_same_answer(make_desk: MakeDesk) -> None:
    disabled = make_desk(tool_visibility={"disabled": ["look"], "disabled_tags": ["inking"]})
    bare = make_desk(tool_visibility={"disabled": ["nothing"]})
    del bare.domain.tools["look"], bare.domain.tools["put"]
    bare.runtime.tools = bare.domain.tools
    for name in ("look", "put"):
        assert disabled.call(name, path="a.md").error == bare.call(name, path="a.md").error
        assert disabled.error(name, path="a.md") == {
            "code": "not_found",
            "message": f"unknown tool: {name}",
            "retryable": False,
            "recovery": "Look the name up with find_capability.",
        }
    assert disabled.ran == []


def test_a_disabled_tool_does_not_even_look_at_its_arguments(make_desk: MakeDesk) -> None:
    desk = make_desk(tool_visibility={"disabled": ["look"]})
    assert desk.code("look", nonsense=1) == "not_found"
    assert desk.code("look", by=Caller(None)) == "not_found"


@pytest.mark.parametrize(
    "rules", [{"hidden": ["look"]}, {"allowed": []}, {"allowed": ["knock"]}, {"require_read_only": True}]
)
def test_a_hidden_tool_can_be_called_by_name(make_desk: MakeDesk, rules: dict[str, object]) -> None:
    desk = make_desk(tool_visibility=rules)
    assert desk.result("look", path="a.md") == "at home"


@pytest.mark.parametrize(
    ("rules", "tool", "caller", "read_only", "expected"),
    [
        ({}, "put", ALICE, False, "listed"),
        ({"disabled": ["put"], "hidden": ["put"]}, "put", ALICE, False, "disabled_name"),
        ({"disabled_tags": ["inking"]}, "put", ALICE, False, "disabled_tag"),
        ({"disabled_tags": ["inking"]}, "look", ALICE, False, "listed"),
        ({"hidden": ["put"], "hidden_tags": ["inking"]}, "put", ALICE, False, "hidden_name"),
        ({"hidden_tags": ["inking"], "require_read_only": True}, "put", ALICE, False, "hidden_tag"),
        ({"require_read_only": True, "allowed": []}, "put", ALICE, False, "hidden_require_read_only"),
        ({"require_read_only": True}, "look", ALICE, False, "listed"),
        ({"require_read_only": True}, "tune", ALICE, False, "listed"),
        ({"allowed": []}, "look", ALICE, False, "hidden_not_allowlisted"),
        ({"allowed": ["put"]}, "look", READER, False, "hidden_not_allowlisted"),
        ({"allowed": ["look"]}, "look", READER, False, "listed"),
        ({}, "put", READER, True, "scope_denied_missing_scope"),
        ({}, "put", ALICE, True, "scope_denied_read_only"),
        ({}, "look", ALICE, True, "listed"),
        ({}, "put", None, True, "listed"),
    ],
)
def test_the_first_reason_not_to_show_a_tool_is_the_verdict(
    desk: Desk, rules: dict[str, object], tool: str, caller: Caller | None, read_only: bool, expected: str
) -> None:
    given = VisibilitySettings.model_validate(rules)
    assert verdict(desk.domain.tools[tool], given, caller, read_only=read_only) == expected


def test_a_very_long_name_is_neither_echoed_nor_logged(desk: Desk) -> None:
    error = desk.error("n" * 100_000)
    assert error["message"] == "unknown tool: " + "n" * 64
    assert desk.audited() == [("n" * 64, "error", "not_found")]


def test_an_unknown_name_is_answered_with_the_nearest_that_the_caller_is_shown(make_desk: MakeDesk) -> None:
    assert make_desk().error("loook")["details"] == {"suggestions": ["look"]}
    assert "details" not in make_desk(tool_visibility={"hidden": ["look"]}).error("loook")
    assert "details" not in make_desk().error("loook", by=Caller(None))
