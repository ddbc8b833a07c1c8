from typing import Any

import pytest

from knapper import Bridge, Caller, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder
from knapper_tasks import tasks

SCRIPT = "filter by function new Date() > task.due"


def live_task(path: str, line: int = 1) -> dict[str, Any]:
    fields = {"status": "todo", "status_symbol": " ", "description": "live", "priority": "normal"}
    return {"path": path, "line": line, **fields, "tags": [], "depends_on": []}


class LiveTasks:
    """Stands for the Tasks plugin: answers what it was given, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [*answers]
        self.asked: list[tuple[str, int, str | None]] = []

    def filter(self, filter: str, *, limit: int, cursor: str | None) -> Any:
        self.asked.append((filter, limit, cursor))
        return self.answers.pop(0)

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("tasks", "obsidian-tasks-plugin", lambda settings: self)


def paths(found: dict[str, Any]) -> list[str]:
    return [item["path"] for item in found["items"]]


def test_native_answers_where_it_can_though_a_bridge_is_there(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "- [ ] mine\n"
    call.plugins.append(LiveTasks())
    found = call(tasks, "tasks_filter", filter="not done")
    assert (found["engine"], paths(found)) == ("native", ["a.md"])


def test_the_plugin_answers_what_native_refuses(call: Calls, vault: VaultFolder) -> None:
    live = LiveTasks({"items": [live_task("a.md")]})
    call.plugins.append(live)
    found = call(tasks, "tasks_filter", filter=SCRIPT, limit=5)
    assert (found["engine"], paths(found)) == ("obsidian", ["a.md"])
    assert live.asked == [(SCRIPT, 5, None)]


def test_the_plugin_answers_whatever_it_is_asked_for_by_name(call: Calls, vault: VaultFolder) -> None:
    live = LiveTasks({"items": [live_task("b.md")]})
    call.plugins.append(live)
    found = call(tasks, "tasks_filter", filter="done", sort_by="due", engine="obsidian")
    assert (found["engine"], paths(found)) == ("obsidian", ["b.md"])
    assert live.asked[0][0] == "done\nsort by due"


def test_pages_of_the_plugin_go_on_where_they_ended(call: Calls, vault: VaultFolder) -> None:
    live = LiveTasks({"items": [live_task("a.md")], "cursor": "7"}, {"items": [live_task("b.md")]})
    call.plugins.append(live)
    first = call(tasks, "tasks_filter", filter="done", engine="obsidian", limit=1)
    second = call(tasks, "tasks_filter", filter="done", engine="obsidian", limit=1, cursor=first["cursor"])
    assert paths(second) == ["b.md"]
    assert "cursor" not in second
    assert live.asked[1] == ("done", 1, "7")


def test_without_a_bridge_the_error_names_what_needs_it(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError) as refused:
        call(tasks, "tasks_filter", filter=f"not done\n{SCRIPT}")
    assert refused.value.code == "plugin_missing"
    assert refused.value.message == (
        "JavaScript is not supported here: new; the Tasks plugin in a running Obsidian evaluates it, "
        "but no bridge to 'tasks' is installed"
    )
    assert (refused.value.details["construct"], refused.value.details["line"]) == ("new", 2)


def test_native_alone_refuses_by_name(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(LiveTasks())
    with pytest.raises(ToolError, match="JavaScript is not supported here: new") as refused:
        call(tasks, "tasks_filter", filter=SCRIPT, engine="native")
    assert refused.value.code == "invalid_input"


def test_what_the_plugin_found_is_cut_to_what_the_caller_may_read(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(LiveTasks({"items": [live_task("open/a.md"), live_task("closed/b.md")]}))
    call.settings["acl"] = {"read_paths": ["open/**"]}
    found = call(tasks, "tasks_filter", filter="done", engine="obsidian")
    assert paths(found) == ["open/a.md"]
    assert "total_count" not in found


def test_an_item_of_nobody_is_denied_under_folder_rules(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(LiveTasks({"items": [{"description": "whose?"}]}))
    call.settings["acl"] = {"read_paths": ["open/**"]}
    with pytest.raises(ToolError, match="names no file") as refused:
        call(tasks, "tasks_filter", filter="done", engine="obsidian")
    assert refused.value.code == "acl_denied"


def test_an_answer_of_another_shape_is_no_answer(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(LiveTasks({"tasks": []}))
    with pytest.raises(ToolError, match="another shape") as refused:
        call(tasks, "tasks_filter", filter="done", engine="obsidian")
    assert refused.value.code == "plugin_unreachable"


@pytest.mark.parametrize(
    "source",
    [
        SCRIPT,
        "FILTER BY FUNCTION true",
        "(done) AND (filter by function true)",
        "filter by \\\n function true",
        "path includes {{query.file.path}}",
        "sort by function 1",
    ],
)
def test_javascript_reaches_the_app_only_for_who_may_execute_and_read_everything(
    call: Calls, vault: VaultFolder, source: str
) -> None:
    live = LiveTasks()
    call.plugins.append(live)
    call.caller = Caller("reader", frozenset({"read:tasks", "read:notes"}), authenticated=True)
    with pytest.raises(ToolError, match="execute:tasks") as refused:
        call(tasks, "tasks_filter", filter=source, engine="obsidian")
    assert refused.value.code == "forbidden"
    assert live.asked == []


def test_javascript_never_reaches_the_app_under_folder_rules(call: Calls, vault: VaultFolder) -> None:
    live = LiveTasks()
    call.plugins.append(live)
    call.settings["acl"] = {"read_paths": ["open/**"]}
    with pytest.raises(ToolError) as refused:
        call(tasks, "tasks_filter", filter=SCRIPT)
    assert (refused.value.code, live.asked) == ("acl_denied", [])
