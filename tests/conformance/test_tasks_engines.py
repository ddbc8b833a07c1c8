"""The same queries to both engines of Tasks: native, and live as the real plugin answered when it was recorded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

import knapper_bridge_tasks
from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper.testing_http import Reply
from knapper_tasks import tasks
from tests.live_obsidian import Obsidian, failed
from tests.tasks.scoring import FOLDER

RECORDED = FOLDER / "tasks-queries.json"
pytestmark = [
    pytest.mark.skipif(not RECORDED.is_file(), reason="the recordings are not at hand"),
    pytest.mark.usefixtures("utc"),
]
NOW = datetime(2024, 3, 15, 10, 30, tzinfo=UTC)
NOTES = {
    "Inbox.md": """- [ ] someday ⏬ ➕ 2024-01-05
- [ ] urgent thing 🔺 📅 2024-03-20 🆔 u1
- [ ] blocked thing ⛔ u1 📅 2024-03-20
# Odd
- [ ] bad date 📅 2024-02-30
- [?] weird status #odd ⏳ 2024-03-15
""",
    "home/list.md": """- [ ] **bold** call [[Ann]] 🛫 2024-04-01
# Shopping
- [ ] buy milk #home #shop 🔁 every week 📅 2024-03-16 🔽
- [ ] Buy bread #home
# Done
- [x] recurring done 🔁 every month when done ✅ 2024-02-28
""",
    "quotes.md": "> - [ ] quoted task AND more 📅 2025-01-01\n",
    "work/Beta_notes.md": "- [/] Beta doing 🛫 2024-03-01 🔼\n- [-] Beta dropped ❌ 2024-03-02\n",
    "work/projects/Alpha.md": """# Plan
- [ ] Alpha plan #work 📅 2024-03-14 ⏫
- [ ] Alpha review #work/deep 📅 2024-03-15
    - [ ] Alpha sub-item ⏳ 2024-03-18
# Log
- [x] Alpha done ✅ 2024-03-10 📅 2024-03-09
""",
    "zz/num 10.md": "# H10\n- [ ] item 10 #t\n",
    "zz/num 9.md": "# H9\n- [ ] item 9 #t\n",
}


def task(path: str, line: int, description: str, *tags: str, **more: Any) -> dict[str, Any]:
    usual = {"status": "todo", "status_symbol": " ", "priority": "normal", "depends_on": []}
    text = " ".join([description, *tags])
    return {"path": path, "line": line, "description": text, "tags": [*tags], **usual, **more}


ALPHA, BETA, LIST = "work/projects/Alpha.md", "work/Beta_notes.md", "home/list.md"
DONE = {"status": "done", "status_symbol": "x"}
# The tasks of the recording in its order, as a companion sends them.
TASKS = [
    task(ALPHA, 2, "Alpha plan", "#work", due="2024-03-14", priority="high", heading="Plan"),
    task(ALPHA, 3, "Alpha review", "#work/deep", due="2024-03-15", heading="Plan"),
    task(ALPHA, 6, "Alpha done", due="2024-03-09", done="2024-03-10", heading="Log", **DONE),
    task(ALPHA, 4, "Alpha sub-item", scheduled="2024-03-18", heading="Plan"),
    task(
        BETA, 1, "Beta doing", start="2024-03-01", priority="medium", status="in_progress", status_symbol="/"
    ),
    task(BETA, 2, "Beta dropped", cancelled="2024-03-02", status="cancelled", status_symbol="-"),
    task(
        LIST,
        3,
        "buy milk",
        "#home",
        "#shop",
        recurrence="every week",
        due="2024-03-16",
        priority="low",
        heading="Shopping",
    ),
    task(LIST, 4, "Buy bread", "#home", heading="Shopping"),
    task(LIST, 1, "**bold** call [[Ann]]", start="2024-04-01"),
    task("Inbox.md", 1, "someday", created="2024-01-05", priority="lowest"),
    task("Inbox.md", 2, "urgent thing", due="2024-03-20", id="u1", priority="highest"),
    task("Inbox.md", 3, "blocked thing", due="2024-03-20", depends_on=["u1"]),
    task("Inbox.md", 5, "bad date", due="2024-02-30", heading="Odd"),
    task("Inbox.md", 6, "weird status", "#odd", scheduled="2024-03-15", status_symbol="?", heading="Odd"),
    task("zz/num 10.md", 2, "item 10", "#t", heading="H10"),
    task("zz/num 9.md", 2, "item 9", "#t", heading="H9"),
    task("quotes.md", 1, "quoted task AND more", due="2025-01-01"),
    task(
        LIST,
        6,
        "recurring done",
        recurrence="every month when done",
        done="2024-02-28",
        heading="Done",
        **DONE,
    ),
]
# The recorded plugin had JavaScript switched off, as it comes; the native engine evaluates what it can of it.
SCRIPT = {"filter by FUNCTION task.isRecurring", "filter by function task.isDone"}


def recorded(expected: Any) -> Any | Reply:
    """A recorded result as `/tasks/filter` gives it: each task once, where its first group has it."""
    if "$error" in expected:
        return failed("invalid_input", "Tasks does not understand it")
    found = dict.fromkeys(number for group in expected["groups"] for number in group["tasks"])
    return {"items": [TASKS[number] for number in found]}


def answer(call: Calls, filter: str, engine: str, path: str | None) -> Any:
    """The tasks that an engine finds, or the code of its error."""
    given = {"path": path} if path and engine == "native" else {}
    try:
        found = call(tasks, "tasks_filter", filter=filter, engine=engine, limit=1000, **given)
    except ToolError as error:
        return error.code
    assert found["engine"] == engine
    return found["items"]


def test_every_recorded_query_finds_the_same_tasks_in_both_engines(
    call: Calls, vault: VaultFolder, obsidian: Obsidian
) -> None:
    vault.update(NOTES)
    obsidian.serve(call)
    call.plugins.append(knapper_bridge_tasks)
    call.runtime(tasks).clock = NOW.timestamp
    cases = json.loads(RECORDED.read_text("utf-8"))["cases"]
    answers = {case["input"]: recorded(case["expected"]) for case in cases}
    obsidian.routes["/tasks/filter"] = lambda body: answers[body["filter"]]
    different = {}
    for case in cases:
        native, live = (answer(call, case["input"], e, case.get("queryPath")) for e in ("native", "obsidian"))
        if native != live:
            different[case["input"]] = (native, live)
    assert different.keys() == SCRIPT
    assert {live for _, live in different.values()} == {"invalid_input"}
    assert len(cases) == len(obsidian.asked) == 387
