import gc

import pytest

from knapper_dataview.engine import Budget, BudgetExceeded, Engine, EvaluationError, QueryFailed
from tests.dataview.notes import NOW, engine
from tests.dataview.vault_source import VaultSource

TEN = "list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"


def evaluate(expression: str, budget: Budget | None = None) -> object:
    return Engine(VaultSource({}), NOW).evaluate(expression, budget=budget)


def test_a_query_that_multiplies_its_rows_is_stopped() -> None:
    query = "LIST " + " ".join(f"FLATTEN {TEN} AS {name}" for name in "abcdef")
    with pytest.raises(BudgetExceeded, match="more than 5000 operations"):
        engine(Note="").run(query, budget=Budget(operations=5000))


def test_lambdas_are_counted() -> None:
    nested = f"map({TEN}, (a) => map({TEN}, (b) => map({TEN}, (c) => a + b + c)))"
    assert isinstance(evaluate(nested, Budget(operations=2000)), list)
    with pytest.raises(BudgetExceeded):
        evaluate(nested, Budget(operations=1000))


@pytest.mark.parametrize(
    "expression",
    ['"a" * 1000000000', 'padleft("a", 1000000000)', "((x) => x + x)(" * 45 + '"ab"' + ")" * 45],
)
def test_text_that_would_fill_the_memory_is_never_made(expression: str) -> None:
    with pytest.raises(BudgetExceeded):
        evaluate(expression)


@pytest.mark.timeout(20)
def test_a_hostile_pattern_ends_within_its_time() -> None:
    with pytest.raises(BudgetExceeded, match="took too long"):
        evaluate(f'regexreplace("{"a" * 60}", "(a|aa)+$b", "x")', Budget(seconds=0.2))


def test_a_budget_without_time_stops_the_query_at_once() -> None:
    with pytest.raises(BudgetExceeded, match="longer than 0 seconds"):
        evaluate('regextest("a", "a")', Budget(seconds=0))


def test_a_budget_says_what_was_spent() -> None:
    budget = Budget()
    engine(One="", Two="").run("LIST WHERE true", budget=budget)
    assert budget.spent == 2


def test_a_chain_too_long_to_run_is_an_error_not_a_crash() -> None:
    chain = " + ".join("1" for _ in range(20_000))
    with pytest.raises(EvaluationError, match="nested too deeply"):
        evaluate(chain)
    with pytest.raises(QueryFailed, match="nested too deeply"):
        engine(Note="").run(f"LIST {chain}")


def test_the_garbage_collector_is_on_again_after_a_query() -> None:
    engine(Note="").run("LIST")
    assert gc.isenabled()
    with pytest.raises(QueryFailed):
        engine(Note="").run("LIST WHERE null + 1")
    assert gc.isenabled()


@pytest.mark.parametrize(
    "expression",
    ["date(today) + dur(99999999 years)", "date(today) + dur(1 day) * 99999999999", "round(1.5, 1000)"],
)
def test_what_no_calendar_or_double_holds_is_an_error(expression: str) -> None:
    with pytest.raises(EvaluationError):
        evaluate(expression)
