"""What an expression may cost."""

import pytest

from knapper_bases.engine import (
    BasesError,
    Budget,
    BudgetExceeded,
    UnreadableExpression,
    evaluate,
    plain,
    query,
    read,
)
from tests.bases.vault_in_memory import MemoryVault, Note

VAULT = MemoryVault(
    Note(
        "a.md",
        {"many": list(range(1000)), "ten": list(range(10)), "text": "a" * 40, "forty": list(range(40))},
    )
)


def run(expression: str, budget: Budget) -> object:
    return plain(evaluate(expression, VAULT, "a.md", budget=budget), budget)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("many.map(many.map(value)).length", "The evaluation takes more than 100000 operations"),
        ("forty.reduce([acc, acc], 1).toString()", "The evaluation takes more than 100000 operations"),
        ("forty.reduce([acc, acc], 1).flat()", "The evaluation takes more than 100000 operations"),
        ("forty.reduce([acc, acc], 1)", "The evaluation takes more than 100000 operations"),
        ('"ab".repeat(1000000)', "A value of length 2000000 is longer than the 1000000 allowed"),
        ('forty.reduce(acc + acc, "ab")', "A value of length 1048576 is longer than the 1000000 allowed"),
        ("forty.reduce(acc + acc, ten)", "A value of length 1310720 is longer than the 1000000 allowed"),
        (
            '"ab".repeat(400000).replace("a", "xxxxx")',
            "A value of length 2400000 is longer than the 1000000 allowed",
        ),
        ('(text + text + "!").replace(/(a|aa)+$/, "")', "The regular expression takes too long on this text"),
        ('/(a|aa)+$/.matches(text + text + "!")', "The regular expression takes too long on this text"),
    ],
)
def test_an_expression_that_costs_too_much_is_stopped(expression: str, message: str) -> None:
    budget = Budget(operations=10_000_000 if "acc + acc" in expression else 100_000)
    with pytest.raises(BudgetExceeded) as raised:
        run(expression, budget)
    assert raised.value.message == message


def test_no_time_left_stops_the_evaluation() -> None:
    with pytest.raises(BudgetExceeded, match="takes more than 0 s"):
        run("many.map(many.map(value)).length", Budget(seconds=0))


def test_a_view_over_its_budget_fails_as_a_whole() -> None:
    with pytest.raises(BudgetExceeded):
        query(read("filters: many.map(value).length > 0\n"), VAULT, budget=Budget(operations=100))


def test_values_nested_too_deeply_are_an_error() -> None:
    with pytest.raises(BasesError, match="nested too deeply"):
        evaluate("many.reduce([acc], 1).toString()", VAULT, "a.md")


@pytest.mark.parametrize(
    "text", ["(" * 200 + "1" + ")" * 200, "!" * 200 + "1", "1" + "+1" * 300, "a" + ".b" * 300]
)
def test_expressions_nested_too_deeply_are_unreadable(text: str) -> None:
    with pytest.raises(UnreadableExpression, match="more than"):
        evaluate(text, VAULT, "a.md")
