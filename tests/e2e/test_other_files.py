"""Obsidian's other files under the rules for all writes: kept before they change, undone whole, never lost to each other."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from knapper import Caller
from knapper.caller import LOCAL
from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper_attachments import attachments
from knapper_bookmarks import bookmarks
from knapper_canvas import canvas
from knapper_excalidraw import excalidraw
from knapper_history import history
from knapper_notes import notes
from knapper_periodic import periodic
from knapper_workspaces import workspaces

ALICE = Caller("alice", LOCAL, authenticated=True, session="one")
DOMAINS = (attachments, bookmarks, canvas, excalidraw, history, notes, periodic, workspaces)
PINS, LAYOUTS = ".obsidian/bookmarks.json", ".obsidian/workspaces.json"
LAYOUT = {"main": {"id": "m", "type": "split", "children": []}}
FILES = {
    "plan.canvas": '\ufeff{ "nodes":[ ], "later":1 }\r\n',
    "plan.excalidraw": '{"elements":[],\n"later": 1}',
    "2026-03-05.md": "# Log\r\n",
    PINS: '{"items":[ {"type":"later"} ]}',
    LAYOUTS: '{"workspaces":{"a":{},"b":{"later":[1.50]}},"active":"a"}\n',
}
CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("update_canvas", {"path": "plan.canvas", "add_nodes": [{"type": "text", "text": "x", "x": 0, "y": 0, "width": 1, "height": 1}]}),
    ("update_excalidraw", {"path": "plan.excalidraw", "add_elements": [{"type": "ellipse"}]}),
    ("append_to_periodic_note", {"period": "daily", "date": "2026-03-05", "content": "more"}),
    ("add_bookmark", {"type": "search", "target": "x"}),
    ("open_workspace", {"name": "b"}),
    ("save_workspace", {"name": "c", "layout": LAYOUT}),
    ("create_canvas", {"path": "new.canvas"}),
    ("create_excalidraw", {"path": "new.excalidraw.md"}),
    ("create_periodic_note", {"period": "daily", "date": "2026-03-06"}),
]  # fmt: skip


@pytest.fixture
def runtime(call: Calls, vault: VaultFolder) -> Runtime:
    for path, text in FILES.items():
        vault[path] = text
    found = call.runtime(*DOMAINS)
    found.vaults.get("main").index.reconcile()
    return found


def answer(runtime: Runtime, tool: str, **arguments: Any) -> Any:
    outcome = runtime.call(tool, arguments, ALICE, ask=lambda question: True)
    assert outcome.error is None, outcome.error
    return json.loads(outcome.payload)


def test_a_session_is_undone_whole_whatever_files_it_wrote(runtime: Runtime, vault: VaultFolder) -> None:
    for tool, arguments in CHANGES:
        before = dict(vault)
        answer(runtime, tool, **arguments)
        assert dict(vault) != before, tool
    assert all(vault[path] != text for path, text in FILES.items())
    answer(runtime, "undo_session", dry_run=False)
    assert {path: vault[path] for path in FILES} == FILES
    assert sorted(path for path in vault if not path.startswith(".trash")) == sorted(FILES)


def many(runtime: Runtime, tool: str, calls: list[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(answer, runtime, tool, **arguments) for arguments in calls]:
            done.result()


def test_changes_made_at_once_are_all_there(runtime: Runtime, vault: VaultFolder) -> None:
    names = [f"name{n:04}" for n in range(12)]
    node = {"type": "text", "text": "x", "x": 0, "y": 0, "width": 1, "height": 1}
    many(
        runtime,
        "update_canvas",
        [{"path": "plan.canvas", "add_nodes": [{**node, "id": own}]} for own in names],
    )
    many(
        runtime,
        "update_excalidraw",
        [{"path": "plan.excalidraw", "add_elements": [{"type": "ellipse", "id": own}]} for own in names],
    )
    many(runtime, "add_bookmark", [{"type": "search", "target": own} for own in names])
    many(runtime, "save_workspace", [{"name": own, "layout": LAYOUT} for own in names])
    many(
        runtime,
        "append_to_periodic_note",
        [{"period": "daily", "date": "2026-03-07", "content": own} for own in names],
    )
    cards = json.loads(vault["plan.canvas"].removeprefix("\ufeff"))
    assert sorted(one["id"] for one in cards["nodes"]) == names
    assert sorted(one["id"] for one in json.loads(vault["plan.excalidraw"])["elements"]) == names
    assert sorted(one["query"] for one in json.loads(vault[PINS])["items"][1:]) == names
    assert sorted(json.loads(vault[LAYOUTS])["workspaces"]) == ["a", "b", *names]
    assert sorted(vault["2026-03-07.md"].split()) == names


def test_a_canvas_follows_moved_notes_and_pictures_and_keeps_every_other_byte(
    runtime: Runtime, vault: VaultFolder
) -> None:
    vault["Work/Old.md"] = "# Part\n"
    vault["img/paper.png"] = "not really"
    vault["plan.canvas"] = odd = (
        '\ufeff{\r\n\t"nodes":[\r\n'
        '\t\t{"id":"a", "type":"file","file":"Work/Old.md","subpath":"#Part","x":0.50,"y":-1e2,"width":10,"height":10},\r\n'
        '\t\t{"id":"g","type":"group","label":"caf\\u00e9","background":"img/paper.png","x":0,"y":0,"width":1,"height":1},\r\n'
        '\t\t{"id":"p","type":"portal","later":{"x":[ ]},"x":0,"y":0,"width":1,"height":1},\r\n'
        '\t\t{"id":"t","type":"text","text":"[[Old#Part|so]] \\/ `[[Old]]`","x":1,"y":2,"width":3,"height":4}\r\n'
        '\t],\r\n\t"metadata":{"version":"1.0-1.0"}\r\n}\r\n'
    )
    runtime.vaults.get("main").index.reconcile()
    answer(runtime, "move_note", **{"from": "Work/Old.md", "to": "Done/New.md"})
    answer(runtime, "move_attachment", **{"from": "img/paper.png", "to": "pictures/paper.png"})
    assert vault["plan.canvas"] == (
        odd.replace("Work/Old.md", "Done/New.md")
        .replace("[[Old#Part|so]]", "[[New#Part|so]]")
        .replace("img/paper.png", "pictures/paper.png")
    )
