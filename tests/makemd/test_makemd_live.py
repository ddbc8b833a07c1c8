"""The live engine: make.md itself, where a caller asks for it and no folder rules are set."""

from __future__ import annotations

from typing import Any

import pytest

from knapper import Bridge, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder
from knapper_makemd import makemd
from tests.makemd.conftest import make_space


class LiveMakemd:
    """Stands for the plugin: answers what it was given, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.asked: list[Any] = []

    def spaces(self) -> Any:
        return self.answers.pop(0)

    def query(self, space_id: str, filter: Any, sort: Any, *, limit: int, cursor: str | None) -> Any:
        self.asked.append((space_id, filter, sort, limit, cursor))
        return self.answers.pop(0)

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("makemd", "make-md", lambda settings: self)


def test_native_answers_though_a_bridge_is_there(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    call.plugins.append(LiveMakemd())
    assert call(makemd, "makemd_list_spaces")["engine"] == "native"
    assert call(makemd, "makemd_query", space_id="Birds")["engine"] == "native"


def test_make_md_answers_where_it_is_asked_for(call: Calls) -> None:
    engine = LiveMakemd(
        {"spaces": [{"id": "x", "name": "X", "path": "x", "schema": [{"name": "A"}]}]},
        {"items": [{"note_path": "a.md", "columns": {"A": 1}}], "cursor": "next", "total": 2},
        {"items": [{"note_path": "b.md", "columns": {}}], "total": 2},
    )
    call.plugins.append(engine)
    assert call(makemd, "makemd_list_spaces", engine="obsidian") == {
        "spaces": [
            {
                "id": "x",
                "name": "X",
                "path": "x",
                "view_count": 0,
                "schema": [{"name": "A", "type": "unknown"}],
            }
        ],
        "engine": "obsidian",
    }
    asked = {"space_id": "x", "filter": {"A": 1}, "sort": ["-A"], "engine": "obsidian", "limit": 1}
    first = call(makemd, "makemd_query", **asked)
    assert (first["items"], first["total_count"], first["engine"]) == (
        [{"note_path": "a.md", "columns": {"A": 1}}],
        2,
        "obsidian",
    )
    second = call(makemd, "makemd_query", cursor=first["cursor"], **asked)
    assert (second["items"], "cursor" in second) == ([{"note_path": "b.md", "columns": {}}], False)
    assert engine.asked == [("x", {"A": 1}, ["-A"], 1, None), ("x", {"A": 1}, ["-A"], 1, "next")]


def test_under_folder_rules_make_md_is_not_asked(call: Calls) -> None:
    call.settings = {"acl": {"read_paths": ["Open/**"]}}
    call.plugins.append(LiveMakemd())
    for tool, more in (("makemd_list_spaces", {}), ("makemd_query", {"space_id": "x"})):
        with pytest.raises(ToolError) as caught:
            call(makemd, tool, engine="obsidian", **more)
        assert caught.value.code == "acl_denied"


def test_without_a_bridge_make_md_is_missing(call: Calls) -> None:
    with pytest.raises(ToolError) as caught:
        call(makemd, "makemd_list_spaces", engine="obsidian")
    assert caught.value.code == "plugin_missing"
