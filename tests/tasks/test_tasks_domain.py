import datetime
import json

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_tasks import tasks

NOTE = """# Work

- [ ] write report #work ⏫ 📅 2026-05-10
- [x] send mail ✅ 2026-01-01
- [/] half way ⏳ 2026-05-01
    - [-] dropped ❌ 2026-02-02
- plain item

```
- [ ] not a task
```

## Weekly

- [ ] water plants 🔁 every week 📅 2026-05-04
"""


def descriptions(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [item["description"] for item in page["items"]]


def test_tasks_are_listed_with_their_fields_and_without_code(call: Calls, vault: VaultFolder) -> None:
    vault["work.md"] = NOTE
    page = call(tasks, "list_tasks")
    assert page["total_count"] == 5
    assert page["items"][0] == {
        "path": "work.md",
        "line": 3,
        "status": "todo",
        "status_symbol": " ",
        "description": "write report #work",
        "priority": "high",
        "tags": ["#work"],
        "depends_on": [],
        "due": "2026-05-10",
        "heading": "Work",
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"status": ["todo"]}, ["write report #work", "water plants"]),
        ({"status": ["in_progress", "cancelled"]}, ["half way", "dropped"]),
        ({"due": {"after": "2026-05-04", "before": "2026-05-11"}}, ["write report #work"]),
        ({"due": {"on": "2026-05-04"}}, ["water plants"]),
        ({"scheduled": {}}, ["half way"]),
        ({"priority": ["high"]}, ["write report #work"]),
        ({"tags": ["WORK"]}, ["write report #work"]),
        ({"text": "MAIL"}, ["send mail"]),
        ({"paths": ["other.md"]}, []),
    ],
)
def test_every_condition_narrows_the_list(
    call: Calls, vault: VaultFolder, arguments: dict[str, object], expected: list[str]
) -> None:
    vault["work.md"] = NOTE
    assert descriptions(call(tasks, "list_tasks", **arguments)) == expected


def test_pages_of_tasks_join_without_gaps(call: Calls, vault: VaultFolder) -> None:
    for number in range(7):
        vault[f"n{number}.md"] = f"- [ ] one {number}\n- [ ] two {number}\n"
    seen, cursor = [], None
    while True:
        page = call(tasks, "list_tasks", limit=3, **({"cursor": cursor} if cursor else {}))
        seen += descriptions(page)
        cursor = page.get("cursor")
        if cursor is None:
            break
    assert seen == [f"{word} {number}" for number in range(7) for word in ("one", "two")]


def test_the_vaults_own_statuses_and_global_filter_count(call: Calls, vault: VaultFolder) -> None:
    vault[".obsidian/plugins/obsidian-tasks-plugin/data.json"] = json.dumps(
        {
            "globalFilter": "#task",
            "statusSettings": {
                "coreStatuses": [
                    {"symbol": " ", "name": "Todo", "nextStatusSymbol": "x", "type": "TODO"},
                    {"symbol": "x", "name": "Done", "nextStatusSymbol": " ", "type": "DONE"},
                ],
                "customStatuses": [
                    {"symbol": "h", "name": "Held", "nextStatusSymbol": "x", "type": "ON_HOLD"}
                ],
            },
        }
    )
    vault["a.md"] = "- [h] waits #task #x\n- [h] no filter\n- [ ] open #task\n- [ ] other case #Task\n"
    held = call(tasks, "list_tasks", status=["on_hold"])
    assert [(item["description"], item["tags"]) for item in held["items"]] == [("waits #task #x", ["#x"])]
    assert call(tasks, "tasks_filter", filter="status.type is ON_HOLD")["items"] == held["items"]
    assert descriptions(call(tasks, "list_tasks", status=["todo"])) == ["open #task"]


def test_the_dataview_format_is_read_where_the_vault_uses_it(call: Calls, vault: VaultFolder) -> None:
    vault[".obsidian/plugins/obsidian-tasks-plugin/data.json"] = json.dumps({"taskFormat": "dataview"})
    vault["a.md"] = "- [ ] pay rent [due:: 2026-03-01]\n- [ ] later  [due:: 2026-09-01]\n"
    assert descriptions(call(tasks, "list_tasks", due={"before": "2026-06-01"})) == ["pay rent"]


