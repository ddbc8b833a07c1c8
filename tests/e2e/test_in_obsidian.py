"""Tools of every domain with a live engine, through its bridge and over HTTP, to the built plugin in an Obsidian and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import knapper_bridge_commands
import knapper_bridge_dataview
import knapper_bridge_excalidraw
import knapper_bridge_makemd
import knapper_bridge_ocr
import knapper_bridge_quickadd
import knapper_bridge_tasks
import knapper_bridge_templater
import knapper_companion
import knapper_dataview
from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_commands import commands
from knapper_dataview import dataview
from knapper_excalidraw import excalidraw
from knapper_makemd import makemd
from knapper_obsidian import obsidian as profile
from knapper_ocr import ocr
from knapper_quickadd import quickadd
from knapper_search import search
from knapper_tasks import tasks
from knapper_templater import templater
from tests.companion.obsidian import Obsidian, obsidian

PLUGINS: dict[str, Any] = {
    "dataview": {
        "queries": {
            "LIST": {"type": "list", "values": [{"$link": {"path": "A.md", "type": "file", "embed": False}}]},
            "LIST FRUM": {"$error": "-- PARSING FAILED --\n\n> 1 | LIST FRUM\n    |      ^\n\nExpected FROM"},
        },
        "expressions": {"x": 7},
        "pages": {"A.md": {"x": 7}},
    },
    "obsidian-tasks-plugin": {},
    "templater-obsidian": {"templates_folder": "Templates"},
    "text-extractor": {"texts": {"scan.png": "read in Obsidian"}},
    "obsidian-excalidraw-plugin": {},
    "quickadd": {"choices": [{"name": "Script", "type": "Macro"}]},
    "make-md": {
        "spaces": {"Projects": {"name": "My projects"}},
        "contexts": {"Projects": {"contextTable": {"rows": [{"File": "A.md", "status": "open"}]}}},
    },
}
BRIDGES = [
    knapper_bridge_commands,
    knapper_bridge_dataview,
    knapper_bridge_excalidraw,
    knapper_bridge_makemd,
    knapper_bridge_ocr,
    knapper_bridge_quickadd,
    knapper_bridge_tasks,
    knapper_bridge_templater,
    knapper_companion,
]


@pytest.fixture
def app(call: Calls, vault: VaultFolder) -> Iterator[Obsidian]:
    vault["A.md"] = "x:: 7\n"
    vault["Templates/day.md"] = "# <% tp.file.title.split('').reverse().join('') %>\n"
    (vault.path / "scan.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    listed = [{"id": "app:go-back", "name": "Back"}, {"id": "app:quit", "name": "Quit"}]
    with obsidian(vault.path, plugins=PLUGINS, commands=listed) as found:
        allowed = {"enabled": True, "allowlist": ["app:go-back"]}
        call.settings["vaults"] = [found.vault(commands=allowed)]
        call.plugins += BRIDGES
        yield found


def refusal(call: Calls, *given: Any, **arguments: Any) -> tuple[str, str]:
    with pytest.raises(ToolError) as raised:
        call.confirmed(*given, **arguments)
    return raised.value.code, raised.value.message


def test_commands_are_listed_and_run(call: Calls, app: Obsidian) -> None:
    listed = call(commands, "list_commands")["items"]
    assert [item["id"] for item in listed] == ["app:go-back", "app:quit"]
    assert (
        call.confirmed(commands, "execute_command", command_id="app:go-back")["command_id"] == "app:go-back"
    )
    assert refusal(call, commands, "execute_command", command_id="app:quit")[0] == "command_not_allowlisted"
    assert app.events("command") == ["app:go-back"]


def test_dataview_answers_queries_and_expressions(call: Calls, app: Obsidian) -> None:
    wrong = call(dataview, "validate_dql", dql="LIST FRUM", engine="obsidian")["error"]
    assert (wrong["line"], wrong["col"]) == (1, 6)
    value = call(dataview, "eval_dataview_field", path="A.md", expression="x", engine="obsidian")
    assert (value["value"], value["type"]) == (7, "number")
    call.plugins.append(knapper_dataview)
    native = call(search, "search_dql", dql='LIST FROM "" WHERE x')
    live = call(search, "search_dql", dql="LIST", engine="obsidian")
    assert live == {"rows": [["[[A.md|A]]"]], "note_paths": ["A.md"], "engine": "obsidian"}
    assert (native["rows"], native["note_paths"]) == (live["rows"], live["note_paths"])


def test_tasks_cannot_be_asked_and_native_is_named(call: Calls, app: Obsidian) -> None:
    code, message = refusal(call, tasks, "tasks_filter", filter="not done", engine="obsidian")
    assert (code, message) == (
        "plugin_unreachable",
        "the plugin tasks has no interface for queries; use engine native",
    )


def test_templater_runs_a_template(call: Calls, app: Obsidian, vault: VaultFolder) -> None:
    given = {"template": "Templates/day.md", "target": "log/abc.md", "engine": "obsidian"}
    done = call.confirmed(templater, "execute_template", **given)
    assert (done["target"], done["engine"]) == ("log/abc.md", "obsidian")
    assert vault["log/abc.md"] == "# cba\n"
    assert refusal(call, templater, "execute_template", **given)[0] == "note_exists"


def test_text_extractor_reads_a_picture(call: Calls, app: Obsidian) -> None:
    found = call(ocr, "ocr_attachment", path="scan.png", engine="obsidian")
    assert (found["text"], found["cached"], found["engine"]) == ("read in Obsidian", False, "obsidian")


def test_quickadd_lists_and_runs_its_choices(call: Calls, app: Obsidian) -> None:
    assert call(quickadd, "list_quickadd_actions")["items"] == [{"name": "Script", "type": "macro"}]
    done = call.confirmed(quickadd, "trigger_quickadd", action_name="Script", args={"title": "x"})
    assert (done["action_name"], done["engine"]) == ("Script", "obsidian")
    assert app.events("quickadd.execute") == [{"name": "Script", "variables": {"title": "x"}}]


def test_make_md_lists_spaces_and_their_rows(call: Calls, app: Obsidian) -> None:
    found = call(makemd, "makemd_list_spaces", engine="obsidian")
    assert [(space["id"], space["name"]) for space in found["spaces"]] == [("Projects", "My projects")]
    rows = call(makemd, "makemd_query", space_id="Projects", engine="obsidian")
    assert [(row["note_path"], row["columns"]) for row in rows["items"]] == [("A.md", {"status": "open"})]
    sorted_ = {"space_id": "Projects", "sort": ["status"], "engine": "obsidian"}
    assert refusal(call, makemd, "makemd_query", **sorted_)[0] == "plugin_unreachable"


def test_excalidraw_reads_the_texts_of_a_drawing(call: Calls, app: Obsidian) -> None:
    elements = [{"type": "text", "x": 0, "y": 0, "text": "hello"}]
    made = {"path": "d.excalidraw.md", "template": "custom", "elements": elements}
    call(excalidraw, "create_excalidraw", **made)
    app.do("watch")
    live = call(excalidraw, "read_excalidraw", path="d.excalidraw.md", source="obsidian")
    assert (live["text_content"], live["source_used"]) == ("hello", "obsidian")


def test_a_note_is_opened(call: Calls, app: Obsidian) -> None:
    call(profile, "obsidian_open_note", path="A.md")
    assert [pane["path"] for pane in app.state()["panes"]] == ["A.md"]
