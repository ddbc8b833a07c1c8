"""Calls as a client makes them, through a domain, its bridge and HTTP, to a running Obsidian and back."""

from __future__ import annotations

from typing import Any

import pytest

import knapper_bridge_commands
import knapper_bridge_dataview
import knapper_bridge_excalidraw
import knapper_bridge_tasks
import knapper_dataview
from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper.testing_http import Reply
from knapper_commands import commands
from knapper_dataview import dataview
from knapper_excalidraw import excalidraw
from knapper_search import search
from knapper_tasks import tasks
from tests.live_obsidian import Obsidian, failed

BRIDGES = [knapper_bridge_commands, knapper_bridge_dataview, knapper_bridge_excalidraw, knapper_bridge_tasks]


@pytest.fixture(autouse=True)
def running(call: Calls, obsidian: Obsidian) -> None:
    obsidian.serve(call, commands={"enabled": True, "allowlist": ["daily-notes", "no:such"]})
    call.plugins += BRIDGES


def test_a_command_runs_through_the_companion(call: Calls, obsidian: Obsidian) -> None:
    obsidian.says("/commands/list", {"items": [{"id": "daily-notes", "name": "Today"}], "total": 1})
    obsidian.says("/commands/execute", {"command_id": "daily-notes", "fired_at": "2024-03-15T10:30:00.000Z"})
    assert call(commands, "list_commands")["items"] == [{"id": "daily-notes", "name": "Today"}]
    done = call.confirmed(commands, "execute_command", command_id="daily-notes")
    assert done == {"command_id": "daily-notes", "fired_at": "2024-03-15T10:30:00.000Z"}
    assert obsidian.asked == [("/commands/list", {}), ("/commands/execute", {"command_id": "daily-notes"})]


def test_a_command_runs_without_the_companion(call: Calls, obsidian: Obsidian) -> None:
    obsidian.companion = False
    obsidian.says("/commands/", Reply({"commands": [{"id": "daily-notes", "name": "Today"}]}))
    obsidian.says("/commands/daily-notes/", Reply(b"", status=204))
    call.runtime(commands).clock = lambda: 1710498600.0
    assert call(commands, "list_commands")["items"] == [{"id": "daily-notes", "name": "Today"}]
    done = call.confirmed(commands, "execute_command", command_id="daily-notes")
    assert done == {"command_id": "daily-notes", "fired_at": "2024-03-15T10:30:00Z"}
    with pytest.raises(ToolError, match="no:such is no command of this vault") as refused:
        call.confirmed(commands, "execute_command", command_id="no:such")
    assert refused.value.code == "invalid_input"


def test_what_is_not_allowed_never_reaches_obsidian(call: Calls, obsidian: Obsidian) -> None:
    with pytest.raises(ToolError) as refused:
        call(commands, "execute_command", command_id="app:reload")
    assert (refused.value.code, obsidian.http.asked) == ("command_not_allowlisted", [])


def test_dataview_answers_queries_expressions_and_whether_they_are_right(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    vault["A.md"] = ""
    obsidian.says("/dataview/dql", {"headers": [], "rows": [["[[A.md|A]]"]], "note_paths": ["A.md"]})
    obsidian.says("/dataview/eval", {"value": "1 day", "type": "duration"})
    wrong = {"message": "Expected one of the following", "line": 2, "col": 5}
    obsidian.says("/dataview/validate", {"valid": False, "error": wrong})
    value = {"path": "A.md", "expression": "dur(1 day)"}
    assert call(dataview, "eval_dataview_field", **value, engine="obsidian") == {
        **value,
        "value": "1 day",
        "type": "duration",
        "engine": "obsidian",
    }
    checked = call(dataview, "validate_dql", dql="LIST\nFROM", engine="obsidian")
    assert checked == {"valid": False, "engine": "obsidian", "error": wrong}
    call.plugins.append(knapper_dataview)
    found = call(search, "search_dql", dql="LIST", format="list", engine="obsidian")
    assert found == {"rows": [["[[A.md|A]]"]], "note_paths": ["A.md"], "engine": "obsidian"}
    assert obsidian.asked[-1] == ("/dataview/dql", {"dql": "LIST", "format": "list"})


@pytest.mark.parametrize(
    ("route", "reply", "code"),
    [
        ("/dataview/dql", failed("dql_error", "no such field"), "dql_error"),
        ("/dataview/dql", {"rows": "none"}, "plugin_unreachable"),
        ("/dataview/dql", {"rows": [["x"]], "note_paths": [7]}, "plugin_unreachable"),
        ("/dataview/dql", Reply(b"<html>"), "plugin_unreachable"),
        ("/elsewhere", {}, "plugin_unreachable"),
    ],
)
def test_a_failure_of_dataview_is_one_that_a_caller_can_act_on(
    call: Calls, obsidian: Obsidian, route: str, reply: Any, code: str
) -> None:
    call.plugins.append(knapper_dataview)
    obsidian.says(route, reply)
    with pytest.raises(ToolError) as refused:
        call(search, "search_dql", dql="LIST", engine="obsidian")
    assert refused.value.code == code
    assert refused.value.details["plugin"] == "dataview"


def test_excalidraw_gives_the_texts_of_a_drawing(call: Calls, vault: VaultFolder, obsidian: Obsidian) -> None:
    vault["d.excalidraw"] = '{"type": "excalidraw", "version": 2, "elements": []}'
    obsidian.says("/excalidraw/read", {"path": "d.excalidraw", "text_content": "Start"})
    found = call(excalidraw, "read_excalidraw", path="d.excalidraw", source="obsidian")
    assert (found["text_content"], found["source_used"]) == ("Start", "obsidian")


def test_tasks_that_offers_no_queries_says_so_and_native_answers_by_itself(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    vault["a.md"] = "- [ ] mine\n"
    obsidian.says(
        "/tasks/filter", failed("plugin_unreachable", "the plugin tasks has no interface for queries")
    )
    assert call(tasks, "tasks_filter", filter="not done")["engine"] == "native"
    says = "the plugin tasks has no interface for queries"
    with pytest.raises(ToolError, match=says) as refused:
        call(tasks, "tasks_filter", filter="not done", engine="obsidian")
    assert refused.value.code == "plugin_unreachable"
    with pytest.raises(ToolError) as refused:
        call(tasks, "tasks_filter", filter="filter by function new Date() > task.due")
    assert (refused.value.code, refused.value.details["construct"]) == ("plugin_unreachable", "new")
    assert refused.value.message == (
        "JavaScript is not supported here: new; the Tasks plugin in a running Obsidian evaluates it, "
        f"but {says}"
    )


def test_native_never_asks_obsidian(call: Calls, vault: VaultFolder, obsidian: Obsidian) -> None:
    vault["A.md"] = "x:: 1\n- [ ] mine\n"
    call(dataview, "eval_dataview_field", path="A.md", expression="x", engine="native")
    call(dataview, "eval_dataview_field", path="A.md", expression="x")
    call(tasks, "tasks_filter", filter="not done", engine="native")
    call(tasks, "tasks_filter", filter="not done")
    assert obsidian.http.asked == []
