"""Search by rule, by meaning, by query, by whichever fits; and the index on request."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from knapper import Caller, Domain, hookimpl
from knapper.embed import Embedder
from knapper.errors import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_search import search


class Letters:
    """How often each letter occurs."""

    identity = "letters/1"
    dimensions = 26

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        letters = "abcdefghijklmnopqrstuvwxyz"
        rows = np.array([[t.lower().count(c) + 1e-3 for c in letters] for t in texts], np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class Given:
    """The plugin that hands the model over."""

    @hookimpl
    def knapper_embedders(self) -> Embedder:
        return Embedder(name="letters", build=lambda _: Letters())


@pytest.fixture
def meaning(call: Calls) -> Calls:
    call.plugins = [Given()]
    call.settings = {"embeddings": {"provider": "letters"}}
    return call


def paths(found: dict[str, Any]) -> list[str]:
    return [item["path"] for item in found["items"]]


def test_a_rule_sees_properties_and_file_facts(call: Calls, vault: VaultFolder) -> None:
    vault["p/a.md"] = "---\nstatus: done\nrating: 4\n---\nstone #tool\n"
    vault["b.md"] = "---\nstatus: open\n---\n"
    rules: list[tuple[Any, list[str]]] = [
        ({"==": [{"var": "status"}, "done"]}, ["p/a.md"]),
        ({"and": [{">": [{"var": "rating"}, 3]}, {"in": ["tool", {"var": "tags"}]}]}, ["p/a.md"]),
        ({"in": ["stone", {"var": "content"}]}, ["p/a.md"]),
        ({"==": [{"var": "folder"}, "p"]}, ["p/a.md"]),
        ({"==": [{"var": "name"}, "b"]}, ["b.md"]),
        ({">": [{"var": "size"}, 1]}, ["b.md", "p/a.md"]),
        ({"missing": ["rating"]}, ["b.md"]),
        ({"!": [{"var": ""}]}, []),
    ]
    for rule, wanted in rules:
        assert paths(call(search, "search_jsonlogic", logic=rule)) == wanted


def test_a_rule_says_what_it_made_of_a_note(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\nrating: 4\n---\n"
    assert call(search, "search_jsonlogic", logic={"+": [{"var": "rating"}, 1]})["items"] == [
        {"path": "a.md", "matched": 5}
    ]


def test_pages_of_a_rule_are_every_note_once(call: Calls, vault: VaultFolder) -> None:
    for n in range(7):
        vault[f"{n}.md"] = "x"
    first = call(search, "search_jsonlogic", logic={"var": "path"}, limit=4)
    second = call(search, "search_jsonlogic", logic={"var": "path"}, limit=4, cursor=first["cursor"])
    assert paths(first) + paths(second) == [f"{n}.md" for n in range(7)]


@pytest.mark.parametrize("rule", [{"nope": [1]}, "text", {"==": [1, 1], "!": [1]}])
def test_a_rule_that_is_none_is_refused(call: Calls, vault: VaultFolder, rule: Any) -> None:
    vault["a.md"] = "x"
    with pytest.raises(ToolError) as caught:
        call(search, "search_jsonlogic", logic=rule)
    assert caught.value.code == "jsonlogic_error"


def test_passages_by_meaning_say_where_they_are_from(meaning: Calls, vault: VaultFolder) -> None:
    vault["Note.md"] = "# Head\n\n## Sub\n\nzzzz zzz\n"
    vault["other.md"] = "aaaa"
    meaning(search, "index_vault", vectors=True)
    found = meaning(search, "search_semantic", query="zzzz", k=1)
    assert found["vectors_ready"] is True
    (item,) = found["items"]
    score = item.pop("score")
    assert 0.5 < score <= 1
    assert item == {
        "chunk_id": "4227dc78a3351ae5f0865f34979018b7:0",
        "path": "Note.md",
        "heading_path": ["Head", "Sub"],
        "line": 5,
        "embedding_model": "letters/1",
        "content": "zzzz zzz",
    }


def test_passages_that_are_too_far_or_unwanted_text_are_left_out(meaning: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "zzzz"
    vault["b.md"] = "qqqq"
    meaning(search, "index_vault", vectors=True)
    found = meaning(search, "search_semantic", query="zzzz", min_score=0.5, return_content=False)
    assert [(i["path"], i.get("content")) for i in found["items"]] == [("a.md", None)]


def test_meaning_without_a_model_is_a_typed_error(call: Calls) -> None:
    with pytest.raises(ToolError) as caught:
        call(search, "search_semantic", query="x")
    assert caught.value.code == "embedding_provider_error"


def test_auto_takes_an_object_as_a_rule(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\nstatus: done\n---\n"
    found = call(search, "search_vault", query={"==": [{"var": "status"}, "done"]}, explain=True)
    assert paths(found) == ["a.md"]
    assert found["_explain"] == {
        "modes_tried": ["jsonlogic"],
        "chosen": "jsonlogic",
        "reason": "the query is an object",
    }


def test_auto_is_text_without_vectors_and_hybrid_with_them(meaning: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "zebra stone"
    first = meaning(search, "search_vault", query="stone", explain=True)
    meaning(search, "index_vault", vectors=True)
    second = meaning(search, "search_vault", query="stone", explain=True)
    assert (first["_explain"]["chosen"], second["_explain"]["chosen"]) == ("text", "hybrid")
    assert paths(first) == paths(second) == ["a.md"]
    assert second["items"][0]["chunk_id"].endswith(":0")


def test_text_finds_words_that_stand_apart_where_no_note_has_them_together(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = "stone by the sea, a knife of obsidian"
    assert paths(call(search, "search_vault", query="knife stone", mode="text")) == ["a.md"]


def test_a_setting_forces_the_explanation_where_nothing_is_found(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"vaults": [{"id": "main", "path": str(vault.path), "auto_mode_explain": "on_zero_hits"}]}
    vault["a.md"] = "stone"
    assert "_explain" not in call(search, "search_vault", query="stone")
    assert call(search, "search_vault", query="qqqq")["_explain"]["chosen"] == "text"


def test_pages_of_a_ranked_search_are_every_note_once(meaning: Calls, vault: VaultFolder) -> None:
    for n in range(9):
        vault[f"{n}.md"] = "stone " * (n + 1)
    meaning(search, "index_vault", vectors=True)
    for mode in ("text", "semantic", "hybrid", "regex"):
        seen: list[str] = []
        cursor = None
        while True:
            page = meaning(search, "search_vault", query="stone", mode=mode, limit=4, cursor=cursor)
            seen += paths(page)
            cursor = page.get("cursor")
            if cursor is None:
                break
        assert sorted(seen) == [f"{n}.md" for n in range(9)]


def pages(call: Calls, vault: VaultFolder, query: str, mode: str) -> list[str]:
    """Everything that is found page by page while a note grows and another is changed before each next page."""
    seen: list[str] = []
    cursor = None
    while True:
        page = call(search, "search_vault", query=query, mode=mode, limit=4, cursor=cursor)
        seen += paths(page)
        cursor = page.get("cursor")
        if cursor is None:
            return seen
        vault["new.md"] = f"{query} " * 50 * len(seen)
        vault["8.md"] += "other words"


@pytest.mark.parametrize(
    ("mode", "query"), [("text", "stone knife"), ("text", "stone and"), ("regex", "stone")]
)
def test_pages_are_every_note_once_while_notes_come_and_go(
    call: Calls, vault: VaultFolder, mode: str, query: str
) -> None:
    for n in range(9):
        vault[f"{n}.md"] = "stone and " * (n + 1) + "knife " * (9 - n)
    found = pages(call, vault, query, mode)
    assert len(found) == len(set(found))
    assert set(found) >= {f"{n}.md" for n in range(8)}


def test_pages_go_on_as_they_began_when_the_vectors_become_ready_meanwhile(
    meaning: Calls, vault: VaultFolder
) -> None:
    for n in range(9):
        vault[f"{n}.md"] = "stone " * (n + 1)
    first = meaning(search, "search_vault", query="stone", limit=4)
    meaning(search, "index_vault", vectors=True)
    second = meaning(search, "search_vault", query="stone", limit=9, cursor=first["cursor"])
    assert sorted(paths(first) + paths(second)) == [f"{n}.md" for n in range(9)]
    assert {item["mode_used"] for item in second["items"]} == {"text"}


dataview = Domain("dataview", summary="A stand-in that offers DQL.")


@dataview.service("dql")
def answer(ctx: Any, dql: str, format: str | None = None, engine: str = "auto") -> Any:
    if "oops" in dql:
        raise ToolError("dql_error", "line 1: no")
    answered = "native" if engine == "auto" else engine
    found = [] if "nowhere" in dql else ["a.md"]
    return SimpleNamespace(headers=["File"], rows=[["a"]], note_paths=found, engine=answered)


def call_with(call: Calls, tool: str, caller: Caller | None = None, **arguments: Any) -> Any:

    runtime = call.runtime(search, dataview)
    for one in runtime.vaults:
        one.index.reconcile()
    outcome = runtime.call(tool, arguments, caller or Caller("test", frozenset({"*"}), authenticated=True))
    if outcome.error is not None:
        raise ToolError(outcome.error["code"], outcome.error["message"])
    return msgspec.json.decode(outcome.payload)


def test_a_query_goes_to_whoever_offers_dql(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "x"
    wanted = {"headers": ["File"], "rows": [["a"]], "note_paths": ["a.md"], "engine": "native"}
    assert call_with(call, "search_dql", dql="LIST") == wanted
    assert call_with(call, "search_dql", dql="LIST", engine="obsidian")["engine"] == "obsidian"
    found = call_with(call, "search_vault", query="TABLE file.name FROM #x", explain=True)
    assert (paths(found), found["_explain"]["chosen"]) == (["a.md"], "dql")


def test_pages_of_what_dql_did_not_find_are_text(call: Calls, vault: VaultFolder) -> None:
    for n in range(5):
        vault[f"{n}.md"] = "LIST FROM nowhere"
    first = call_with(call, "search_vault", query="LIST FROM nowhere", limit=3)
    second = call_with(call, "search_vault", query="LIST FROM nowhere", limit=3, cursor=first["cursor"])
    assert sorted(paths(first) + paths(second)) == [f"{n}.md" for n in range(5)]


def test_a_sentence_that_begins_like_dql_is_text(call: Calls, vault: VaultFolder) -> None:
    vault["b.md"] = "list of stones"
    found = call_with(call, "search_vault", query="list of stones", explain=True)
    assert (paths(found), found["_explain"]["chosen"]) == (["b.md"], "text")


def test_a_query_of_a_caller_without_the_scope_is_text_or_refused(call: Calls, vault: VaultFolder) -> None:
    vault["b.md"] = "TABLE x FROM y"
    reader = Caller("reader", frozenset({"read:notes"}), authenticated=True)
    found = call_with(call, "search_vault", reader, query="TABLE x FROM y", explain=True)
    assert (paths(found), found["_explain"]["chosen"]) == (["b.md"], "text")
    with pytest.raises(ToolError, match="read:dataview"):
        call_with(call, "search_vault", reader, query="LIST", mode="dql")


def test_dql_without_an_engine_names_what_is_missing(call: Calls) -> None:
    with pytest.raises(ToolError) as caught:
        call(search, "search_dql", dql="LIST")
    assert caught.value.code == "plugin_missing"


def test_indexing_says_what_changed_and_how_far_it_is(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "x"
    vault["b.md"] = "y"
    runtime = call.runtime(search)
    told: list[tuple[float, float | None, str]] = []
    caller = Caller("test", frozenset({"*"}), authenticated=True)
    outcome = runtime.call("index_vault", {}, caller, on_progress=lambda *how: told.append(how))

    done = msgspec.json.decode(outcome.payload)
    assert (done["vault"], done["upserted"], done["deleted"], done["unchanged"]) == ("main", 2, 0, 0)
    assert told[-1:] == [(2, 2, "notes")]
    del vault["b.md"]
    done = msgspec.json.decode(runtime.call("index_vault", {}, caller).payload)
    assert (done["upserted"], done["deleted"], done["unchanged"]) == (0, 1, 1)
    done = msgspec.json.decode(runtime.call("index_vault", {"force": True}, caller).payload)
    assert (done["upserted"], done["unchanged"]) == (1, 0)


def test_a_read_only_vault_is_not_indexed_by_callers(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_only": True}}
    with pytest.raises(ToolError) as caught:
        call(search, "index_vault")
    assert caught.value.code in ("read_only", "forbidden")
