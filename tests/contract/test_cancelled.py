"""A call that its client has cancelled comes to an end while it works, not when it is done."""

from __future__ import annotations

from typing import Any

import pytest

from knapper.script.budget import Budget as ScriptBudget
from knapper_bases.engine.budget import Budget as BasesBudget
from knapper_dataview.engine.budget import Budget as DataviewBudget
from tests.contract.surface import Server

BEFORE = 3  # looks of the gates before the tool begins
LONG: list[tuple[str, dict[str, Any]]] = [
    ("graph_centrality", {"measure": "pagerank"}),
    ("graph_centrality", {"measure": "degree"}),
    ("graph_centrality", {"measure": "betweenness"}),
    ("graph_communities", {}),
    ("index_vault", {"force": True}),
    ("read_notes", {"paths": ["Open/a.md"]}),
    ("search_dql", {"dql": 'LIST WHERE regexmatch("a+", file.name)'}),
    ("search_regex", {"pattern": r"(\w+ ?)+\d{9}x"}),
]


@pytest.mark.parametrize(("tool", "arguments"), LONG)
def test_a_long_tool_ends_where_its_call_is_cancelled(
    server: Server, tool: str, arguments: dict[str, Any]
) -> None:
    looks = 0

    def cancelled() -> bool:
        nonlocal looks
        looks += 1
        return looks > BEFORE

    outcome = server.call(tool, arguments, cancelled=cancelled)
    assert outcome.error is not None
    assert outcome.error["code"] == "aborted"


class Gone(Exception):
    """Nobody waits any more."""


@pytest.mark.parametrize("budget", [BasesBudget, DataviewBudget, ScriptBudget])
def test_an_engine_looks_whether_anybody_waits_with_every_look_at_the_clock(budget: Any) -> None:
    def look() -> None:
        raise Gone

    spent = budget(look=look)

    def work() -> None:
        for _ in range(10_000):
            spent.spend(1)

    with pytest.raises(Gone):
        work()
