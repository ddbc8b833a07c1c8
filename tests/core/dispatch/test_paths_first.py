"""Paths and prechecks are judged before a key, a token or a confirmation is used up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import pytest

from knapper.caller import Caller
from knapper.config.model import AclSettings
from knapper.errors import PluginError
from knapper.params import ReadPath, Signature, WritePath
from knapper.touches import Access
from tests.core.dispatch.desk import Desk, MakeDesk

OUT = ["../a.md", "/etc/passwd", ".obsidian/app.json", "a/../../b.md", "C:\\a.md", "con"]


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    path: ReadPath
    label: str = ""


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: WritePath
    children: list[Tree] = []


def seen(fn: Callable[..., Any], raw: dict[str, Any]) -> tuple[list[tuple[str, str]], Any]:
    """Every path that a visitor is shown, and the arguments with each path in capitals."""
    signature = Signature(fn, vault=False, keyed=False)
    args = signature.parse(raw)
    found: list[tuple[str, str]] = []

    def visit(access: Access, path: str) -> str:
        found.append((access.op, path))
        return path.upper()

    signature.visit(args, visit)
    return found, signature.arguments(args, str)


def one(ctx: Any, path: ReadPath | None = None) -> None: ...
def many(ctx: Any, paths: list[ReadPath]) -> None: ...
def either(ctx: Any, paths: list[ReadPath] | ReadPath) -> None: ...
def table(ctx: Any, moves: dict[ReadPath, WritePath]) -> None: ...
def pair(ctx: Any, both: tuple[ReadPath, int, WritePath]) -> None: ...
def fixed(ctx: Any, paths: tuple[ReadPath, ...]) -> None: ...
def distinct(ctx: Any, paths: set[ReadPath]) -> None: ...
def records(ctx: Any, entries: list[Entry], other: dict[str, list[Entry]]) -> None: ...
def trees(ctx: Any, tree: Tree) -> None: ...
def described(ctx: Any, path: Annotated[ReadPath | None, "described"] = None) -> None: ...


@pytest.mark.parametrize(
    ("fn", "raw", "found", "used"),
    [
        (one, {"path": "a"}, [("read", "a")], {"path": "A"}),
        (one, {}, [], {"path": None}),
        (described, {"path": "a"}, [("read", "a")], {"path": "A"}),
        (many, {"paths": ["a", "b"]}, [("read", "a"), ("read", "b")], {"paths": ["A", "B"]}),
        (either, {"paths": ["ab"]}, [("read", "ab")], {"paths": ["AB"]}),
        (either, {"paths": "ab"}, [("read", "ab")], {"paths": "AB"}),
        (table, {"moves": {"a": "b"}}, [("read", "a"), ("write", "b")], {"moves": {"A": "B"}}),
        (pair, {"both": ["a", 1, "b"]}, [("read", "a"), ("write", "b")], {"both": ("A", 1, "B")}),
        (fixed, {"paths": ["a", "b"]}, [("read", "a"), ("read", "b")], {"paths": ("A", "B")}),
        (distinct, {"paths": ["a"]}, [("read", "a")], {"paths": {"A"}}),
        (
            records,
            {"entries": [{"path": "a", "label": "x"}], "other": {"k": [{"path": "b"}]}},
            [("read", "a"), ("read", "b")],
            {"entries": [Entry("A", "x")], "other": {"k": [Entry("B")]}},
        ),
        (
            trees,
            {"tree": {"path": "a", "children": [{"path": "b", "children": [{"path": "c"}]}]}},
            [("write", "a"), ("write", "b"), ("write", "c")],
            {"tree": Tree("A", [Tree("B", [Tree("C")])])},
        ),
    ],
)
def test_every_path_is_seen_and_replaced_wherever_its_type_puts_it(
    fn: Callable[..., Any], raw: dict[str, Any], found: list[tuple[str, str]], used: dict[str, Any]
) -> None:
    shown, arguments = seen(fn, raw)
    assert sorted(shown) == sorted(found)
    assert arguments == used


def test_a_type_whose_paths_could_not_be_found_is_refused_when_the_tool_is_declared() -> None:
    def hidden(ctx: Any, paths: Annotated[Any, "x"] | type[ReadPath]) -> None: ...

    with pytest.raises(PluginError, match="cannot be checked"):
        Signature(hidden, vault=False, keyed=False)


@pytest.mark.parametrize("path", OUT)
def test_a_bad_path_uses_up_neither_key_nor_confirmation(desk: Desk, path: str) -> None:
    assert desk.code("put", path=path, text="x", idempotency_key="k") in ("path_invalid", "acl_denied")
    assert desk.code("wipe", path=path) in ("path_invalid", "acl_denied")
    assert desk.keys() == []
    assert desk.runtime.approvals.list() == []
    assert desk.ran == []


def test_an_approval_survives_a_call_that_the_folder_rules_deny(make_desk: MakeDesk) -> None:
    desk = make_desk()
    desk.approve(desk.error("wipe", path="a.md"))
    vault = desk.runtime.vaults.get("home")
    rules = vault.acl
    vault.apply(vault.settings.model_copy(update={"acl": AclSettings(delete_paths=[])}))
    assert desk.code("wipe", path="a.md") == "acl_denied"
    vault.acl = rules
    assert desk.code("wipe", path="a.md") == "ok"


def test_a_denied_precheck_uses_up_nothing(desk: Desk) -> None:
    assert desk.code("put", path="locked.md", text="x", idempotency_key="k") == "forbidden"
    assert desk.code("wipe", path="locked.md") == "forbidden"
    assert desk.keys() == []
    assert desk.runtime.approvals.list() == []


def test_a_path_reaches_the_tool_in_its_one_spelling(desk: Desk) -> None:
    desk.call("put", path="./deep//er\\b.md", text="x")
    assert desk.file("home/deep/er/b.md") == "x"


def test_an_absolute_path_and_the_place_of_the_vault_are_in_no_error(desk: Desk) -> None:
    for path in (*OUT, "a.md/b.md", "gone.md", "x" * 900):
        for outcome in (
            desk.call("look", path=path),
            desk.call("put", path=path, text="x"),
            desk.call("wipe", path=path),
        ):
            assert str(desk.folder) not in repr(outcome.error)


def test_a_rule_that_asks_for_more_scopes_is_part_of_the_gate(make_desk: MakeDesk) -> None:
    desk = make_desk(acl={"rules": [{"glob": "a.md", "scopes": ["admin:vault"]}]})
    writer = Caller("w", frozenset({"write:*", "read:*"}), authenticated=True)
    error = desk.error("put", path="a.md", text="x", idempotency_key="k", by=writer)
    assert (error["code"], error["details"]["required_scopes"]) == ("acl_denied", ["admin:vault"])
    assert desk.keys() == []
