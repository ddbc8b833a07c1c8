from typing import Any

import pytest

import knapper_dataview
from knapper import Bridge, Context, Domain, ToolError, hookimpl
from knapper.bridge import EngineName
from knapper.testing import Calls, VaultFolder
from knapper_dataview import dataview
from knapper_dataview.answers import DqlRows

asker = Domain("asker", summary="Runs queries.")


@asker.tool("read:notes")
def ask(ctx: Context, dql: str, engine: EngineName = "auto") -> DqlRows:
    """Run a query."""
    rows: DqlRows = ctx.service("dql")(ctx, dql, engine=engine)
    return rows


class LiveDataview:
    """Stands for the Dataview plugin."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def dql(self, dql: str, format: str | None) -> Any:
        self.asked.append(("dql", dql))
        return {"headers": ["File"], "rows": [["[[A]]"]], "note_paths": ["A.md"]}

    def validate(self, dql: str) -> Any:
        self.asked.append(("validate", dql))
        return {"valid": False, "error": {"message": "no"}}

    def eval(self, path: str, expression: str) -> Any:
        self.asked.append(("eval", path, expression))
        return {"value": 7, "type": "number"}

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("dataview", "dataview", lambda settings: self)


@pytest.fixture
def live(call: Calls, vault: VaultFolder) -> LiveDataview:
    vault["A.md"] = "x:: 1\n"
    engine = LiveDataview()
    call.plugins.append(engine)
    return engine


def test_native_answers_though_a_bridge_is_there(call: Calls, live: LiveDataview) -> None:
    found = call(dataview, "eval_dataview_field", path="A.md", expression="x")
    assert (found["value"], found["engine"], live.asked) == (1, "native", [])


def test_the_plugin_answers_whatever_it_is_asked_for_by_name(call: Calls, live: LiveDataview) -> None:
    value = call(dataview, "eval_dataview_field", path="A.md", expression="x", engine="obsidian")
    assert (value["value"], value["type"], value["engine"]) == (7, "number", "obsidian")
    checked = call(dataview, "validate_dql", dql="LIST", engine="obsidian")
    assert checked == {
        "valid": False,
        "engine": "obsidian",
        "error": {"line": 1, "col": 1, "message": "no"},
    }


def test_the_service_says_that_the_plugin_answered(call: Calls, live: LiveDataview) -> None:
    call.plugins.append(knapper_dataview)
    found = call(asker, "ask", dql="LIST", engine="obsidian")
    assert found == {"headers": ["File"], "rows": [["[[A]]"]], "note_paths": ["A.md"], "engine": "obsidian"}


def test_without_a_bridge_the_error_says_so(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError, match="no bridge to 'dataview' is installed") as refused:
        call(dataview, "validate_dql", dql="LIST", engine="obsidian")
    assert refused.value.code == "plugin_missing"


def test_under_folder_rules_the_plugin_is_not_asked(call: Calls, live: LiveDataview) -> None:
    call.settings["acl"] = {"read_paths": ["A.md"]}
    call.plugins.append(knapper_dataview)
    with pytest.raises(ToolError, match="may reach any note") as refused:
        call(asker, "ask", dql="LIST", engine="obsidian")
    assert (refused.value.code, live.asked) == ("acl_denied", [])


def test_javascript_is_never_handed_to_the_app(call: Calls, live: LiveDataview) -> None:
    call.plugins.append(knapper_dataview)
    for engine in ("auto", "native", "obsidian"):
        with pytest.raises(ToolError, match="DataviewJS") as refused:
            call(asker, "ask", dql="dv.pages()", engine=engine)
        assert refused.value.code == "dql_error"
    assert live.asked == []
