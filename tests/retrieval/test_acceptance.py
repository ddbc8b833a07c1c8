"""Every item of the contract's acceptance list is proven by tests that exist."""

import ast
from functools import cache
from pathlib import Path

import pytest

from .acceptance import ITEMS, LEFT_OUT

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "retrieval.md"


@cache
def functions(file: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }


def test_the_list_is_complete() -> None:
    assert set(ITEMS) | LEFT_OUT == set(range(1, 61))
    assert not set(ITEMS) & LEFT_OUT


@pytest.mark.parametrize("number", sorted(ITEMS))
def test_the_tests_of_an_item_exist(number: int) -> None:
    item = ITEMS[number]
    assert item.tests or "benchmarks/" in item.ours
    for test in item.tests:
        file, _, name = test.partition("::")
        assert name in functions(TESTS / file), test


@pytest.mark.parametrize("number", sorted(n for n, item in ITEMS.items() if item.ours))
def test_where_another_rule_holds_the_page_says_so(number: int) -> None:
    assert f"| {number} | {ITEMS[number].ours} |" in PAGE.read_text("utf-8")
