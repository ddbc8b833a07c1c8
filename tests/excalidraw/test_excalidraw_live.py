from typing import Any

import pytest

from knapper import Bridge, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder
from knapper_excalidraw import excalidraw

SCENE = '{"type": "excalidraw", "version": 2, "elements": []}'


class LiveExcalidraw:
    """Stands for the Excalidraw plugin: answers what it was given, and remembers what it was asked."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = {"path": "d.excalidraw", "text_content": "Start"} if answer is None else answer
        self.asked: list[tuple[str, str]] = []

    def read(self, path: str, *, format: str) -> Any:
        self.asked.append((path, format))
        return self.answer

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("excalidraw", "obsidian-excalidraw-plugin", lambda settings: self)


@pytest.fixture(autouse=True)
def drawing(vault: VaultFolder) -> None:
    vault["d.excalidraw"] = SCENE


def test_native_answers_though_a_bridge_is_there(call: Calls) -> None:
    live = LiveExcalidraw()
    call.plugins.append(live)
    found = call(excalidraw, "read_excalidraw", path="d.excalidraw")
    assert (found["source_used"], live.asked) == ("native", [])


def test_the_plugin_answers_where_it_is_asked_for_by_name(call: Calls) -> None:
    live = LiveExcalidraw()
    call.plugins.append(live)
    native = call(excalidraw, "read_excalidraw", path="d.excalidraw")
    assert call(excalidraw, "read_excalidraw", path="d.excalidraw", source="obsidian") == {
        "path": "d.excalidraw",
        "source_used": "obsidian",
        "text_content": "Start",
        "content_hash": native["content_hash"],
    }
    assert live.asked == [("d.excalidraw", "both")]


def test_without_a_bridge_the_error_names_it(call: Calls) -> None:
    with pytest.raises(ToolError) as refused:
        call(excalidraw, "read_excalidraw", path="d.excalidraw", source="obsidian")
    assert (refused.value.code, refused.value.details["plugin"]) == ("plugin_missing", "excalidraw")


@pytest.mark.parametrize("answer", [[], {}, {"text_content": None}, "Start"])
def test_an_answer_of_another_shape_is_no_answer(call: Calls, answer: Any) -> None:
    call.plugins.append(LiveExcalidraw(answer))
    with pytest.raises(ToolError, match="gave an answer of another shape") as refused:
        call(excalidraw, "read_excalidraw", path="d.excalidraw", source="obsidian")
    assert refused.value.code == "plugin_unreachable"


def test_under_folder_rules_the_plugin_is_not_asked(call: Calls) -> None:
    live = LiveExcalidraw()
    call.plugins.append(live)
    call.settings["acl"] = {"read_paths": ["d.excalidraw"]}
    with pytest.raises(
        ToolError, match="a drawing in the live engine of 'excalidraw' may reach any note"
    ) as no:
        call(excalidraw, "read_excalidraw", path="d.excalidraw", source="obsidian")
    assert (no.value.code, live.asked) == ("acl_denied", [])
    assert call(excalidraw, "read_excalidraw", path="d.excalidraw")["source_used"] == "native"
