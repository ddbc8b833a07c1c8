import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_graph import graph, measures
from knapper_graph.measures import Graph


def ring(vault: VaultFolder) -> None:
    """Two triangles, a-b-c and x-y-z, with one link from c to x, and a lonely note."""
    for name, targets in {"a": "b", "b": "c", "c": "a x", "x": "y", "y": "z", "z": "x"}.items():
        vault[f"{name}.md"] = " ".join(f"[[{target}]]" for target in targets.split()) + "\n"
    vault["lonely.md"] = "nothing\n"


def test_the_most_linked_note_ranks_first_and_ranks_add_up(call: Calls, vault: VaultFolder) -> None:
    ring(vault)
    page = call(graph, "graph_centrality")
    assert page["items"][0]["path"] == "x.md"
    assert page["total_count"] == 7
    assert sum(item["score"] for item in page["items"]) == pytest.approx(1, abs=1e-6)


def test_degree_and_betweenness_are_counted(call: Calls, vault: VaultFolder) -> None:
    ring(vault)
    degree = {i["path"]: i["score"] for i in call(graph, "graph_centrality", measure="degree")["items"]}
    assert (degree["c.md"], degree["x.md"], degree["lonely.md"]) == (3, 3, 0)
    between = {i["path"]: i["score"] for i in call(graph, "graph_centrality", measure="betweenness")["items"]}
    assert between["c.md"] == 7.0
    assert between["lonely.md"] == 0


def test_communities_are_the_triangles(call: Calls, vault: VaultFolder) -> None:
    ring(vault)
    groups = call(graph, "graph_communities")["items"]
    assert [g["paths"] for g in groups] == [["a.md", "b.md", "c.md"], ["x.md", "y.md", "z.md"]]


def test_a_shortest_way_is_found_in_and_against_the_direction_of_links(
    call: Calls, vault: VaultFolder
) -> None:
    ring(vault)
    way = call(graph, "graph_path_between", from_="a", to="z", directed=True)
    assert (way["path"], way["hops"]) == (["a.md", "b.md", "c.md", "x.md", "y.md", "z.md"], 5)
    assert call(graph, "graph_path_between", from_="a", to="z")["hops"] == 3
    assert call(graph, "graph_path_between", from_="a", to="lonely") == {"found": False, "path": []}


def test_strength_counts_links_each_way_and_shared_neighbours(call: Calls, vault: VaultFolder) -> None:
    ring(vault)
    tie = call(graph, "get_link_strength", from_="a", to="b")
    assert (tie["forward"], tie["backward"], tie["shared_neighbours"]) == (1, 0, ["c.md"])


def test_notes_with_shared_neighbours_are_suggested_and_linked_ones_are_not(
    call: Calls, vault: VaultFolder
) -> None:
    ring(vault)
    found = [s["path"] for s in call(graph, "suggest_links", path="a")["suggestions"]]
    assert found == ["x.md"]


def test_cycles_are_the_sets_that_reach_each_other(call: Calls, vault: VaultFolder) -> None:
    ring(vault)
    assert [c["paths"] for c in call(graph, "find_link_cycles")["items"]] == [
        ["a.md", "b.md", "c.md"],
        ["x.md", "y.md", "z.md"],
    ]


def test_the_health_of_a_vault_is_scored_from_its_parts(call: Calls, vault: VaultFolder) -> None:
    ring(vault)
    vault["bad.md"] = "---\na: [\n---\n[[missing]]\n"
    health = call(graph, "vault_health_score")
    assert (
        health["notes"],
        health["orphans"],
        health["unresolved_targets"],
        health["broken_properties"],
    ) == (8, 2, 1, 1)
    assert 0 < health["score"] < 100


def test_an_unreadable_note_is_no_bridge(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"], vault["open/b.md"], vault["closed/m.md"] = "[[m]]", "text", "[[b]]"
    call.settings["acl"] = {"read_paths": ["open/**"]}
    assert call(graph, "graph_path_between", from_="a", to="b")["found"] is False
    assert call(graph, "graph_centrality")["total_count"] == 2


ASKING = Path(__file__).with_name("asking.py")
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("graph_centrality", {}),
    ("graph_centrality", {"measure": "degree"}),
    ("graph_centrality", {"measure": "betweenness"}),
    ("graph_communities", {}),
    ("graph_path_between", {"from_": "a", "to": "z"}),
    ("get_link_strength", {"from_": "a", "to": "b"}),
    ("suggest_links", {"path": "a"}),
    ("find_link_cycles", {}),
    ("vault_health_score", {}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_what_a_caller_may_not_read_changes_no_answer(
    call: Calls, vault: VaultFolder, tool: str, arguments: dict[str, Any]
) -> None:
    ring(vault)
    vault["a.md"] += "#shared\n"
    before = call(graph, tool, **arguments)
    vault["closed/h.md"] = "#shared [[a]] [[b]] [[z]] [[missing]] [[i]]\n"
    vault["closed/i.md"] = "---\nx: [\n---\n[[h]] [[z]] #shared\n"
    assert call(graph, tool, **arguments) != before or tool in ("get_link_strength", "find_link_cycles")
    hiding = Calls(vault.path, vault.path.parent / "other cache")
    hiding.settings["acl"] = {"read_paths": ["*.md"]}
    try:
        assert hiding(graph, tool, **arguments) == before
    finally:
        hiding.close()


def test_the_same_vault_has_the_same_answers_in_any_process(tmp_path: Path, vault: VaultFolder) -> None:
    ring(vault)
    for n in range(40):
        vault[f"n{n}.md"] = f"[[n{(n * 7) % 40}]] [[n{(n * n) % 40}]] [[a]] #t{n % 5}\n"
    answers = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, str(ASKING), str(vault.path), str(tmp_path / seed), json.dumps(CALLS)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        answers.add(done.stdout)
    assert len(answers) == 1
    assert len(answers.pop().splitlines()) == len(CALLS)


def test_a_note_without_links_is_suggested_for_its_tags(call: Calls, vault: VaultFolder) -> None:
    ring(vault)
    vault["lonely.md"], vault["p.md"] = "#rare\n", "#rare\n"
    assert call(graph, "suggest_links", path="lonely")["suggestions"] == [
        {"path": "p.md", "score": 0.25, "reason": "shared tags"}
    ]


def test_an_empty_vault_has_no_health(call: Calls, vault: VaultFolder) -> None:
    with pytest.raises(ToolError) as refused:
        call(graph, "vault_health_score")
    assert refused.value.code == "invalid_input"


def test_a_long_chain_does_not_exhaust_the_stack() -> None:
    nodes = [f"{n:05d}" for n in range(20_000)]
    net = Graph.of(nodes, [(a, b, 1) for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True)])
    assert [len(group) for group in measures.cycles(net)] == [20_000]


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(graph)
