from typing import Any

import pytest

from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper_bases import bases
from tests.meanwhile import CALLER, ENOUGH, run_beside

QUICK = {"path": "x.base", "override_filters": 'file.name == "1"'}


@pytest.fixture
def runtime(call: Calls, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    monkeypatch.setattr("knapper_bases.running.SECONDS", 1.0)
    for number in range(100):
        vault[f"{number}.md"] = f"---\ntext: {'a' * 60}b{number}\nmany: {[*range(40)]}\n---\n[[1]]\n"
    vault["x.base"] = "views:\n  - type: table\n    name: T\n    order: [file.name]\n"
    running = call.runtime(bases)
    for one in running.vaults:
        one.index.reconcile()
    return running


@pytest.mark.parametrize(
    "filters",
    [
        "many.map(many.map(many.map(many.map(value)))).length > 99999",
        "/(a|aa)+$/.matches(text)",
        'text.replace(/(a|aa)+$c/, "") == "y"',
        'many.reduce([acc, acc], 1).toString() == "x"',
        "many.reduce(acc + acc, text).length > 1",
        '"ab".repeat(1e9).length > 1',
        'text.split("").map(text.split("").map(text.split("").map(value))).length > 3',
    ],
)
def test_a_view_that_asks_too_much_ends_at_its_budget(runtime: Runtime, filters: str) -> None:
    outcome = runtime.call("query_base", {"path": "x.base", "override_filters": filters}, CALLER)
    assert outcome.error is not None
    assert outcome.error["code"] == "compute_budget_exceeded"


@pytest.mark.parametrize(
    "filters",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "1" + "+1" * 5000,
        "a" + ".b" * 5000,
        "number == 1 || " * 3000 + "true",
        "text.matches(/x{1000000000}/)",
    ],
)
def test_a_filter_that_is_too_deep_or_too_long_is_an_error_of_its_own(runtime: Runtime, filters: Any) -> None:
    outcome = runtime.call("query_base", {"path": "x.base", "override_filters": filters}, CALLER)
    assert outcome.error is not None
    assert outcome.error["code"] == "bases_syntax_error"


@pytest.mark.parametrize(
    "filters",
    ["/(a|aa)+$/.matches(text)", "many.map(many.map(many.map(many.map(value)))).length > 99999"],
)
def test_another_call_is_answered_meanwhile(runtime: Runtime, filters: str) -> None:
    hostile = ("query_base", {"path": "x.base", "override_filters": filters})
    outcome, answered = run_beside(runtime, hostile, ("query_base", QUICK))
    assert outcome.error is not None
    assert outcome.error["code"] == "compute_budget_exceeded"
    assert answered == ENOUGH
