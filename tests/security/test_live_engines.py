"""What comes back from a running Obsidian, which knows no folder rules, and what of it reaches a caller under such rules."""

from __future__ import annotations

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
import knapper_dataview
from knapper import Domain, ToolError
from knapper.testing import Calls, VaultFolder
from knapper_commands import commands
from knapper_dataview import dataview
from knapper_excalidraw import excalidraw
from knapper_makemd import makemd
from knapper_ocr import ocr
from knapper_quickadd import quickadd
from knapper_search import search
from knapper_tasks import tasks
from knapper_templater import templater
from tests.companion.vaults import KEY
from tests.live_obsidian import Obsidian, failed, obsidian

__all__ = ["obsidian"]
SECRET = "the combination is 7-3-1"
BRIDGES = [
    knapper_bridge_commands,
    knapper_bridge_dataview,
    knapper_bridge_excalidraw,
    knapper_bridge_makemd,
    knapper_bridge_ocr,
    knapper_bridge_quickadd,
    knapper_bridge_tasks,
    knapper_bridge_templater,
]
LIVE = {"engine": "obsidian"}


def task(**more: Any) -> dict[str, Any]:
    fields = {"status": "todo", "status_symbol": " ", "description": "x", "priority": "normal"}
    return {"line": 1, **fields, "tags": [], "depends_on": [], **more}


@pytest.fixture(autouse=True)
def rules(call: Calls, vault: VaultFolder, obsidian: Obsidian) -> None:
    """A vault with an open and a closed folder, and all bridges to an Obsidian that has it open."""
    vault["open/a.md"] = "- [ ] x\n"
    vault["open/d.excalidraw"] = '{"type": "excalidraw", "version": 2, "elements": []}'
    vault["closed/b.md"] = f"- [ ] {SECRET}\n"
    obsidian.serve(call, acl={"read_paths": ["open/**"]})
    call.plugins += BRIDGES


@pytest.mark.parametrize(
    ("domain", "tool", "arguments"),
    [
        (search, "search_dql", {"dql": 'LIST FROM "closed"', "engine": "obsidian"}),
        (
            dataview,
            "eval_dataview_field",
            {"path": "open/a.md", "expression": "[[b]].x", "engine": "obsidian"},
        ),
        (excalidraw, "read_excalidraw", {"path": "open/d.excalidraw", "source": "obsidian"}),
        (tasks, "tasks_filter", {"filter": "filter by function new Date() > task.due"}),
        (makemd, "makemd_list_spaces", LIVE),
        (makemd, "makemd_query", {"space_id": "closed", **LIVE}),
    ],
    ids=["a query", "an expression", "a drawing", "JavaScript", "spaces", "a space"],
)
def test_what_may_look_at_any_note_is_not_even_asked(
    call: Calls, obsidian: Obsidian, domain: Domain, tool: str, arguments: dict[str, Any]
) -> None:
    if domain is search:
        call.plugins.append(knapper_dataview)
    with pytest.raises(ToolError, match="may reach any note, and folder rules are set") as refused:
        call(domain, tool, **arguments)
    assert (refused.value.code, obsidian.asked) == ("acl_denied", [])


@pytest.mark.parametrize(
    ("domain", "tool", "arguments"),
    [
        (templater, "execute_template", {"template": "open/T.md", "target": "open/n.md", **LIVE}),
        (templater, "execute_template", {"template": "open/T.md", "target": "open/n.md"}),
        (quickadd, "trigger_quickadd", {"action_name": "Log"}),
    ],
    ids=["a template", "a template that native refuses", "a choice"],
)
@pytest.mark.parametrize("rule", ["read_paths", "write_paths", "delete_paths"])
def test_what_may_change_any_file_is_not_even_asked(
    call: Calls,
    vault: VaultFolder,
    obsidian: Obsidian,
    rule: str,
    domain: Domain,
    tool: str,
    arguments: dict[str, Any],
) -> None:
    vault["open/T.md"] = '<% new Array(4).join("na") %>'
    obsidian.serve(call, acl={rule: ["open/**"]})
    with pytest.raises(ToolError, match="may change any file, and folder rules are set") as refused:
        call.confirmed(domain, tool, **arguments)
    assert (refused.value.code, obsidian.asked) == ("acl_denied", [])


