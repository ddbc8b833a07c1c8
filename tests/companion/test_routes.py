"""Routes that need no other plugin: commands, and notes in the app."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knapper_companion
from knapper import Context, Domain, ToolError, WritePath
from knapper.testing import Calls, VaultFolder
from knapper_companion import companion_bridge
from knapper_companion.link import link_of
from tests.companion.obsidian import Obsidian, obsidian

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
COMMANDS = [
    {"id": "app:go-back", "name": "Navigate back"},
    {"id": "editor:save-file", "name": "Save current file"},
    {"id": "canvas:export", "name": "Export", "usable": False},
    {"id": "bad:one", "name": "Breaks", "throws": "it is broken"},
]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Obsidian]:
    vault = tmp_path / "vault"
    (vault / "folder").mkdir(parents=True)
    (vault / "a.md").write_text("one", encoding="utf-8")
    (vault / "b.md").write_text("two", encoding="utf-8")
    with obsidian(vault, commands=COMMANDS) as found:
        yield found


def ask(app: Obsidian, route: str, **body: Any) -> Any:
    return companion_bridge("companion", lambda remote: remote).connect(app.settings()).ask(route, **body)


def refusal(app: Obsidian, route: str, **body: Any) -> tuple[str, str, dict[str, Any]]:
    with pytest.raises(ToolError) as raised:
        ask(app, route, **body)
    return raised.value.code, raised.value.message, raised.value.details


def panes(app: Obsidian) -> list[tuple[str, str]]:
    return [(pane["path"], pane["text"]) for pane in app.state()["panes"]]


def test_commands_are_those_that_can_be_run_now(app: Obsidian) -> None:
    assert ask(app, "/commands/list") == {
        "items": [
            {"id": "app:go-back", "name": "Navigate back"},
            {"id": "editor:save-file", "name": "Save current file"},
            {"id": "bad:one", "name": "Breaks"},
        ],
        "total": 3,
    }


@pytest.mark.parametrize(
    ("filter", "found"), [("SAVE", ["editor:save-file"]), ("go-b", ["app:go-back"]), ("zz", [])]
)
def test_commands_are_found_by_a_part_of_their_id_or_name(
    app: Obsidian, filter: str, found: list[str]
) -> None:
    listed = ask(app, "/commands/list", filter=filter)
    assert ([item["id"] for item in listed["items"]], listed["total"]) == (found, len(found))


def test_a_command_is_run_once(app: Obsidian) -> None:
    answer = ask(app, "/commands/execute", command_id="app:go-back")
    assert answer["command_id"] == "app:go-back"
    assert STAMP.fullmatch(answer["fired_at"])
    assert app.events("command") == ["app:go-back"]


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("nope", "invalid_input", "nope is no command of this vault"),
        ("canvas:export", "invalid_input", "canvas:export cannot be run as things stand in the app"),
        ("bad:one", "plugin_unreachable", "it is broken"),
    ],
)
def test_a_command_that_does_not_run_says_why(app: Obsidian, command: str, code: str, message: str) -> None:
    found = refusal(app, "/commands/execute", command_id=command)
    assert found[:2] == (code, message)
    assert app.events("command") == []


def test_a_note_is_opened_in_the_pane_or_in_a_new_one(app: Obsidian) -> None:
    answer = ask(app, "/notes/open", path="a.md")
    assert answer["path"] == "a.md"
    assert STAMP.fullmatch(answer["opened_at"])
    assert panes(app) == [("a.md", "one")]
    ask(app, "/notes/open", path="b.md")
    assert panes(app) == [("b.md", "two")]
    ask(app, "/notes/open", path="a.md", newtab=True)
    assert panes(app) == [("b.md", "two"), ("a.md", "one")]


@pytest.mark.parametrize("path", ["c.md", "folder", "A.md"])
def test_what_is_no_note_is_not_opened_and_not_made(app: Obsidian, path: str) -> None:
    assert refusal(app, "/notes/open", path=path) == (
        "note_not_found",
        f"there is no file {path}",
        {"plugin": "companion", "path": path},
    )
    assert panes(app) == []
    assert not (app.folder / "c.md").exists()


def test_a_note_that_was_just_written_is_opened_as_soon_as_obsidian_notices_it(app: Obsidian) -> None:
    app.do("watch")
    (app.folder / "new.md").write_text("three", encoding="utf-8")
    assert ask(app, "/notes/open", path="new.md")["path"] == "new.md"
    state = app.state()
    assert [pane["text"] for pane in state["panes"]] == ["three"]
    assert state["listening"] == 1  # the companion's own ear for the Local REST API


def test_one_that_obsidian_never_notices_is_not_found(app: Obsidian) -> None:
    (app.folder / ".hidden.md").write_text("x", encoding="utf-8")
    assert refusal(app, "/notes/open", path=".hidden.md")[0] == "note_not_found"


def test_an_open_pane_shows_what_is_on_disk_now(app: Obsidian) -> None:
    app.do("open", path="a.md")
    app.do("open", path="b.md", tab=True)
    for name in ("a.md", "b.md"):
        (app.folder / name).write_text(f"changed {name}", encoding="utf-8")
    assert ask(app, "/notes/refresh", paths=["a.md", "c.md"]) == {"refreshed": ["a.md"], "skipped": []}
    assert panes(app) == [("a.md", "changed a.md"), ("b.md", "two")]


def test_both_panes_of_one_note_are_refreshed_and_told_once(app: Obsidian) -> None:
    app.do("open", path="a.md")
    app.do("open", path="a.md", tab=True)
    (app.folder / "a.md").write_text("changed", encoding="utf-8")
    assert ask(app, "/notes/refresh", paths=["a.md"]) == {"refreshed": ["a.md"], "skipped": []}
    assert panes(app) == [("a.md", "changed"), ("a.md", "changed")]


def test_a_pane_that_shows_it_already_is_left_alone(app: Obsidian) -> None:
    app.do("open", path="a.md")
    assert ask(app, "/notes/refresh", paths=["a.md"])["refreshed"] == ["a.md"]
    assert app.state()["panes"] == [{"path": "a.md", "text": "one", "renders": 1}]


@pytest.mark.parametrize("flag", [True, False], ids=["flagged", "unflagged"])
def test_what_a_person_is_typing_is_never_lost(app: Obsidian, flag: bool) -> None:
    app.do("open", path="a.md")
    app.do("type", path="a.md", text=" and more", flag=flag)
    (app.folder / "a.md").write_text("changed", encoding="utf-8")
    assert ask(app, "/notes/refresh", paths=["a.md"]) == {"refreshed": [], "skipped": ["a.md"]}
    assert panes(app) == [("a.md", "one and more")]


def test_a_pane_of_a_note_that_is_gone_is_left_to_obsidian(app: Obsidian) -> None:
    app.do("open", path="a.md")
    (app.folder / "a.md").unlink()
    assert ask(app, "/notes/refresh", paths=["a.md"]) == {"refreshed": [], "skipped": []}


writing = Domain("writing", summary="Writes notes.")


@writing.tool("write:notes", repeat="keyed")
def put(ctx: Context, path: WritePath, text: str) -> str:
    """Write a note."""
    return ctx.vault.write(path, text, mode="upsert").hash


def test_what_a_tool_writes_appears_in_the_open_pane(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "one"
    with obsidian(vault.path) as app:
        app.do("open", path="a.md")
        call.settings = {"vaults": [app.vault()]}
        call.plugins = [knapper_companion]
        runtime = call.runtime(writing)
        settings = runtime.vaults.get("main").settings
        link_of(settings).refresh(settings)
        runtime.start()
        call(writing, "put", path="a.md", text="two")
        app.do("shows", path="a.md", text="two")
        runtime.close()
