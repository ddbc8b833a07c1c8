"""While the index is being built, every answer that is made from it says what it covers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from knapper import Domain
from knapper.caller import LOCAL, Caller
from knapper.dispatch.call import Outcome
from knapper.runtime import Runtime
from knapper.server.results import error_text
from knapper.testing import Calls, VaultFolder
from knapper_attachments import attachments
from knapper_bundles import bundles
from knapper_graph import graph
from knapper_links import links
from knapper_properties import properties
from knapper_retrieval import retrieval
from knapper_search import search
from knapper_tags import tags
from knapper_tasks import tasks
from knapper_vaults import vaults

CALLER = Caller("test", LOCAL, authenticated=True, session="test")
ASKED: list[tuple[Domain, str, dict[str, Any]]] = [
    (attachments, "list_attachments", {}),
    (bundles, "bundle_files", {"paths": ["a"]}),
    (graph, "graph_centrality", {}),
    (graph, "graph_communities", {}),
    (graph, "graph_path_between", {"from": "a.md", "to": "b.md"}),
    (graph, "get_link_strength", {"from": "a.md", "to": "b.md"}),
    (graph, "suggest_links", {"path": "a.md"}),
    (graph, "find_link_cycles", {}),
    (graph, "vault_health_score", {}),
    (links, "get_outgoing_links", {"path": "a.md"}),
    (links, "get_backlinks", {"path": "a.md"}),
    (links, "find_orphans", {}),
    (links, "find_unresolved_links", {}),
    (properties, "list_properties", {}),
    (properties, "find_notes_by_property", {"filter": [{"key": "a", "op": "exists"}]}),
    (search, "search_text", {"query": "word"}),
    (search, "search_regex", {"pattern": "w.rd"}),
    (search, "search_vault", {"query": "word", "mode": "text"}),
    (search, "search_jsonlogic", {"logic": {"==": [{"var": "name"}, "a"]}}),
    (tags, "list_tags", {}),
    (tags, "find_notes_by_tag", {"tag": "t"}),
    (tasks, "list_tasks", {}),
    (vaults, "get_vault", {}),
]
MISSED: list[tuple[Domain, str, dict[str, Any]]] = [
    (links, "get_outgoing_links", {"path": "c"}),
    (retrieval, "get_note", {"note_id": "0" * 32}),
]


@pytest.fixture
def half_indexed(call: Calls, vault: VaultFolder) -> Runtime:
    """A server that knows one note of two: it was stopped before it had compared all files."""
    vault["a.md"] = "[[b]] word #t\n"
    runtime = call.runtime(*{domain.slug: domain for domain, *_ in ASKED + MISSED}.values())
    runtime.vaults.get("main").index.refresh(["a.md"])
    vault["b.md"] = "[[a]] word #t\n"
    return runtime


def said(outcome: Outcome) -> Any:
    assert outcome.error is None, outcome.error
    return msgspec.json.decode(outcome.payload).get("incomplete")


@pytest.mark.parametrize(("domain", "tool", "arguments"), ASKED)
def test_an_answer_says_that_files_are_not_in_the_index_yet(
    half_indexed: Runtime, domain: Domain, tool: str, arguments: dict[str, Any]
) -> None:
    early = {**arguments, "to": "a.md"} if "to" in arguments else arguments
    assert said(half_indexed.call(tool, early, CALLER)) == (
        "indexing: the 1 files in the index are being compared with the vault"
    )
    half_indexed.vaults.get("main").index.reconcile()
    assert said(half_indexed.call(tool, arguments, CALLER)) is None


@pytest.mark.parametrize(("domain", "tool", "arguments"), MISSED)
def test_what_is_missed_may_be_among_what_is_not_in_the_index_yet(
    half_indexed: Runtime, domain: Domain, tool: str, arguments: dict[str, Any]
) -> None:
    early = half_indexed.call(tool, arguments, CALLER).error
    assert early is not None
    lacking = "indexing: the 1 files in the index are being compared with the vault"
    assert early["details"]["incomplete"] == lacking
    assert lacking in error_text(early).splitlines()
    half_indexed.vaults.get("main").index.reconcile()
    late = half_indexed.call(tool, arguments, CALLER).error
    assert late is not None
    assert "incomplete" not in late.get("details", {})


def test_the_list_of_vaults_says_of_each_what_its_counts_cover(half_indexed: Runtime) -> None:
    def only() -> Any:
        return msgspec.json.decode(half_indexed.call("list_vaults", {}, CALLER).payload)["vaults"][0]

    early = only()
    assert early["note_count"] == 1
    assert early["incomplete"] == "indexing: the 1 files in the index are being compared with the vault"
    half_indexed.vaults.get("main").index.reconcile()
    late = only()
    assert late["note_count"] == 2
    assert "incomplete" not in late


def test_how_many_files_are_in_is_told_while_notes_wait(half_indexed: Runtime) -> None:
    index = half_indexed.vaults.get("main").index
    seen = []

    def look(done: int, total: int) -> None:
        status = index.status()
        seen.append(
            (status.state, status.indexed, status.total, said(half_indexed.call("list_tags", {}, CALLER)))
        )

    index.reconcile(progress=look)
    assert seen == [
        ("indexing", 2, 2, "indexing: the 2 files in the index are being compared with the vault")
    ]
    assert index.status().state == "ready"


def test_a_server_started_anew_says_so_until_it_has_compared_the_files(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "#t\n"
    assert "incomplete" not in call(tags, "list_tags")
    call.close()
    vault["b.md"] = "#t\n"
    again = Calls(vault.path, vault.path.parent / "cache")
    try:
        runtime = again.runtime(tags)
        early = runtime.call("list_tags", {}, CALLER)
        assert said(early) == "indexing: the 1 files in the index are being compared with the vault"
        assert again(tags, "list_tags")["items"] == [{"tag": "t", "count": 2, "source": "inline"}]
        assert said(runtime.call("list_tags", {}, CALLER)) is None
    finally:
        again.close()