def test_closed_templates_are_not_listed(call: Calls, vault: VaultFolder, obsidian: Obsidian) -> None:
    vault["open/T.md"] = vault["closed/T.md"] = "x"
    items = [{"path": "open/T.md", "name": "T"}, {"path": "closed/T.md", "name": "T"}]
    obsidian.says("/templater/list", {"items": items})
    assert [item["path"] for item in call(templater, "list_templates")["items"]] == ["open/T.md"]
    obsidian.says("/templater/list", {"items": [{"name": "T"}]})
    with pytest.raises(ToolError, match="gave an item that names no file") as refused:
        call(templater, "list_templates")
    assert refused.value.code == "acl_denied"


def test_tasks_of_closed_notes_are_dropped_and_nothing_counts_them(call: Calls, obsidian: Obsidian) -> None:
    found = [
        task(path="open/a.md"),
        task(path="closed/b.md", description=SECRET),
        task(path="./closed//b.md"),
    ]
    obsidian.says("/tasks/filter", {"items": found, "total": 3})
    answer = call(tasks, "tasks_filter", filter="not done", engine="obsidian")
    assert [item["path"] for item in answer["items"]] == ["open/a.md"]
    assert "total_count" not in answer
    assert SECRET not in str(answer)


@pytest.mark.parametrize("item", [task(), task(path=""), task(path=7), "open/a.md", None])
def test_a_task_that_names_no_note_is_refused(call: Calls, obsidian: Obsidian, item: Any) -> None:
    obsidian.says("/tasks/filter", {"items": [task(path="open/a.md"), item]})
    with pytest.raises(ToolError, match="gave an item that names no file") as refused:
        call(tasks, "tasks_filter", filter="not done", engine="obsidian")
    assert refused.value.code == "acl_denied"


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", "C:\\x.md"])
def test_a_task_whose_path_leads_out_of_the_vault_is_refused(
    call: Calls, obsidian: Obsidian, path: str
) -> None:
    obsidian.says("/tasks/filter", {"items": [task(path=path)]})
    with pytest.raises(ToolError) as refused:
        call(tasks, "tasks_filter", filter="not done", engine="obsidian")
    assert refused.value.code == "path_invalid"


def test_a_closed_note_is_not_named_to_obsidian(call: Calls, obsidian: Obsidian) -> None:
    for domain, tool, arguments in (
        (dataview, "eval_dataview_field", {"path": "closed/b.md", "expression": "1", "engine": "obsidian"}),
        (excalidraw, "read_excalidraw", {"path": "closed/d.excalidraw", "source": "obsidian"}),
        (ocr, "ocr_attachment", {"path": "closed/scan.png", **LIVE}),
    ):
        with pytest.raises(ToolError) as refused:
            call(domain, tool, **arguments)
        assert refused.value.code == "acl_denied"
    assert obsidian.http.asked == []


def test_the_palette_is_listed_and_runs_what_the_operator_allows(call: Calls, obsidian: Obsidian) -> None:
    allowed = {"enabled": True, "allowlist": ["app:reload"]}
    obsidian.serve(call, acl={"read_paths": ["open/**"]}, commands=allowed)
    obsidian.says("/commands/list", {"items": [{"id": "app:reload", "name": "Reload"}], "total": 1})
    obsidian.says("/commands/execute", {"command_id": "app:reload", "fired_at": "2024-03-15T10:30:00.000Z"})
    assert call(commands, "list_commands")["total_count"] == 1
    assert call.confirmed(commands, "execute_command", command_id="app:reload")["command_id"] == "app:reload"


def test_an_error_of_obsidian_tells_neither_the_key_nor_where_the_vault_is(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    obsidian.says("/tasks/filter", failed("bridge_error", f"{KEY} at {vault.path}", place=str(vault.path)))
    with pytest.raises(ToolError) as refused:
        call(tasks, "tasks_filter", filter="not done", engine="obsidian")
    assert refused.value.message == "[key] at [vault]"
    assert str(vault.path) not in str(refused.value.details)
