import pytest

import knapper_dataview
from knapper import Context, Domain, ToolError
from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper_dataview.answers import DqlRows
from tests.meanwhile import CALLER, ENOUGH, run_beside

TEN = "list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"
asker = Domain("asker", summary="Runs queries.")


@asker.tool("read:notes")
def ask(ctx: Context, dql: str) -> DqlRows:
    """Run a query."""
    rows: DqlRows = ctx.service("dql")(ctx, dql)
    return rows


@pytest.fixture
def runtime(call: Calls, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    monkeypatch.setattr("knapper_dataview.running.SECONDS", 1.0)
    for number in range(100):
        vault[f"{number}.md"] = f"text:: {'a' * 60}b{number}\n- one\n- [ ] two\n"
    call.plugins.append(knapper_dataview)
    running = call.runtime(asker)
    for one in running.vaults:
        one.index.reconcile()
    return running


@pytest.mark.parametrize(
    "dql",
    [
        "LIST " + " ".join(f"FLATTEN {TEN} AS {name}" for name in "abcdef"),
        "LIST " + f"map({TEN}, (x) => " * 7 + "x" + ")" * 7,
        'LIST WHERE regextest("(a|aa)+$b", text)',
        'LIST regexreplace(text, "(a|aa)+$c", "x")',
        'LIST split(text, "(a|aa)+$c")',
        "TABLE " + ", ".join(f"rows AS r{number}" for number in range(300)) + " GROUP BY true",
        "LIST " + "((x) => x + x)(" * 40 + "text" + ")" * 40,
        'LIST "a" * 1000000000000',
    ],
)
def test_a_query_that_asks_too_much_ends_at_its_budget(runtime: Runtime, dql: str) -> None:
    outcome = runtime.call("ask", {"dql": dql}, CALLER)
    assert outcome.error is not None
    assert outcome.error["code"] == "compute_budget_exceeded"


@pytest.mark.parametrize(
    "dql",
    [
        "LIST " + "(" * 5000 + "1" + ")" * 5000,
        "LIST " + "[" * 5000,
        "LIST FROM " + "-" * 5000 + "#a",
        "LIST WHERE " + " AND ".join(["text"] * 4000),
        'LIST WHERE regextest("(x{1000}){1000}", text)',
        'LIST WHERE regextest("' + "(" * 3000 + '", text)',
        "LIST " + "x." * 9000,
        "TABLE " + "a," * 9000,
    ],
)
def test_a_query_that_is_too_deep_or_too_wide_is_an_error_of_its_own(runtime: Runtime, dql: str) -> None:
    outcome = runtime.call("ask", {"dql": dql}, CALLER)
    assert outcome.error is not None
    assert outcome.error["code"] == "dql_error"


@pytest.mark.parametrize(
    "dql",
    [
        'LIST WHERE regextest("(a|aa)+$b", text)',
        "LIST " + f"map({TEN}, (x) => " * 7 + "x" + ")" * 7,
        "TABLE " + ", ".join(f"rows AS r{number}" for number in range(300)) + " GROUP BY true",
    ],
)
def test_another_call_is_answered_meanwhile(runtime: Runtime, dql: str) -> None:
    outcome, answered = run_beside(runtime, ("ask", {"dql": dql}), ("ask", {"dql": "LIST LIMIT 1"}))
    assert outcome.error is not None
    assert outcome.error["code"] == "compute_budget_exceeded"
    assert answered == ENOUGH


def test_an_expression_in_a_note_ends_at_its_budget_too(
    call: Calls, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knapper_dataview.running.SECONDS", 0.5)
    vault["a.md"] = f"text:: {'a' * 60}b\n"
    with pytest.raises(ToolError) as refused:
        call(
            knapper_dataview.dataview,
            "eval_dataview_field",
            path="a.md",
            expression='regextest("(a|aa)+$b", text)',
        )
    assert refused.value.code == "compute_budget_exceeded"
