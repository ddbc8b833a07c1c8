"""Choices that go through the real bridge and the companion's routes to an Obsidian on loopback."""

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_quickadd import quickadd
from tests.live_obsidian import Obsidian, obsidian
from tests.quickadd.quickadd_vault import choice, install

__all__ = ["obsidian"]


@pytest.fixture(autouse=True)
def bridged(call: Calls, vault: VaultFolder, obsidian: Obsidian) -> None:
    call.plugins.append(pytest.importorskip("knapper_bridge_quickadd"))
    obsidian.serve(call)
    install(vault, choice("Macro", "Fetch"))


def test_a_macro_is_run_by_the_plugin(call: Calls, obsidian: Obsidian) -> None:
    obsidian.says("/quickadd/trigger", {"action_name": "Fetch", "fired_at": "2026-03-05T14:07:09Z"})
    done = call.confirmed(quickadd, "trigger_quickadd", action_name="Fetch", args={"value": "x"})
    assert done == {"action_name": "Fetch", "fired_at": "2026-03-05T14:07:09Z", "engine": "obsidian"}
    assert obsidian.asked == [("/quickadd/trigger", {"action_name": "Fetch", "args": {"value": "x"}})]


def test_an_obsidian_without_the_plugin_is_said_with_what_needs_it(call: Calls, obsidian: Obsidian) -> None:
    obsidian.plugins["quickadd"] = False
    with pytest.raises(ToolError) as missing:
        call(quickadd, "trigger_quickadd", action_name="Fetch")
    assert (missing.value.code, missing.value.details["construct"]) == ("plugin_missing", "the macro 'Fetch'")


def test_the_choices_of_a_vault_whose_settings_are_elsewhere_are_the_plugins(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    del vault[".obsidian/plugins/quickadd/data.json"]
    obsidian.says("/quickadd/actions", {"items": [{"name": "Fetch", "type": "Macro"}]})
    assert call(quickadd, "list_quickadd_actions") == {"items": [{"name": "Fetch", "type": "macro"}]}
