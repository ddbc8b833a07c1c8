"""Every item of the contracts' acceptance lists is proven by tests that exist."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.acceptance import bridge, obsidian, retrieval

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"
LISTS: tuple[ModuleType, ...] = (retrieval, bridge, obsidian)

every = pytest.mark.parametrize("contract", LISTS, ids=lambda one: one.__name__.rpartition(".")[2])


@cache
def named_in(file: Path) -> set[str]:
    """The names of the tests that a file has."""
    return {
        node.name
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@every
def test_the_list_is_complete(contract: ModuleType) -> None:
    assert set(contract.ITEMS) | contract.LEFT_OUT == set(range(1, contract.LAST + 1))
    assert not set(contract.ITEMS) & contract.LEFT_OUT


@every
def test_the_tests_of_each_item_exist(contract: ModuleType) -> None:
    named = [test.partition("::") for item in contract.ITEMS.values() for test in item.tests]
    assert [f"{file}::{name}" for file, _, name in named if name not in named_in(TESTS / file)] == []


@every
def test_an_item_without_tests_is_measured(contract: ModuleType) -> None:
    for item in contract.ITEMS.values():
        if not item.tests:
            (script,) = (word for word in item.ours.split() if word.startswith("benchmarks/"))
            assert (TESTS.parent / script.rstrip(",")).is_file()


@every
def test_where_another_rule_holds_the_page_says_so(contract: ModuleType) -> None:
    page = (DOCS / contract.PAGE).read_text("utf-8")
    section = page.partition("\n## The contract, and where another rule holds\n")[2].partition("\n## ")[0]
    listed = [line for line in section.splitlines() if line.startswith("| ") and line.split()[1].isdecimal()]
    wanted = [f"| {number} | {item.ours} |" for number, item in sorted(contract.ITEMS.items()) if item.ours]
    assert listed == wanted
