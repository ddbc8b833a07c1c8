from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.errors import ToolError
from knapper.vault.acl import Acl, Op, Verdict

NOBODY: frozenset[str] = frozenset()
OPS: tuple[Op, ...] = ("read", "write", "delete")


@pytest.mark.parametrize("op", OPS)
def test_without_lists_everything_is_allowed(op: Op) -> None:
    assert Acl().evaluate(op, "a/b.md") == Verdict(True)


@pytest.mark.parametrize("op", OPS)
def test_an_empty_list_allows_nothing(op: Op) -> None:
    acl = Acl(read_paths=[], write_paths=[], delete_paths=[])
    assert acl.evaluate(op, "a/b.md") == Verdict(False, f"{op}_paths")


def test_each_list_speaks_for_its_own_operation() -> None:
    acl = Acl(read_paths=["**"], write_paths=["In/**"])
    assert acl.evaluate("read", "Out/a.md").allowed
    assert acl.evaluate("write", "Out/a.md") == Verdict(False, "write_paths")
    assert acl.evaluate("write", "In/a.md").allowed
    assert acl.evaluate("delete", "Out/a.md").allowed


def test_strict_reading_turns_the_absent_list_into_an_empty_one() -> None:
    acl = Acl(strict_read_default=True)
    assert acl.evaluate("read", "a.md") == Verdict(False, "strict_read_default")
    assert acl.evaluate("write", "a.md").allowed
    assert not acl.unrestricted_read
    assert Acl(read_paths=["a.md"], strict_read_default=True).evaluate("read", "a.md").allowed


def test_reading_is_unrestricted_only_without_any_rule_about_it() -> None:
    assert Acl().unrestricted_read
    assert Acl(write_paths=[], read_only=True).unrestricted_read
    assert not Acl(read_paths=["**"]).unrestricted_read


@pytest.mark.parametrize(
    "rules",
    [
        {"read_paths": ["**"]},
        {"write_paths": ["**"]},
        {"delete_paths": []},
        {"strict_read_default": True},
        {"rules": [("a/**", ["read:a"])]},
        {"default_scopes": ["read:a"]},
    ],
)
def test_any_rule_is_a_restriction(rules: dict[str, Any]) -> None:
    assert Acl().unrestricted
    assert not Acl(**rules).unrestricted


def test_a_read_only_vault_is_read_and_nothing_else() -> None:
    acl = Acl(read_only=True)
    acl.check("read", "a.md", NOBODY)
    for op in ("write", "delete"):
        with pytest.raises(ToolError) as caught:
            acl.check(op, "a.md", NOBODY)
        assert caught.value.code == "read_only_mode"
        assert caught.value.details == {"path": "a.md", "op": op}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(
    ("path", "denied_by"),
    [
        (".obsidian", "control_folder"),
        (".obsidian/plugins/x/data.json", "control_folder"),
        (".Obsidian/app.json", "control_folder"),
        (".GIT/config", "control_folder"),
        (".trash/a.md", "control_folder"),
        ("sub/.git/config", "control_folder"),
        (".knapper-tmp-1", "hidden"),
        ("a/.hidden/b.md", "hidden"),
        (".env", "hidden"),
    ],
)
def test_no_list_opens_control_folders_and_hidden_names(op: Op, path: str, denied_by: str) -> None:
    everything = ["**", path, ".obsidian/**", ".*"]
    acl = Acl(read_paths=everything, write_paths=everything, delete_paths=everything)
    assert acl.evaluate(op, path).denied_by == denied_by
    assert not acl.readable(path)


def test_an_exempt_path_is_let_past_the_control_folder_but_not_past_the_lists() -> None:
    exempt = frozenset({".obsidian/bookmarks.json"})
    assert Acl().evaluate("write", ".obsidian/bookmarks.json", exempt).allowed
    assert not Acl().evaluate("write", ".obsidian/bookmarks.json").allowed
    assert not Acl().evaluate("read", ".obsidian/workspaces.json", exempt).allowed
    assert not Acl().evaluate("read", ".obsidian/bookmarks.json/x", exempt).allowed
    assert not Acl(read_paths=["Notes/**"]).evaluate("read", ".obsidian/bookmarks.json", exempt).allowed
    assert Acl(read_only=True).evaluate("write", ".obsidian/bookmarks.json", exempt).denied_by == "read_only"


