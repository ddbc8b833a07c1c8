"""Choices that go to the plugin itself, through a bridge."""

from typing import Any

import pytest

from knapper import Bridge, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder
from knapper_quickadd import quickadd
from tests.quickadd.quickadd_vault import capture, choice, install, refused


class LiveQuickadd:
    """Stands for the plugin: remembers what it was asked."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer or {"action_name": "it", "fired_at": "2026-03-05T14:07:09Z"}
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def actions(self) -> Any:
        return {
            "items": [
                {"name": "A", "type": "Macro"},
                {"name": "B", "type": "capture"},
                {"name": "C", "type": "?"},
            ]
        }

    def trigger(self, action_name: str, args: dict[str, Any]) -> Any:
        self.asked.append((action_name, args))
        return self.answer

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("quickadd", "quickadd", lambda settings: self)


def test_the_plugin_runs_what_native_cannot(call: Calls, vault: VaultFolder) -> None:
    live = LiveQuickadd()
    call.plugins.append(live)
    install(vault, choice("Multi", "More", choices=[choice("Macro", "it")]), choice("Macro", "it"))
    done = call.confirmed(quickadd, "trigger_quickadd", action_name="More/it", args={"value": 1})
    assert done == {"action_name": "More/it", "fired_at": "2026-03-05T14:07:09Z", "engine": "obsidian"}
    assert live.asked == [("it", {"value": 1})]


def test_native_runs_what_it_can_though_a_bridge_is_there(call: Calls, vault: VaultFolder) -> None:
    live = LiveQuickadd()
    call.plugins.append(live)
    install(vault, capture())
    vault["Log.md"] = ""
    done = call.confirmed(quickadd, "trigger_quickadd", action_name="it", args={"value": "x"})
    assert (done["engine"], vault["Log.md"], live.asked) == ("native", "x\n", [])


def test_the_plugin_is_asked_where_its_settings_are_not_in_the_vault(call: Calls, vault: VaultFolder) -> None:
    live = LiveQuickadd()
    call.plugins.append(live)
    assert call(quickadd, "list_quickadd_actions") == {
        "items": [{"name": "A", "type": "macro"}, {"name": "B", "type": "capture"}]
    }
    done = call.confirmed(quickadd, "trigger_quickadd", action_name="A")
    assert (done["engine"], live.asked) == ("obsidian", [("A", {})])


def test_without_settings_and_bridge_the_plugin_is_missing(call: Calls, vault: VaultFolder) -> None:
    error = refused(call, vault, "A")
    assert (error.code, error.details["plugin"]) == ("plugin_missing", "quickadd")


@pytest.mark.parametrize("rules", [{"read_paths": ["**"]}, {"write_paths": ["**"]}])
def test_under_folder_rules_nothing_goes_to_the_plugin(
    call: Calls, vault: VaultFolder, rules: dict[str, Any]
) -> None:
    live = LiveQuickadd()
    call.plugins.append(live)
    call.settings = {"acl": rules}
    install(vault, choice("Macro", "it"))
    with pytest.raises(ToolError, match="may change any file") as denied:
        call(quickadd, "trigger_quickadd", action_name="it")
    assert (denied.value.code, live.asked) == ("acl_denied", [])


def test_an_answer_of_another_shape_is_no_answer(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(LiveQuickadd({"odd": 1}))
    install(vault, choice("Macro", "it"))
    with pytest.raises(ToolError, match="another shape") as odd:
        call.confirmed(quickadd, "trigger_quickadd", action_name="it")
    assert odd.value.code == "plugin_unreachable"
