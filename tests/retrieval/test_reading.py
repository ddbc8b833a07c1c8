"""Notes and passages by id, what is related to them, what they link with, and a context packed from them."""

import threading
from typing import Any

import pytest

from knapper.errors import CODES, ToolError
from knapper.index.ids import chunk_id, note_id
from knapper.testing import Calls, VaultFolder
from knapper.testing_http import Asked, Reply, loopback
from knapper_retrieval import retrieval
from knapper_retrieval.context import tokens

from .conftest import Given, embed


def code(call: Calls, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(retrieval, tool, **arguments)
    return caught.value.code


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("Folder/Note.md", "25f3d35e3c78fe8816cd66be70038769"),
        ("Note.md", "4227dc78a3351ae5f0865f34979018b7"),
        ("メモ/日記.md", "5a547c1ddb5a9e520f88b27a7438d366"),
        ("./Folder/./Note.md", "25f3d35e3c78fe8816cd66be70038769"),
    ],
)
def test_ids_come_from_paths(path: str, id: str) -> None:
    assert note_id(path) == id
    assert chunk_id(path, 3) == f"{id}:3"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("INVALID_QUERY", -32000),
        ("INVALID_ID", -32000),
        ("INDEX_NOT_FOUND", -32001),
        ("NOTE_NOT_FOUND", -32004),
        ("CHUNK_NOT_FOUND", -32005),
        ("EMBEDDING_UNAVAILABLE", -32007),
        ("QUERY_TOO_LARGE", -32008),
    ],
)
def test_errors_have_their_numbers(name: str, number: int) -> None:
    assert CODES[name].number == number


def test_a_note_comes_whole_with_links_and_attachments(call: Calls, vault: VaultFolder) -> None:
    text = "---\ntitle: Mine\ntags: a\n---\n[[B]] [[nowhere]] ![[p.png]]\n```\n[[fenced]]\n```\n"
    vault["a.md"] = text
    vault["B.md"] = "b"
    vault["p.png"] = "x"
    note = call(retrieval, "get_note", note_id=note_id("a.md"))
    assert note["content"] == text
    assert (note["title"], note["path"], note["size"]) == ("Mine", "a.md", len(text))
    assert note["content_type"] == "text/markdown; charset=utf-8"
    assert note["links"] == {
        "resolved": [{"target": "B", "path": "B.md", "note_id": note_id("B.md")}],
        "unresolved": ["nowhere"],
    }
    assert note["attachments"] == ["p.png"]
    assert (note["warnings"], note["freshness"]["state"]) == ([], "fresh")


