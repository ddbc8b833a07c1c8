from typing import Any

import pytest

from knapper import Bridge, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder
from knapper_bases import bases

NEWER = (
    'filters: file.ext == "md"\nformulas:\n  x: file.fromTheFuture()\nviews:\n  - type: table\n    name: T\n'
)


class LiveBases:
    """Stands for Bases in a running Obsidian."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def query(self, path: str, view: str | None, filters: Any, *, limit: int, cursor: str | None) -> Any:
        self.asked.append((path, view, filters, limit, cursor))
        return {"items": [{"note_path": "A.md", "columns": {"x": 1}}], "view_used": "T", "total_count": 1}

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("bases", "bases", lambda settings: self)


@pytest.fixture
def live(call: Calls, vault: VaultFolder) -> LiveBases:
    vault["A.md"] = ""
    vault["known.base"] = "views:\n  - type: table\n    name: T\n    order: [file.name]\n"
    vault["newer.base"] = NEWER
    engine = LiveBases()
    call.plugins.append(engine)
    return engine


def test_native_answers_where_it_knows_every_function(call: Calls, live: LiveBases) -> None:
    found = call(bases, "query_base", path="known.base", override_filters='file.ext == "md"')
    assert (found["engine"], found["items"][0]["note_path"], live.asked) == ("native", "A.md", [])


def test_obsidian_answers_where_native_does_not_know_a_function(call: Calls, live: LiveBases) -> None:
    found = call(bases, "query_base", path="newer.base", limit=3)
    assert (found["engine"], found["items"]) == ("obsidian", [{"note_path": "A.md", "columns": {"x": 1}}])
    found = call(bases, "query_base", path="known.base", override_filters="soon()")
    assert found["engine"] == "obsidian"
    assert live.asked == [("newer.base", None, None, 3, None), ("known.base", None, "soon()", 100, None)]


def test_obsidian_answers_whatever_it_is_asked_for_by_name(call: Calls, live: LiveBases) -> None:
    assert call(bases, "query_base", path="known.base", engine="obsidian")["engine"] == "obsidian"


def test_without_a_bridge_the_unknown_function_is_named(call: Calls, vault: VaultFolder) -> None:
    vault["A.md"] = ""
    vault["newer.base"] = NEWER
    with pytest.raises(ToolError, match='Cannot find function "fromTheFuture"') as refused:
        call(bases, "query_base", path="newer.base", override_filters="file.fromTheFuture()")
    assert refused.value.code == "bases_syntax_error"
    with pytest.raises(ToolError) as refused:
        call(bases, "query_base", path="newer.base", engine="obsidian")
    assert refused.value.code == "plugin_missing"


def test_native_alone_shows_the_fault_in_the_cells(call: Calls, live: LiveBases, vault: VaultFolder) -> None:
    vault["newer.base"] = NEWER + "    order: [formula.x]\n"
    found = call(bases, "query_base", path="newer.base", engine="native")
    assert found["items"][0]["columns"]["formula.x"] == {
        "error": 'Cannot find function "fromTheFuture" on type File'
    }
    assert live.asked == []


def test_under_folder_rules_obsidian_is_not_asked(call: Calls, live: LiveBases) -> None:
    call.settings["acl"] = {"read_paths": ["*.base"]}
    with pytest.raises(ToolError, match="may reach any note") as refused:
        call(bases, "query_base", path="newer.base")
    assert (refused.value.code, live.asked) == ("acl_denied", [])
