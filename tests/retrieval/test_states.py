"""What answers say while the index is not level, budgets of a context, and what links add to a search."""

import json
import threading
from typing import Any

import pytest

from knapper.caller import LOCAL, Caller
from knapper.embed_http import QUERY_SECONDS
from knapper.errors import ConfigError, Refusal
from knapper.index.ids import note_id
from knapper.testing import Calls, VaultFolder
from knapper_retrieval import retrieval
from knapper_retrieval.context import tokens
from knapper_retrieval.routes import routes
from knapper_retrieval.upkeep import status

from .conftest import embed

ME = Caller("test", LOCAL, authenticated=True)
ID = note_id("a.md")
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "stone"}),
    ("related", {"type": "note", "id": ID}),
    ("get_note", {"note_id": ID}),
    ("get_chunk", {"note_id": ID, "chunk_index": 0}),
    ("vault_graph_search", {"query": "stone"}),
    ("vault_context", {"query": "stone"}),
]


@pytest.mark.parametrize(("tool", "arguments"), ASKED)
def test_a_fresh_index_is_said_to_be_fresh_and_warns_of_nothing(
    call: Calls, vault: VaultFolder, tool: str, arguments: dict[str, Any]
) -> None:
    vault["a.md"] = "stone"
    answer = call(retrieval, tool, **arguments)
    assert (answer["freshness"]["state"], answer["warnings"]) == ("fresh", [])
    assert (answer["freshness"]["indexed"], answer["freshness"]["total"]) == (1, 1)
    assert answer["freshness"]["last_successful_update_at"].endswith("+00:00")


@pytest.mark.parametrize(("tool", "arguments"), ASKED)
def test_an_index_in_trouble_answers_from_what_it_has_and_says_that_it_is_stale(
    call: Calls, vault: VaultFolder, tool: str, arguments: dict[str, Any]
) -> None:
    vault["a.md"] = "stone"
    runtime = call.runtime(retrieval)
    (one,) = runtime.vaults
    one.index.reconcile()
    one.index.fell_behind(OSError("the last run failed"))
    answer = json.loads(runtime.call(tool, arguments, ME).payload)
    assert [w["code"] for w in answer["warnings"]] == ["INDEX_STALE"]
    assert answer["freshness"]["state"] == "stale"