def test_a_note_without_links_has_no_list_of_them(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "plain"
    note = call(retrieval, "get_note", note_id=note_id("a.md"))
    assert "links" not in note
    assert "attachments" not in note


@pytest.mark.parametrize(("text", "title"), [("---\ntitle: T\n---\n# H\n", "T"), ("# H\n", "H"), ("x", "a")])
def test_a_title_is_the_property_else_the_heading_else_the_name(
    call: Calls, vault: VaultFolder, text: str, title: str
) -> None:
    vault["a.md"] = text + "\nstone\n"
    assert call(retrieval, "get_note", note_id=note_id("a.md"))["title"] == title
    assert call(retrieval, "search", query="stone")["results"][0]["title"] == title


def test_a_note_over_the_limit_needs_leave(call: Calls, vault: VaultFolder) -> None:
    vault["fits.md"] = "x" * 204_800
    vault["over.md"] = "x" * 204_801
    assert call(retrieval, "get_note", note_id=note_id("fits.md"))["size"] == 204_800
    assert code(call, "get_note", note_id=note_id("over.md")) == "QUERY_TOO_LARGE"
    assert call(retrieval, "get_note", noteId=note_id("over.md"), allowLarge=True)["size"] == 204_801


def test_an_empty_note_can_be_read_and_has_no_passages(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = ""
    assert call(retrieval, "get_note", note_id=note_id("a.md"))["content"] == ""
    assert code(call, "get_chunk", note_id=note_id("a.md"), chunk_index=0) == "CHUNK_NOT_FOUND"


def test_a_passage_comes_with_its_headings(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "intro\n\n# One\n\nfirst\n\n### Deep\n\nsecond\n\n## Two\n\nthird\n"
    chunks = [call(retrieval, "get_chunk", note_id=note_id("a.md"), chunk_index=n) for n in range(4)]
    assert [(c["content"], c["heading"], c["heading_path"]) for c in chunks] == [
        ("intro", None, []),
        ("first", "One", ["One"]),
        ("second", "Deep", ["One", "Deep"]),
        ("third", "Two", ["One", "Two"]),
    ]
    assert [c["id"] for c in chunks] == [f"{note_id('a.md')}:{n}" for n in range(4)]


def test_sections_are_cut_at_their_limits(call: Calls, vault: VaultFolder) -> None:
    vault["fits.md"] = "x" * 4000
    vault["over.md"] = ("word " * 300).strip() + "\n\n" + ("word " * 501).strip()
    vault["hard.md"] = "y" * 9000
    lengths: dict[str, list[int]] = {}
    for name in ("fits", "over", "hard"):
        lengths[name] = []
        for n in range(10):
            try:
                chunk = call(retrieval, "get_chunk", note_id=note_id(f"{name}.md"), chunk_index=n)
            except ToolError:
                break
            lengths[name].append(len(chunk["content"]))
    assert lengths == {"fits": [4000], "over": [1499, 2504], "hard": [4000, 4000, 1000]}


@pytest.mark.parametrize("blank", ["\r\n\r\n", "\n \t\n"])
def test_a_section_is_cut_at_blank_lines_however_they_are_written(
    call: Calls, vault: VaultFolder, blank: str
) -> None:
    vault["a.md"] = blank.join(letter * 900 for letter in "abcde")
    chunks = [
        call(retrieval, "get_chunk", note_id=note_id("a.md"), chunk_index=n)["content"] for n in range(2)
    ]
    assert [chunk.split() for chunk in chunks] == [["a" * 900, "b" * 900], ["c" * 900, "d" * 900, "e" * 900]]


@pytest.mark.parametrize("id", ["x", "A" * 32, "0" * 31, "../a.md", f"{'0' * 32}:0"])
def test_what_is_no_id_is_refused(call: Calls, id: str) -> None:
    assert code(call, "get_note", note_id=id) == "INVALID_ID"


def test_an_unknown_id_is_not_found(call: Calls) -> None:
    assert code(call, "get_note", note_id="0" * 32) == "NOTE_NOT_FOUND"
    assert code(call, "get_chunk", note_id="0" * 32, chunk_index=0) == "CHUNK_NOT_FOUND"
    assert code(call, "related", type="note", id="0" * 32) == "NOTE_NOT_FOUND"
    assert code(call, "related", type="chunk", id="0" * 32 + ":0") == "CHUNK_NOT_FOUND"
    assert code(call, "related", type="page", id="0" * 32) == "INVALID_TYPE"
    assert code(call, "get_chunk", note_id="0" * 32, chunk_index=-1) == "INVALID_PARAMETER"


def test_an_id_of_a_note_that_may_not_be_read_is_unknown(call: Calls, vault: VaultFolder) -> None:
    vault["secret/a.md"] = "stone"
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    assert code(call, "get_note", note_id=note_id("secret/a.md")) == "NOTE_NOT_FOUND"
    assert code(call, "related", type="note", id=note_id("secret/a.md")) == "NOTE_NOT_FOUND"


def test_related_leaves_out_the_note_itself_and_names_the_reason(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "obsidian knapping flakes [[Linked]]\n\n# More\n\nobsidian again\n"
    vault["b.md"] = "flakes of obsidian from knapping"
    vault["Linked.md"] = "nothing shared whatsoever"
    vault["c.md"] = "unconnected"
    found = call(retrieval, "related", type="note", id=note_id("a.md"))
    assert found["input"] == {"type": "note", "id": note_id("a.md")}
    assert found["used_mode"] == "lexical"
    reasons = {r["path"]: r["reason"] for r in found["results"]}
    assert reasons == {"b.md": "related_lexical", "Linked.md": "related_link"}


def test_related_to_a_passage_leaves_out_only_that_passage(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "# One\n\nobsidian flakes\n\n# Two\n\nobsidian flakes again\n"
    found = call(retrieval, "related", type="chunk", id=chunk_id("a.md", 0))
    assert [r["id"] for r in found["results"]] == [chunk_id("a.md", 1)]


def test_related_by_meaning_is_the_default_where_there_are_vectors(
    meaning: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "the cat sleeps"
    vault["b.md"] = "a kitten sleeps"
    vault["c.md"] = "tax law"
    embed(meaning, retrieval)
    found = meaning(retrieval, "related", type="note", id=note_id("a.md"))
    assert (found["used_mode"], found["results"][0]["path"]) == ("embedding", "b.md")
    assert found["results"][0]["reason"] == "related_embedding"


def test_related_says_when_meaning_is_down(call: Calls, vault: VaultFolder) -> None:
    call.plugins = [Given()]
    call.settings = {"embeddings": {"provider": "down"}}
    vault["a.md"] = "obsidian"
    vault["b.md"] = "obsidian"
    found = call(retrieval, "related", type="note", id=note_id("a.md"))
    assert (found["used_mode"], [w["code"] for w in found["warnings"]]) == (
        "lexical",
        ["EMBEDDING_UNAVAILABLE"],
    )
    assert code(call, "related", type="note", id=note_id("a.md"), mode="embedding") == "EMBEDDING_UNAVAILABLE"


def test_a_walk_over_links_finds_what_the_words_do_not(call: Calls, vault: VaultFolder) -> None:
    vault["film.md"] = "The film Quarry was directed by [[Ada Flint]]."
    vault["Ada Flint.md"] = "Born in Bergen."
    for n in range(8):
        vault[f"{n}.md"] = f"film {n}"
    found = call(retrieval, "vault_graph_search", query="where was the director of the film Quarry from")
    by_path = {item["path"]: item for item in found["items"]}
    reached = by_path["Ada Flint.md"]
    assert (reached["source"], reached["hop"], reached["root_seed"]) == ("expansion", 1, "film.md")
    assert reached["via_edge"] == {"type": "links_to", "source_path": "film.md"}
    assert found["items"][0]["path"] == "film.md"
    assert found["items"][0]["source"] == "seed"
    assert not call(retrieval, "vault_graph_search", query="film Quarry", hops=0)["expanded"]


def test_a_walk_never_goes_through_what_may_not_be_read(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = "quarry [[bridge]]"
    vault["secret/bridge.md"] = "[[beyond]]"
    vault["open/beyond.md"] = "far away"
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    found = call(retrieval, "vault_graph_search", query="quarry", hops=3)
    assert [item["path"] for item in found["items"]] == ["open/a.md"]


def test_a_context_stays_within_its_budget_and_names_its_sources(call: Calls, vault: VaultFolder) -> None:
    for n in range(6):
        vault[f"n{n}.md"] = f"# Note {n}\n\n## Stone\n\n" + f"stone fact {n}. " * 60
    packed = call(retrieval, "vault_context", query="stone fact", max_tokens=600)
    assert tokens(packed["context"]) <= 600
    assert packed["tokens"] <= 600
    assert packed["truncated"] is True
    assert packed["passages"] == sum(len(s["chunk_ids"]) for s in packed["sources"])
    for source in packed["sources"]:
        assert f"## {source['title']} ({source['path']})" in packed["context"]
        assert source["lines"] == [5]


def test_a_context_groups_the_passages_of_a_note_in_their_order(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "# A\n\n## First\n\nstone\n\n## Second\n\nstone stone stone\n"
    packed = call(retrieval, "vault_context", query="stone")
    assert packed["context"] == "## A (a.md)\n\n### First\nstone\n\n### Second\nstone stone stone"
    assert packed["truncated"] is False


def rerank_by_length(asked: Asked) -> Reply:
    texts = asked.body["documents"]
    scores = [{"index": n, "relevance_score": float(len(t))} for n, t in enumerate(texts)]
    return Reply({"results": scores})


def test_a_second_opinion_changes_the_order(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "stone stone stone"
    vault["b.md"] = "stone and a good deal of other text after it"
    assert call(retrieval, "search", query="stone")["results"][0]["path"] == "a.md"
    with loopback(rerank_by_length) as server:
        call._runtimes.clear()
        call.settings = {"retrieval": {"rerank": {"base_url": server.url, "model": "m", "api_key": "k"}}}
        found = call(retrieval, "search", query="stone")
    assert (found["rerank"], found["results"][0]["path"]) == ("executed", "b.md")
    assert server.asked[0].path == "/rerank"
    assert server.asked[0].headers["authorization"] == "Bearer k"
    assert (server.asked[0].body["model"], server.asked[0].body["query"]) == ("m", "stone")


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply({}, 500), "provider_error"),
        (Reply({"results": []}), "malformed_response"),
        (Reply({"results": [{"index": 99, "relevance_score": 1}]}), "malformed_response"),
        (Reply(b"nonsense"), "malformed_response"),
        (Reply(hang_up=True), "provider_error"),
    ],
)
def test_a_failing_second_opinion_is_reported_and_changes_nothing(
    call: Calls, vault: VaultFolder, reply: Reply, outcome: str
) -> None:
    vault["a.md"] = "stone stone stone"
    vault["b.md"] = "stone and a good deal of other text after it"
    with loopback(lambda asked: reply) as server:
        call.settings = {"retrieval": {"rerank": {"base_url": server.url}}}
        found = call(retrieval, "search", query="stone")
    assert (found["rerank"], [r["path"] for r in found["results"]]) == (outcome, ["a.md", "b.md"])


def test_a_second_opinion_that_does_not_come_in_time_is_reported_and_changes_nothing(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "stone stone stone"
    vault["b.md"] = "stone and a good deal of other text after it"
    never = threading.Event()
    with loopback(lambda asked: Reply({}, hold=never)) as server:
        call.settings = {"retrieval": {"rerank": {"base_url": server.url, "timeout_seconds": 0.05}}}
        found = call(retrieval, "search", query="stone")
        never.set()
    assert (found["rerank"], [r["path"] for r in found["results"]]) == ("timed_out", ["a.md", "b.md"])


def test_a_context_holds_nothing_that_may_not_be_read(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = "stone here, see [[hidden]]"
    vault["secret/hidden.md"] = "stone hidden"
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    packed = call(retrieval, "vault_context", query="stone")
    assert packed["context"] == "## a (open/a.md)\n\nstone here, see [[hidden]]"
    assert [source["path"] for source in packed["sources"]] == ["open/a.md"]


def test_nothing_is_sent_to_a_public_reranker_without_leave(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "stone"
    vault["b.md"] = "stone"
    call.settings = {"retrieval": {"rerank": {"base_url": "https://rerank.example.com"}}}
    assert call(retrieval, "search", query="stone")["rerank"] == "provider_error"
