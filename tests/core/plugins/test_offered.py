"""Tools that a domain adds and takes back while the server runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knapper import Caller, Context, Domain, PluginError, Tool, WritePath
from knapper.caller import LOCAL
from knapper.lint import tool_problems
from knapper.runtime import Runtime
from knapper.server.changes import Change
from knapper.server.host import Host
from knapper.testing import Calls, VaultFolder

ME = Caller("me", LOCAL, authenticated=True)


def where(ctx: Context) -> str:
    """Say which vault this is."""
    return ctx.vault.vault


def note(ctx: Context, path: WritePath) -> str:
    """Write a note."""
    return ctx.vault.write(path, "noted").path


@pytest.fixture
def late() -> Domain:
    domain = Domain("late", summary="Come late.")

    @domain.tool("read:notes")
    def early(ctx: Context) -> str:
        """Be there from the start."""
        return "early"

    return domain


@pytest.fixture
def runtime(call: Calls, late: Domain, vault: VaultFolder, tmp_path: Path) -> Runtime:
    (tmp_path / "other").mkdir()
    call.settings = {
        "vaults": [{"id": "main", "path": str(vault.path)}, {"id": "other", "path": str(tmp_path / "other")}],
        "tool_facade": {"mode": "flat"},
    }
    return call.runtime(late)


def at_home(domain: Domain, fn: Callable[..., Any] = where, home: str = "other", **more: Any) -> Tool:
    return Tool(fn, domain, ("read:notes",), vault=False, home=home, **more)


def names(host: Host, caller: Caller = ME) -> list[str]:
    return [json.loads(item)["name"] for item in host.tools(caller)]


def served(runtime: Runtime) -> Host:
    host = Host(lambda: runtime)
    host._runtime = host._opened()
    host._loaded.set()
    return host


def test_an_offered_tool_is_called_in_the_vault_it_belongs_to(runtime: Runtime, late: Domain) -> None:
    runtime.offer(late, [at_home(late)])
    assert json.loads(runtime.call("where", {}, ME).payload) == {"result": "other"}
    bound = Caller("bound", LOCAL, authenticated=True, vault="main")
    error = runtime.call("where", {}, bound).error
    assert error is not None
    assert (error["code"], error["details"]) == ("forbidden", {"vault": "other", "bound_vault": "main"})
    assert runtime.call("where", {"vault": "main"}, ME).error["code"] == "validation_error"  # type: ignore[index]


def test_every_gate_holds_for_it(runtime: Runtime, late: Domain) -> None:
    runtime.offer(late, [Tool(note, late, ("write:notes",), vault=False, home="main")])
    reader = Caller("reader", frozenset({"read:notes"}), authenticated=True)
    for caller, path, code in (
        (reader, "a.md", "forbidden"),
        (ME, "../a.md", "path_invalid"),
        (ME, ".git/a.md", "acl_denied"),
    ):
        error = runtime.call("note", {"path": path}, caller).error
        assert error is not None
        assert error["code"] == code


def test_what_is_offered_anew_takes_the_place_of_what_was(runtime: Runtime, late: Domain) -> None:
    runtime.offer(late, [at_home(late)])
    runtime.offer(late, [at_home(late, name="whither")])
    assert sorted(runtime.tools) == ["early", "whither"]
    runtime.offer(late, [])
    assert sorted(runtime.tools) == ["early"]


def test_lists_follow_and_clients_are_told_once_for_each_change(runtime: Runtime, late: Domain) -> None:
    host, told = served(runtime), list[Change]()
    host.changes._listeners.append(told.append)
    assert (names(host), host.outdated) == (["early"], False)
    tool = at_home(late)
    for _ in range(2):
        runtime.offer(late, [tool])
    assert (names(host), host.outdated) == (["early", "where"], True)
    assert told == [Change("tools")]
    runtime.offer(late, [])
    assert names(host) == ["early"]
    assert told == [Change("tools"), Change("tools")]


def test_a_caller_of_another_vault_is_not_shown_it(runtime: Runtime, late: Domain) -> None:
    host = served(runtime)
    runtime.offer(late, [at_home(late)])
    for vault, shown in (("main", ["early"]), ("other", ["early", "where"]), (None, ["early", "where"])):
        assert names(host, Caller("x", LOCAL, authenticated=True, vault=vault)) == shown


@pytest.mark.parametrize("name", ["early", "find_capability"])
def test_a_name_that_is_taken_cannot_be_offered(runtime: Runtime, late: Domain, name: str) -> None:
    assert not runtime.free_name(name, late)
    with pytest.raises(PluginError, match=f"offers a tool '{name}', which is there already"):
        runtime.offer(late, [at_home(late, name=name)])
    assert sorted(runtime.tools) == ["early"]


def test_a_name_that_no_client_could_use_cannot_be_offered(runtime: Runtime, late: Domain) -> None:
    with pytest.raises(PluginError, match="is not snake_case"):
        runtime.offer(late, [at_home(late, name="No Name")])


def test_a_tool_of_one_vault_may_change_it_without_a_parameter_for_the_vault(late: Domain) -> None:
    homeless = Tool(note, late, ("write:notes",), vault=False)
    assert [*tool_problems(homeless)] == ["it changes something but takes no vault: drop vault=False"]
    assert [*tool_problems(Tool(note, late, ("write:notes",), vault=False, home="main"))] == []
