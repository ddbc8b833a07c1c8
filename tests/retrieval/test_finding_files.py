"""Which files retrieval knows, what a fence keeps out, other scripts and accents, and how the tools are shown."""

import unicodedata

import pytest

from knapper.index.ids import note_id
from knapper.index.view import IndexView
from knapper.testing import Calls, VaultFolder
from knapper_retrieval import retrieval


def found(call: Calls, query: str) -> list[str]:
    return [r["path"] for r in call(retrieval, "search", query=query)["results"]]


def test_notes_of_either_ending_are_found_whatever_its_case(call: Calls, vault: VaultFolder) -> None:
    for path in ("a.md", "b.MD", "c.markdown", "d.MARKDOWN", "e.txt"):
        vault[path] = "stone"
    assert sorted(found(call, "stone")) == ["a.md", "b.MD", "c.markdown", "d.MARKDOWN"]


def test_what_is_hidden_or_excluded_is_not_found(call: Calls, vault: VaultFolder) -> None:
    for path in (
        ".obsidian/a.md",
        "x/.git/b.md",
        ".hidden.md",
        "drafts/c.md",
        "node_modules/p/d.md",
        "kept.md",
    ):
        vault[path] = "stone"
    call.settings = {
        "vaults": [{"id": "main", "path": str(vault.path), "exclude": ["drafts/", "node_modules/"]}]
    }
    assert found(call, "stone") == ["kept.md"]
    for path in ("drafts/c.md", ".hidden.md"):
        outcome = call.outcome(retrieval, "get_note", note_id=note_id(path))
        assert outcome.error is not None
        assert outcome.error["code"] == "NOTE_NOT_FOUND"


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_links_and_attachments_in_fences_are_neither(call: Calls, vault: VaultFolder, fence: str) -> None:
    vault["b.md"] = "b"
    vault["p.png"] = "x"
    vault["a.md"] = f"{fence}\n# no heading\n[[b]] ![[p.png]] ![](p.png) zebra\n{fence}\n"
    note = call(retrieval, "get_note", note_id=note_id("a.md"))
    assert ("links" in note, "attachments" in note, note["metadata"]["attachment_count"]) == (False, False, 0)
    assert found(call, "zebra") == ["a.md"]


def test_the_tools_are_listed_as_reading_only_with_closed_schemas() -> None:
    assert set(retrieval.tools) == {
        *("search", "get_note", "get_chunk", "related", "vault_graph_search", "vault_context")
    }
    for tool in retrieval.tools.values():
        assert tool.annotations["readOnlyHint"] is True
        assert tool.annotations["destructiveHint"] is False
        assert tool.annotations["idempotentHint"] is True
        assert tool.input_schema["additionalProperties"] is False
        assert {"freshness", "warnings"} <= set(tool.output_schema["properties"])
    assert retrieval.tools["search"].input_schema["required"] == ["query"]
    assert retrieval.tools["get_chunk"].input_schema["required"] == ["note_id", "chunk_index"]
    assert retrieval.tools["related"].input_schema["required"] == ["type", "id"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("机器学习是人工智能的一个分支", "学习"),
        ("机器学习是人工智能的一个分支", "人工智能"),
        ("東京タワーは港区にある", "タワー"),
        ("한국어 문서를 검색합니다", "문서"),
        ("한국어 문서를 검색합니다", "검색"),
        ("ภาษาไทยไม่เว้นวรรค", "ไทย"),
        ("Привет, каменные орудия", "орудия"),
        ("ἡ λίθος ἐστὶν ἀρχαία", "λιθος"),
        ("ἡ λίθος ἐστὶν ἀρχαία", "ΑΡΧΑΊΑ"),
        ("Новогодняя ёлка", "елка"),
        ("Ein Straßenfest", "straßenfest"),
        ("Ein STRASSENFEST", "Strassenfest"),
        ("Smørrebrød", "smørrebrød"),
    ],
)
def test_every_script_is_found_by_its_own_words(
    call: Calls, vault: VaultFolder, text: str, query: str
) -> None:
    vault["a.md"] = text
    vault["b.md"] = "something else altogether"
    assert found(call, query) == ["a.md"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("query", ["résumé", "resume", "RÉSUMÉ", "re\u0301sume\u0301"])
def test_accents_composed_or_not_or_left_out_find_the_same(
    call: Calls, vault: VaultFolder, form: str, query: str
) -> None:
    vault["a.md"] = unicodedata.normalize("NFC" if form == "NFC" else "NFD", "Un résumé à lire")
    assert found(call, query) == ["a.md"]


@pytest.mark.parametrize(("text", "query"), [("Ein Straßenfest", "Straßenfest"), ("ὁ λίθος", "λιθοσ")])
def test_letters_with_two_forms_are_ranked_by_their_word_too(
    call: Calls, vault: VaultFolder, text: str, query: str
) -> None:
    vault["a.md"] = text
    call(retrieval, "search", query="x")
    (one,) = call.runtime(retrieval).vaults
    assert len(IndexView(one.index, None).by_words(query, 5)) == 1


def test_kana_composed_or_not_is_the_same(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = unicodedata.normalize("NFD", "データベースの設計")
    assert found(call, "データベース") == ["a.md"]
    assert found(call, unicodedata.normalize("NFD", "データ")) == ["a.md"]


def test_a_title_in_another_script_weighs_as_much(call: Calls, vault: VaultFolder) -> None:
    for n in range(10):
        vault[f"{n}.md"] = "関係のない話"
    vault["石器.md"] = "作り方について"
    vault["other.md"] = "この本には石器という言葉が一度だけある。" + "ほかの話が続く。" * 20
    assert found(call, "石器")[0] == "石器.md"
