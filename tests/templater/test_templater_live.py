"""Templates that go to the plugin itself, through a bridge."""

from typing import Any

import pytest

from knapper import Bridge, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder
from knapper_templater import templater

SCRIPTED = "<% tp.web.daily_quote() %>"
ANSWER = {"template": "T.md", "target": "New.md", "created_at": "2026-03-05T14:07:09Z"}


class LiveTemplater:
    """Stands for the plugin: writes the note it is asked for, and remembers what it was asked."""

    def __init__(self, vault: VaultFolder, answer: Any = None) -> None:
        self.vault = vault
        self.answer = answer
        self.asked: list[tuple[str, str, bool, dict[str, Any]]] = []

    def list(self) -> Any:
        return {"items": [{"path": "closed/L.md", "name": "L"}, {"path": "open/M.md", "name": "M"}]}

    def execute(self, template: str, target: str, overwrite: bool, args: dict[str, Any]) -> Any:
        self.asked.append((template, target, overwrite, args))
        if self.answer is None:
            self.vault[target] = "live"
        return self.answer or ANSWER

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("templater", "templater-obsidian", lambda settings: self)


def test_native_runs_what_it_can_though_a_bridge_is_there(call: Calls, vault: VaultFolder) -> None:
    live = LiveTemplater(vault)
    call.plugins.append(live)
    vault["T.md"] = "<% tp.file.title %>"
    done = call.confirmed(templater, "execute_template", template="T.md", target="New.md")
    assert (done["engine"], vault["New.md"], live.asked) == ("native", "New", [])


@pytest.mark.parametrize(("template", "engine"), [(SCRIPTED, "auto"), ("plain", "obsidian")])
def test_the_plugin_runs_what_native_refuses_or_it_is_asked_for(
    call: Calls, vault: VaultFolder, template: str, engine: str
) -> None:
    live = LiveTemplater(vault)
    call.plugins.append(live)
    vault["T.md"] = template
    done = call.confirmed(
        templater, "execute_template", template="T.md", target="New.md", args={"a": 1}, engine=engine
    )
    assert done == {
        **ANSWER,
        "content_hash": "247610f4dedd4ab7247d07dbda19c81ca9817f85820742cad49d407ffae9e4ed",
        "expanded_size": 4,
        "engine": "obsidian",
    }
    assert live.asked == [("T.md", "New.md", False, {"a": 1})]


def test_a_key_never_runs_it_twice_even_where_the_answer_was_lost(call: Calls, vault: VaultFolder) -> None:
    live = LiveTemplater(vault, {"odd": True})
    call.plugins.append(live)
    vault["T.md"] = SCRIPTED
    arguments = {"template": "T.md", "target": "New.md", "idempotency_key": "k"}
    with pytest.raises(ToolError, match="another shape"):
        call.confirmed(templater, "execute_template", **arguments)
    with pytest.raises(ToolError) as again:
        call.confirmed(templater, "execute_template", **arguments)
    assert (again.value.code, len(live.asked)) == ("indeterminate_outcome", 1)


def test_a_note_that_was_not_written_is_no_answer(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(LiveTemplater(vault, ANSWER))
    vault["T.md"] = SCRIPTED
    with pytest.raises(ToolError, match="no such note is there") as lost:
        call.confirmed(templater, "execute_template", template="T.md", target="New.md")
    assert lost.value.code == "plugin_unreachable"


@pytest.mark.parametrize("rules", [{"read_paths": ["**"]}, {"write_paths": ["**"]}, {"delete_paths": []}])
def test_under_folder_rules_of_any_kind_nothing_goes_to_the_plugin(
    call: Calls, vault: VaultFolder, rules: dict[str, Any]
) -> None:
    live = LiveTemplater(vault)
    call.plugins.append(live)
    call.settings = {"acl": rules}
    vault["T.md"] = SCRIPTED
    with pytest.raises(ToolError, match="may change any file") as denied:
        call(templater, "execute_template", template="T.md", target="New.md")
    assert (denied.value.code, live.asked) == ("acl_denied", [])


def test_without_a_bridge_the_plugin_cannot_be_asked_for(call: Calls, vault: VaultFolder) -> None:
    vault["T.md"] = "plain"
    with pytest.raises(ToolError, match="no bridge to 'templater' is installed") as missing:
        call(templater, "execute_template", template="T.md", target="New.md", engine="obsidian")
    assert missing.value.code == "plugin_missing"


def test_the_plugin_lists_templates_where_its_settings_cannot_be_read(
    call: Calls, vault: VaultFolder
) -> None:
    call.plugins.append(LiveTemplater(vault))
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    vault["open/M.md"], vault["closed/L.md"] = "<% tp.date.now() %>", "x"
    assert call(templater, "list_templates") == {
        "items": [
            {"path": "open/M.md", "name": "M", "has_user_functions": False, "commands": ["tp.date.now"]}
        ]
    }