def test_an_index_under_way_answers_from_what_it_has_and_says_how_far_it_is(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "stone"
    vault["b.md"] = "flint"
    runtime = call.runtime(retrieval)
    (one,) = runtime.vaults
    one.index.reconcile()
    with one.index.db.write() as conn:
        conn.execute("UPDATE files SET pending = 1 WHERE path = 'b.md'")
    answer = runtime.call("search", {"query": "stone"}, ME)
    assert b'"INDEX_UPDATING"' in answer.payload
    assert b"the index is updating: 1 of 2 files; answers come from what it has" in answer.payload
    assert b'"path":"a.md"' in answer.payload


@pytest.mark.parametrize(("tool", "arguments"), [ASKED[0], ASKED[1], ASKED[4], ASKED[5]])
def test_before_anything_is_indexed_a_search_is_an_error_that_may_be_tried_again(
    call: Calls, vault: VaultFolder, tool: str, arguments: dict[str, Any]
) -> None:
    vault["a.md"] = "stone"
    error = call.runtime(retrieval).call(tool, arguments, ME).error
    assert error is not None
    assert (error["code"], error["retryable"]) == ("INDEX_NOT_FOUND", True)


def test_an_empty_vault_is_no_error_once_it_was_looked_at(call: Calls) -> None:
    assert call(retrieval, "search", query="stone")["results"] == []


def test_a_damaged_index_has_the_number_and_the_name_of_the_contract() -> None:
    assert retrieval.refusal("index_unavailable") == Refusal(-32002, "INDEX_INCOMPATIBLE")
    assert retrieval.refusal("operation_timeout") == Refusal(-32012, "TIMEOUT")
    assert retrieval.refusal("vault_not_found") == Refusal(-32013, "VAULT_NOT_CONFIGURED")
    assert retrieval.refusal("INVALID_QUERY") is None


def test_a_second_indexing_run_at_the_same_time_is_refused_and_reading_goes_on(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "stone"
    call.settings = {"retrieval": {"http": True}}
    runtime = call.runtime(retrieval)
    (one,) = runtime.vaults
    one.index.reconcile()
    begun, go_on = threading.Event(), threading.Event()

    def wait(done: int, total: int) -> None:
        begun.set()
        go_on.wait(30)

    run = threading.Thread(target=lambda: one.index.reconcile(force=True, progress=wait))
    run.start()
    try:
        assert begun.wait(30)
        (route,) = [r for r in routes() if r.path == "/index"]

        class Request:
            _body = b""

        answer = route.endpoint(runtime, ME, Request())
        assert (answer.status_code, b'"INDEX_BUSY"' in answer.body) == (409, True)
        assert b'"path":"a.md"' in runtime.call("search", {"query": "stone"}, ME).payload
    finally:
        go_on.set()
        run.join(30)
    assert not one.index.busy


def test_a_watch_that_cannot_stand_is_told_in_the_status_and_the_server_goes_on(
    call: Calls, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError("too many watches")

    monkeypatch.setattr("watchfiles.watch", refuse)
    vault["a.md"] = "stone"
    call.settings = {"watch": {"enabled": True}}
    runtime = call.runtime(retrieval)
    (one,) = runtime.vaults
    one.index.start()
    for _ in range(3000):
        if one.index.watch_problem and one.index.status().notes_ready:
            break
        threading.Event().wait(0.01)
    told, _ = status(runtime, ME, b"")
    assert told["watch"] == {"enabled": True, "running": False, "last_error": "WATCHER_UNAVAILABLE"}
    assert [r["path"] for r in call(retrieval, "search", query="stone")["results"]] == ["a.md"]


def test_every_route_spells_what_the_server_refuses_in_its_own_envelope() -> None:
    for route in routes():
        assert route.refuse is not None
        answer = route.refuse(500, "internal error")
        assert (answer.status_code, b'"code":"INTERNAL_ERROR"' in answer.body) == (500, True)
        assert b'"requestId"' in answer.body
        assert route.open is False


@pytest.mark.parametrize("budget", [100, 137, 250, 1000])
def test_a_context_never_exceeds_its_budget_however_long_names_and_headings_are(
    call: Calls, vault: VaultFolder, budget: int
) -> None:
    for n in range(8):
        deep = f"{'folder ' * 20}{n}/{'name ' * 15}{n}.md"
        headings = "\n\n".join(f"{'#' * level} {'heading ' * 12}{level}" for level in range(1, 6))
        vault[deep] = f"{headings}\n\n" + f"stone fact {n}. " * 40
    vault["日本.md"] = "# 石器\n\n" + "石器の作り方。stone " * 60
    packed = call(retrieval, "vault_context", query="stone fact 石器", max_tokens=budget)
    assert tokens(packed["context"]) <= packed["tokens"] <= budget
    assert packed["budget"] == budget
    if budget == 1000:
        assert packed["passages"] >= 2


def test_a_context_takes_a_smaller_passage_where_a_better_one_does_not_fit(
    call: Calls, vault: VaultFolder
) -> None:
    vault["long.md"] = "stone " * 600
    vault["short.md"] = "a stone lies here"
    packed = call(retrieval, "vault_context", query="stone", max_tokens=200)
    assert packed["truncated"] is True
    assert sum(len(s["chunk_ids"]) for s in packed["sources"]) == packed["passages"]
    assert tokens(packed["context"]) <= 200


def test_a_context_holds_at_most_four_passages_of_a_note(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "".join(f"# H{n}\n\nstone {n}\n\n" for n in range(9))
    vault["b.md"] = "stone elsewhere"
    packed = call(retrieval, "vault_context", query="stone")
    assert {s["path"]: len(s["chunk_ids"]) for s in packed["sources"]} == {"a.md": 4, "b.md": 1}


@pytest.mark.parametrize("meant", [False, True])
def test_over_links_more_of_the_notes_that_a_question_needs_are_found(
    meaning: Calls, vault: VaultFolder, meant: bool
) -> None:
    """Twenty questions that need two notes, of which the second shares no word with the question but is linked."""
    if not meant:
        meaning.settings = {"index": {"vectors": False}}
    questions: dict[str, set[str]] = {}
    for n in range(20):
        film, person = f"Film {NAMES[n]}.md", f"People/{NAMES[-1 - n]} Person{n}.md"
        vault[film] = f"The film {NAMES[n]} was directed by [[{NAMES[-1 - n]} Person{n}]]."
        vault[person] = f"Born beside the river{n} in a town of weavers."
        for k in range(3):
            vault[f"Reviews/{n}-{k}.md"] = f"A review of the film {NAMES[n]}, number {k}: long, slow, loud."
        questions[f"birthplace of whoever directed the film {NAMES[n]}"] = {film, person}
    if meant:
        embed(meaning, retrieval)

    def recall(tool: str, listed: str) -> float:
        hit = 0
        for question, wanted in questions.items():
            items = meaning(retrieval, tool, query=question, limit=10)[listed]
            hit += len(wanted & {item["path"] for item in items})
        return hit / (2 * len(questions))

    alone, over_links = recall("search", "results"), recall("vault_graph_search", "items")
    assert alone <= 0.75
    assert over_links == 1.0


NAMES = [
    *("Quarry", "Amber", "Basalt", "Cinder", "Dolmen", "Ember", "Facet", "Gneiss", "Harbour", "Indigo"),
    *("Jasper", "Kelp", "Lantern", "Marble", "Nettle", "Onyx", "Pumice", "Quiver", "Rowan", "Slate"),
    *("Tallow", "Umber", "Velvet", "Willow", "Xenon", "Yarrow", "Zephyr", "Arbour", "Bramble", "Cobalt"),
    *("Drift", "Elder", "Fennel", "Garnet", "Heron", "Ivory", "Juniper", "Kestrel", "Lichen", "Moss"),
]


def test_nothing_that_a_call_waits_for_may_take_longer_than_the_call_has(call: Calls) -> None:
    """A query's vector has 30 seconds at most, a second opinion 25."""
    assert QUERY_SECONDS + 25 < 60
    call.settings = {"retrieval": {"rerank": {"base_url": "http://127.0.0.1:9", "timeout_seconds": 26}}}
    with pytest.raises(ConfigError, match="less than or equal to 25"):
        call(retrieval, "search", query="x")
