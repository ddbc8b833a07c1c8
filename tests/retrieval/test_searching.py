"""Passages for a query: modes, order, snippets, warnings."""

import logging
import re
from typing import Any

import pytest

from knapper.errors import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_retrieval import retrieval
from knapper_retrieval.ranking import fuse

from .conftest import Given, embed


def code(call: Calls, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(retrieval, tool, **arguments)
    return caught.value.code


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(retrieval)


def test_lexical_search_works_without_a_model_and_warns_of_nothing(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "# Stones\n\nobsidian flakes\n"
    found = call(retrieval, "search", query="obsidian")
    assert (found["used_mode"], found["requested_mode"], found["warnings"]) == ("lexical", "hybrid", [])
    assert [r["path"] for r in found["results"]] == ["a.md"]
    assert found["freshness"]["state"] == "fresh"
    assert found["freshness"]["embedding_state"] == "disabled"


def test_a_result_has_every_field_of_the_contract(call: Calls, vault: VaultFolder) -> None:
    vault["Folder/Note.md"] = (
        "---\naliases: [Knife]\ntags: [stone]\ndate: 2024-01-02\n---\n# Tools\n\n## Blades\n\n"
        "An obsidian blade, with ![[pic.png]].\n"
    )
    vault["pic.png"] = "x"
    (result,) = call(retrieval, "search", query="obsidian")["results"]
    assert result == {
        "id": "25f3d35e3c78fe8816cd66be70038769:0",
        "type": "chunk",
        "note_id": "25f3d35e3c78fe8816cd66be70038769",
        "chunk_index": 0,
        "path": "Folder/Note.md",
        "title": "Tools",
        "heading": "Blades",
        "heading_path": ["Tools", "Blades"],
        "snippet": "",
        "score": 1.0,
        "reason": "lexical_match",
        "metadata": {
            "aliases": ["Knife"],
            "tags": ["stone"],
            "date": "2024-01-02",
            "created": None,
            "updated": None,
            "attachment_count": 1,
        },
    }


def test_the_best_note_by_words_comes_first(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a stone among many other words that fill this note up to some length"
    vault["b.md"] = "stone stone tools"
    vault["c.md"] = "nothing"
    assert [r["path"] for r in call(retrieval, "search", query="stone tools")["results"]] == ["b.md", "a.md"]


def test_fusion_is_the_sum_of_reciprocal_ranks() -> None:
    found = fuse({"words": [1, 2, 3], "meaning": [3, 1, 4]}, 60)
    most = 2 / 61
    assert [(f.chunk, round(f.score, 6)) for f in found] == [
        (1, round((1 / 61 + 1 / 62) / most, 6)),
        (3, round((1 / 63 + 1 / 61) / most, 6)),
        (2, round((1 / 62) / most, 6)),
        (4, round((1 / 63) / most, 6)),
    ]


def test_equal_sums_keep_the_order_of_the_lists() -> None:
    assert [f.chunk for f in fuse({"words": [7, 5], "meaning": [5, 7]}, 60)] == [7, 5]
    assert [f.chunk for f in fuse({"words": [7, 5], "meaning": [5, 7]}, 60)] == [7, 5]


def test_scores_lie_between_nought_and_one_and_never_rise(meaning: Calls, vault: VaultFolder) -> None:
    for n in range(12):
        vault[f"{n}.md"] = f"stone {'tool ' * n} and cat {n}"
    embed(meaning, retrieval)
    for mode in ("lexical", "embedding", "hybrid"):
        scores = [r["score"] for r in meaning(retrieval, "search", query="stone tool", mode=mode)["results"]]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert len(scores) == 10


@pytest.mark.parametrize("query", ["検索", "全文検", "文検索機"])
def test_japanese_is_found_in_the_middle_of_a_run(call: Calls, vault: VaultFolder, query: str) -> None:
    vault["ja.md"] = "このノートは全文検索機能について書かれている。"
    vault["other.md"] = "これは別のノートです。"
    assert [r["path"] for r in call(retrieval, "search", query=query)["results"]] == ["ja.md"]


def test_accents_do_not_keep_words_apart(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "Un résumé à lire"
    assert [r["path"] for r in call(retrieval, "search", query="resume")["results"]] == ["a.md"]


@pytest.mark.parametrize(
    "query", ['"', "*", "NEAR(a b)", "a OR", "stone AND NOT", "body:stone", "^x", "{a} + (", "-"]
)
def test_nothing_in_a_query_acts_as_syntax(call: Calls, vault: VaultFolder, query: str) -> None:
    vault["a.md"] = "plain text without any of it"
    call(retrieval, "search", query=query)


def test_not_does_not_exclude(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "stone knife"
    assert [r["path"] for r in call(retrieval, "search", query="stone NOT knife")["results"]] == ["a.md"]


@pytest.mark.parametrize(
    ("state", "mode", "used", "warnings"),
    [
        ("off", None, "lexical", []),
        ("off", "lexical", "lexical", []),
        ("off", "hybrid", "lexical", ["EMBEDDING_UNAVAILABLE"]),
        ("off", "embedding", None, []),
        ("ready", None, "hybrid", []),
        ("ready", "lexical", "lexical", []),
        ("ready", "hybrid", "hybrid", []),
        ("ready", "embedding", "embedding", []),
        ("down", None, "lexical", ["EMBEDDING_UNAVAILABLE"]),
        ("down", "lexical", "lexical", []),
        ("down", "hybrid", "lexical", ["EMBEDDING_UNAVAILABLE"]),
        ("down", "embedding", None, []),
    ],
)
def test_every_mode_does_what_the_contract_says_in_every_state(
    call: Calls, vault: VaultFolder, state: str, mode: str | None, used: str | None, warnings: list[str]
) -> None:
    vault["a.md"] = "a cat sleeps on the stone"
    if state != "off":
        call.plugins = [Given()]
        call.settings = {"embeddings": {"provider": "counts" if state == "ready" else "down"}}
    if state == "ready":
        embed(call, retrieval)
    arguments = {"query": "stone"} | ({"mode": mode} if mode else {})
    if used is None:
        assert code(call, "search", **arguments) == "EMBEDDING_UNAVAILABLE"
        return
    found = call(retrieval, "search", **arguments)
    assert (found["used_mode"], [w["code"] for w in found["warnings"]]) == (used, warnings)
    assert [r["path"] for r in found["results"]] == ["a.md"]


def test_meaning_finds_what_words_do_not(meaning: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "the kitten sleeps"
    vault["b.md"] = "taxes are due"
    embed(meaning, retrieval)
    found = meaning(retrieval, "search", query="feline")["results"]
    assert (found[0]["path"], found[0]["reason"]) == ("a.md", "embedding_match")


@pytest.mark.parametrize("limit", [0, 51, -1])
def test_a_limit_out_of_range_is_refused(call: Calls, limit: int) -> None:
    assert code(call, "search", query="x", limit=limit) == "INVALID_LIMIT"


@pytest.mark.parametrize("limit", [1.5, "5"])
def test_a_limit_of_another_type_is_refused(call: Calls, limit: Any) -> None:
    assert code(call, "search", query="x", limit=limit) == "validation_error"


@pytest.mark.parametrize("limit", [1, 50])
def test_the_outermost_limits_are_allowed(call: Calls, limit: int) -> None:
    assert call(retrieval, "search", query="x", limit=limit)["limit"] == limit


@pytest.mark.parametrize("query", ["", "  \n", "x" * 1001])
def test_a_blank_or_endless_query_is_refused(call: Calls, query: str) -> None:
    assert code(call, "search", query=query) == "INVALID_QUERY"


def test_a_mode_that_is_none_is_refused(call: Calls) -> None:
    assert code(call, "search", query="x", mode="fuzzy") == "INVALID_MODE"


def test_no_answer_and_no_log_holds_the_query(
    call: Calls, vault: VaultFolder, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    vault["a.md"] = "something else"
    outcome = call.outcome(retrieval, "search", query="xylophonic")
    assert b"xylophonic" not in outcome.payload
    assert "xylophonic" not in caplog.text


def test_a_snippet_is_short_shows_the_match_and_is_never_the_whole(call: Calls, vault: VaultFolder) -> None:
    vault["long.md"] = "filler words go here " * 60 + "the obsidian needle " + "and on it goes " * 60
    vault["short.md"] = "obsidian"
    results = {r["path"]: r["snippet"] for r in call(retrieval, "search", query="obsidian needle")["results"]}
    assert len(results["long.md"]) <= 240
    assert "obsidian needle" in results["long.md"]
    assert results["short.md"] == ""


def test_an_empty_note_is_found_by_its_name_after_all_passages(call: Calls, vault: VaultFolder) -> None:
    vault["Obsidian empty.md"] = ""
    vault["a.md"] = "obsidian here"
    found = call(retrieval, "search", query="obsidian")["results"]
    assert [(r["path"], r["type"]) for r in found] == [("a.md", "chunk"), ("Obsidian empty.md", "note")]
    assert (found[1]["score"], found[1]["chunk_index"], found[1]["heading_path"]) == (0.5, None, [])


def test_a_note_that_is_too_large_is_found_by_its_name(call: Calls, vault: VaultFolder) -> None:
    vault["giant scroll.md"] = "x" * 2_097_153
    (found,) = call(retrieval, "search", query="scroll")["results"]
    assert (found["type"], found["path"]) == ("note", "giant scroll.md")


def test_fenced_headings_are_text_and_searchable(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "# Real\n\n```\n# fenced zebra\n```\n\n~~~\n# tilde zebra\n~~~\n"
    (result,) = call(retrieval, "search", query="zebra")["results"]
    assert result["heading_path"] == ["Real"]


def test_two_builds_of_the_index_answer_the_same(meaning: Calls, vault: VaultFolder) -> None:
    for n in range(20):
        vault[f"{n}.md"] = f"stone number {n % 4} cat"
    embed(meaning, retrieval)
    first = [r["id"] for r in meaning(retrieval, "search", query="stone cat", limit=20)["results"]]
    (one,) = meaning.runtime(retrieval).vaults
    one.index.reconcile(force=True)
    one.index.vectors.embed_now()
    assert [r["id"] for r in meaning(retrieval, "search", query="stone cat", limit=20)["results"]] == first


def test_reciprocal_ranks_can_be_chosen_for_meaning_too(meaning: Calls, vault: VaultFolder) -> None:
    meaning.settings |= {"retrieval": {"fusion": "rrf"}}
    vault["a.md"] = "cat cat cat"
    vault["b.md"] = "feline and stone"
    embed(meaning, retrieval)
    found = meaning(retrieval, "search", query="stone")["results"]
    assert found[0]["path"] == "b.md"
    assert found[0]["score"] == 1.0


def test_a_failing_model_at_index_time_leaves_words_working(call: Calls, vault: VaultFolder) -> None:
    call.plugins = [Given()]
    call.settings = {"embeddings": {"provider": "down"}}
    vault["a.md"] = "stone"
    (one,) = call.runtime(retrieval).vaults
    one.index.reconcile()
    with pytest.raises(ToolError, match="down: cannot be reached"):
        one.index.vectors.embed_now()
    assert [r["path"] for r in call(retrieval, "search", query="stone", mode="lexical")["results"]] == [
        "a.md"
    ]


def test_ids_have_their_form(call: Calls, vault: VaultFolder) -> None:
    vault["メモ/日記.md"] = "stone"
    (result,) = call(retrieval, "search", query="stone")["results"]
    assert result["note_id"] == "5a547c1ddb5a9e520f88b27a7438d366"
    assert re.fullmatch(r"[0-9a-f]{32}:\d+", result["id"])


@pytest.mark.parametrize("slip", ["obsidan", "obsidiann", "obsidain", "obsidien", "OBSDIAN"])
def test_a_word_that_no_note_has_is_taken_for_the_nearest_one_that_is(
    call: Calls, vault: VaultFolder, slip: str
) -> None:
    vault["a.md"] = "# Stone\nobsidian is a glass"
    vault["b.md"] = "# Other\nbasalt is none"
    (found,) = call(retrieval, "search", query=f"what is {slip} like", mode="lexical")["results"][:1]
    assert found["path"] == "a.md"
    assert [r["path"] for r in call(retrieval, "search", query=slip, mode="lexical")["results"]] == ["a.md"]


def test_a_word_that_is_there_in_any_form_is_meant_as_it_is_written(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "stones in a row"
    vault["b.md"] = "a stove and stoves"
    assert [r["path"] for r in call(retrieval, "search", query="stone", mode="lexical")["results"]] == [
        "a.md"
    ]


def test_no_slip_leads_to_a_word_of_notes_that_may_not_be_read(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    vault["open/a.md"] = "obsidian is a glass"
    vault["secret/b.md"] = "obsidiam " * 20
    found = call(retrieval, "search", query="obsidiam", mode="lexical")["results"]
    assert [r["path"] for r in found] == ["open/a.md"]


def test_an_empty_note_is_found_by_its_name_however_many_passages_there_are(
    meaning: Calls, vault: VaultFolder
) -> None:
    for n in range(15):
        vault[f"{n}.md"] = f"some text number {n}"
    vault["Reading list.md"] = ""
    vault["Shopping list.md"] = ""
    embed(meaning, retrieval)
    found = meaning(retrieval, "search", query="reading list")
    assert found["used_mode"] == "hybrid"
    assert [r["type"] for r in found["results"]] == ["chunk"] * 9 + ["note"]
    assert found["results"][-1]["path"] == "Reading list.md"
    assert found["results"][-1]["score"] <= found["results"][-2]["score"]
    (alone,) = meaning(retrieval, "search", query="reading list", limit=1)["results"]
    assert alone["type"] == "chunk"
