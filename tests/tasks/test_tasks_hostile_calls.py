import pytest

from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper_tasks import tasks
from tests.meanwhile import CALLER, ENOUGH, run_beside

EVERY_TRIPLE = (
    "filter by function query.allTasks.some(t => query.allTasks.some(u => "
    "query.allTasks.some(v => u.id === v.description)))"
)


@pytest.fixture
def runtime(call: Calls, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    monkeypatch.setattr("knapper_tasks.running.SECONDS", 1.0)
    for number in range(100):
        vault[f"{number}.md"] = f"- [ ] {'a' * 60}b{number}\n- [x] done\n"
    running = call.runtime(tasks)
    for one in running.vaults:
        one.index.reconcile()
    return running


@pytest.mark.parametrize(
    "query",
    [
        "description regex matches /(a|aa)+$/",
        "filter by function /(a|aa)+$c/.test(task.description)",
        EVERY_TRIPLE,
        "(" * 4000 + "done" + ")" * 4000,
        "done\n" * 3900,
    ],
)
def test_a_query_that_asks_too_much_ends_at_its_budget(runtime: Runtime, query: str) -> None:
    outcome = runtime.call("tasks_filter", {"filter": query}, CALLER)
    assert outcome.error is not None
    assert outcome.error["code"] == "compute_budget_exceeded"


@pytest.mark.parametrize(
    "query",
    ["description regex matches /(a+)+$/", "description regex matches /(x{1000}){1000}/", "limit x" * 1000],
)
def test_a_query_that_means_ill_is_refused(runtime: Runtime, query: str) -> None:
    outcome = runtime.call("tasks_filter", {"filter": query}, CALLER)
    assert outcome.error is not None
    assert outcome.error["code"] == "invalid_input"


@pytest.mark.parametrize("query", ["description regex matches /(a|aa)+$/", EVERY_TRIPLE])
def test_another_call_is_answered_meanwhile(runtime: Runtime, query: str) -> None:
    outcome, answered = run_beside(runtime, ("tasks_filter", {"filter": query}), ("list_tasks", {"limit": 5}))
    assert outcome.error is not None
    assert outcome.error["code"] == "compute_budget_exceeded"
    assert answered == ENOUGH
