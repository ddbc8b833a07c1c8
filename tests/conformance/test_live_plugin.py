"""What bridges find at the companion as it is built: the same as the native engines, or why it cannot be had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import knapper_bridge_commands
import knapper_bridge_excalidraw
import knapper_bridge_makemd
import knapper_bridge_ocr
import knapper_bridge_quickadd
import knapper_bridge_templater
from knapper import Domain, ToolError
from knapper.testing import Calls, VaultFolder
from knapper_commands import commands
from knapper_excalidraw import excalidraw
from knapper_makemd import makemd
from knapper_ocr import ocr
from knapper_quickadd import quickadd
from knapper_templater import templater
from tests.companion.obsidian import Obsidian, obsidian

BRIDGES = [
    knapper_bridge_commands,
    knapper_bridge_excalidraw,
    knapper_bridge_makemd,
    knapper_bridge_ocr,
    knapper_bridge_quickadd,
    knapper_bridge_templater,
]
PLUGINS = {
    "make-md": {
        "spaces": {"Birds": {"name": "Birds"}},
        "contexts": {
            "Birds": {
                "schemas": [{"type": "db"}, {"type": "frame"}],
                "contextTable": {
                    "rows": [{"File": "Birds/Wren.md", "Count": "3"}, {"File": "Birds/Rook.md", "Count": "1"}]
                },
            }
        },
    },
    "obsidian-excalidraw-plugin": {},
    "quickadd": {
        "choices": [
            {"name": "Log", "type": "Macro"},
            {"name": "More", "type": "Multi", "choices": [{"name": "Inbox", "type": "Capture"}]},
        ],
        "fails": {"Inbox": "nothing is open"},
    },
    "templater-obsidian": {"templates_folder": "T"},
    "text-extractor": {"texts": {"scan.png": "seven stones"}},
}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)
PALETTE = [
    {"id": "canvas:export", "name": "Export", "usable": False},
]
DRAWING = """{"type": "excalidraw", "version": 2, "elements": [
{"id": "below", "type": "text", "x": 0, "y": 50, "text": "the\\nend", "rawText": "the end"},
{"id": "box", "type": "rectangle", "x": 0, "y": 0, "width": 9, "height": 9},
{"id": "gone", "type": "text", "x": 0, "y": 20, "text": "not this", "isDeleted": true},
{"id": "right", "type": "text", "x": 90, "y": 10, "text": "middle"},
{"id": "above", "type": "text", "x": 10, "y": 10, "text": "Start", "rawText": "Start [[Plan]]"}]}"""


@pytest.fixture(autouse=True)
def app(call: Calls, vault: VaultFolder) -> Iterator[Obsidian]:
    vault["T/Title.md"] = "# <% tp.file.title %>\n"
    vault["T/Script.md"] = '<% new Array(4).join("na") %>'
    vault["d.excalidraw"] = DRAWING
    vault["n.excalidraw.md"] = (
        f"---\nexcalidraw-plugin: parsed\n---\n%%\n## Drawing\n```json\n{DRAWING}\n```\n%%\n"
    )
    for picture in ("scan.png", "other.png"):
        (vault.path / picture).write_bytes(PNG)
    vault["Birds/Wren.md"] = vault["Birds/Rook.md"] = ""
    with obsidian(vault.path, plugins=PLUGINS, commands=PALETTE) as found:
        allowed = {"enabled": True, "allowlist": ["canvas:export", "no:such"]}
        call.settings["vaults"] = [found.vault(commands=allowed)]
        call.plugins += BRIDGES
        yield found


def refusal(call: Calls, domain: Domain, tool: str, **arguments: Any) -> tuple[str, str]:
    with pytest.raises(ToolError) as raised:
        call.confirmed(domain, tool, **arguments)
    return raised.value.code, raised.value.message


def test_a_command_that_cannot_be_run_says_why(call: Calls) -> None:
    for id, why in (
        ("canvas:export", "canvas:export cannot be run as things stand in the app"),
        ("no:such", "no:such is no command of this vault"),
    ):
        assert refusal(call, commands, "execute_command", command_id=id) == ("invalid_input", why)


def test_a_drawing_has_the_same_texts_in_both_engines(call: Calls) -> None:
    for path in ("d.excalidraw", "n.excalidraw.md"):
        native, live = (
            call(excalidraw, "read_excalidraw", path=path, source=source) for source in ("native", "obsidian")
        )
        assert native["text_content"] == live["text_content"] == "Start [[Plan]]\n\nmiddle\n\nthe end"
        assert native["content_hash"] == live["content_hash"]
        assert (native["source_used"], live["source_used"]) == ("native", "obsidian")


def test_a_note_that_is_no_drawing_is_refused(call: Calls) -> None:
    given = {"path": "Birds/Wren.md", "source": "obsidian"}
    assert refusal(call, excalidraw, "read_excalidraw", **given)[0] == "invalid_input"


def test_a_template_makes_the_same_note_in_both_engines(call: Calls, vault: VaultFolder) -> None:
    for engine, target in (("native", "one/Wren.md"), ("obsidian", "two/Wren.md")):
        given = {"template": "T/Title.md", "target": target, "engine": engine}
        done = call.confirmed(templater, "execute_template", **given)
        assert (done["target"], done["engine"], vault[target]) == (target, engine, "# Wren\n")
    given = {"template": "T/Title.md", "target": "two/Wren.md", "engine": "obsidian"}
    vault["two/Wren.md"] = "old"
    call.confirmed(templater, "execute_template", **given, overwrite=True)
    assert vault["two/Wren.md"] == "# Wren\n"


def test_a_template_that_native_refuses_is_run_by_the_plugin(call: Calls, vault: VaultFolder) -> None:
    given = {"template": "T/Script.md", "target": "Song.md"}
    assert refusal(call, templater, "execute_template", **given, engine="native")[0] == "plugin_missing"
    assert "Song.md" not in vault
    assert call.confirmed(templater, "execute_template", **given)["engine"] == "obsidian"
    assert vault["Song.md"] == "nanana"


def test_templates_of_the_plugins_own_folder_are_listed(call: Calls) -> None:
    items = call(templater, "list_templates")["items"]
    assert [item["path"] for item in items] == ["T/Script.md", "T/Title.md"]


def test_choices_of_quickadd_are_listed_and_run(call: Calls, app: Obsidian) -> None:
    items = call(quickadd, "list_quickadd_actions")["items"]
    assert [(item["name"], item["type"]) for item in items] == [
        ("Log", "macro"),
        ("More", "multi"),
        ("Inbox", "capture"),
    ]
    done = call.confirmed(quickadd, "trigger_quickadd", action_name="Log", args={"mood": "good"})
    assert (done["action_name"], done["engine"]) == ("Log", "obsidian")
    assert app.events("quickadd.execute") == [{"name": "Log", "variables": {"mood": "good"}}]


def test_a_choice_that_fails_or_is_none_says_so(call: Calls) -> None:
    for name, code, why in (
        ("Inbox", "plugin_unreachable", "nothing is open"),
        ("More", "invalid_input", "More only asks which; name one of the choices inside of it"),
        ("Fish", "invalid_input", "Fish is no choice of QuickAdd"),
    ):
        assert refusal(call, quickadd, "trigger_quickadd", action_name=name) == (code, why)


def test_a_picture_that_text_extractor_cannot_read_fails(call: Calls) -> None:
    code, message = refusal(call, ocr, "ocr_attachment", path="other.png", engine="obsidian")
    assert (code, message) == ("plugin_unreachable", "cannot read other.png")


def test_make_md_lists_its_spaces_and_their_rows(call: Calls) -> None:
    found = call(makemd, "makemd_list_spaces", engine="obsidian")
    assert found["spaces"] == [{"id": "Birds", "name": "Birds", "path": "Birds", "view_count": 1}]
    rows = call(makemd, "makemd_query", space_id="Birds", engine="obsidian", limit=1)
    rest = call(makemd, "makemd_query", space_id="Birds", engine="obsidian", limit=1, cursor=rows["cursor"])
    assert rows["items"] + rest["items"] == [
        {"note_path": "Birds/Wren.md", "columns": {"Count": "3"}},
        {"note_path": "Birds/Rook.md", "columns": {"Count": "1"}},
    ]
    assert "cursor" not in rest


def test_make_md_says_which_space_is_none_and_that_it_takes_no_filters(call: Calls) -> None:
    given = {"space_id": "Fish", "engine": "obsidian"}
    assert refusal(call, makemd, "makemd_query", **given) == ("invalid_input", "Fish is no space")
    given = {"space_id": "Birds", "engine": "obsidian"}
    code, message = refusal(call, makemd, "makemd_query", **given, filter={"Count": "3"})
    assert code == "plugin_unreachable"
    assert "has no interface for filters and orders" in message