def test_a_query_filters_sorts_and_groups(call: Calls, vault: VaultFolder) -> None:
    vault["work.md"] = NOTE
    found = call(tasks, "tasks_filter", filter="not done\nsort by due reverse", group_by="heading")
    assert found["engine"] == "native"
    assert found["groups"] == [{"key": "Weekly", "count": 1}, {"key": "Work", "count": 2}]
    assert sorted(descriptions(found)) == ["half way", "water plants", "write report #work"]


def test_a_wrong_query_says_where(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError) as refused:
        call(tasks, "tasks_filter", filter="not done\ndue sometime never")
    assert refused.value.code == "invalid_input"
    assert refused.value.details["line"] == 2


def test_the_live_engine_is_asked_for_only_where_a_bridge_is_there(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError) as refused:
        call(tasks, "tasks_filter", filter="not done", engine="obsidian")
    assert refused.value.code == "plugin_missing"


def test_tasks_of_unreadable_notes_are_neither_shown_nor_counted(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = "- [ ] mine\n"
    vault["closed/b.md"] = "- [ ] theirs\n"
    call.settings["acl"] = {"read_paths": ["open/**"]}
    listed = call(tasks, "list_tasks")
    assert (descriptions(listed), listed["total_count"]) == (["mine"], 1)
    assert call(tasks, "tasks_filter", filter="description includes theirs")["total_count"] == 0


def test_completing_a_recurring_task_writes_the_next_one(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "before\n- [ ] water 🔁 every week 📅 2026-05-04\nafter\n"
    done = call(tasks, "update_task", path="a.md", line=2, set={"status": "done"})
    lines = vault["a.md"].split("\n")
    assert lines[0] == "before"
    assert lines[1] == "- [ ] water 🔁 every week 📅 2026-05-11"
    assert lines[2].startswith("- [x] water 🔁 every week 📅 2026-05-04 ✅ ")
    assert lines[3:] == ["after", ""]
    assert (done["line"], done["created_line"], done["new_state"]["status"]) == (3, 2, "done")


def test_only_the_tasks_line_changes(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "# T\r\n- [ ] a 📅 2026-05-04\r\nend\r\n"
    call(
        tasks,
        "update_task",
        path="a.md",
        line=2,
        set={"due": "2026-06-01", "priority": "low", "add_tags": ["x"]},
    )
    assert vault["a.md"] == "# T\r\n- [ ] a #x 🔽 📅 2026-06-01\r\nend\r\n"
    call(
        tasks,
        "update_task",
        path="a.md",
        line=2,
        set={"due": None, "remove_tags": ["#x"], "priority": "normal"},
    )
    assert vault["a.md"] == "# T\r\n- [ ] a\r\nend\r\n"


def test_a_line_that_is_no_task_or_another_one_is_refused(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "text\n- [ ] a\n"
    for line, expected, code in (
        (1, None, "invalid_input"),
        (9, None, "invalid_input"),
        (2, "- [ ] b", "concurrent_modification"),
    ):
        with pytest.raises(ToolError) as refused:
            call(tasks, "update_task", path="a.md", line=line, set={"status": "done"}, expected_text=expected)
        assert refused.value.code == code
    assert vault["a.md"] == "text\n- [ ] a\n"


def test_reopening_what_was_done_long_ago_needs_a_person(call: Calls, vault: VaultFolder) -> None:
    recent = (datetime.date.today() - datetime.timedelta(days=2)).isoformat()
    vault["a.md"] = f"- [x] old ✅ 2020-01-01\n- [x] new ✅ {recent}\n"
    call(tasks, "update_task", path="a.md", line=2, set={"status": "todo"})
    with pytest.raises(ToolError) as refused:
        call(tasks, "update_task", path="a.md", line=1, set={"status": "todo"})
    assert refused.value.code == "elicit_required"
    assert vault["a.md"] == "- [x] old ✅ 2020-01-01\n- [ ] new\n"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(tasks)