def test_the_last_rule_that_matches_says_which_scopes_are_asked_for() -> None:
    acl = Acl(
        rules=[("**", ["read:notes"]), ("HR/**", ["read:hr", "admin:acl"]), ("HR/open/**", [])],
        default_scopes=["admin:vault"],
    )
    assert acl.evaluate("read", "a.md") == Verdict(True, None, "**", ("read:notes",))
    assert acl.evaluate("read", "HR/a.md") == Verdict(True, None, "HR/**", ("read:hr", "admin:acl"))
    assert acl.evaluate("read", "HR/open/a.md") == Verdict(True, None, "HR/open/**", ())
    with pytest.raises(ToolError) as caught:
        acl.check("read", "HR/a.md", frozenset({"read:hr"}))
    assert caught.value.code == "acl_denied"
    assert caught.value.details == {
        "path": "HR/a.md",
        "op": "read",
        "required_scopes": ["read:hr", "admin:acl"],
    }
    acl.check("read", "HR/a.md", frozenset({"read:*", "admin"}))
    acl.check("read", "HR/open/a.md", NOBODY)


def test_default_scopes_hold_where_no_rule_matches() -> None:
    acl = Acl(rules=[("In/**", [])], default_scopes=["admin:vault"])
    with pytest.raises(ToolError):
        acl.check("read", "a.md", frozenset({"read:notes"}))
    acl.check("read", "a.md", frozenset({"admin:vault"}))
    acl.check("read", "In/a.md", NOBODY)


def test_scopes_of_rules_do_not_filter_lists() -> None:
    assert Acl(rules=[("**", ["admin:acl"])]).readable("a.md")


def test_later_changes_of_the_configuration_do_not_reach_an_acl() -> None:
    listed = ["In/**"]
    acl = Acl(read_paths=listed)
    listed.append("**")
    assert not acl.evaluate("read", "Out/a.md").allowed


def test_composition_of_a_name_opens_nothing() -> None:
    acl = Acl(read_paths=["Café/**"])
    assert acl.evaluate("read", "Cafe\u0301/a.md").allowed
    assert not Acl(read_paths=["Cafe/**"]).evaluate("read", "Café/a.md").allowed


def test_an_unknown_operation_is_a_mistake_of_the_program() -> None:
    with pytest.raises(ValueError, match="unknown operation 'execute'"):
        Acl().evaluate("execute", "a.md")  # type: ignore[arg-type]


def test_equal_rules_have_equal_fingerprints_and_others_do_not() -> None:
    one = Acl(read_paths=["a/**", "b/**"], rules=[("x", ["s", "t"])])
    same = Acl(read_paths=["b/**", "a/**"], rules=[("x", ["t", "s"])])
    others = [
        Acl(),
        Acl(read_paths=[]),
        Acl(read_paths=["a/**"]),
        Acl(read_paths=["a/**", "b/**"]),
        Acl(write_paths=["a/**", "b/**"]),
        Acl(read_only=True),
        Acl(strict_read_default=True),
        Acl(rules=[("x", []), ("y", [])]),
        Acl(rules=[("y", []), ("x", [])]),
        Acl(default_scopes=["s"]),
    ]
    assert one.fingerprint == same.fingerprint
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 11


@given(
    st.lists(st.sampled_from(["a/**", "a/*", "*.md", "b c/**", "**"]), max_size=3),
    st.booleans(),
    st.text("ab c/.md"),
)
def test_the_remembered_answer_is_the_evaluated_one(listed: list[str], strict: bool, path: str) -> None:
    acl = Acl(read_paths=listed or None, strict_read_default=strict)
    expected = acl.evaluate("read", path).allowed
    assert acl.readable(path) is expected
    assert acl.readable(path) is expected
