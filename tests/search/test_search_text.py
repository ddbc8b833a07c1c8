"""Search by letter: every note that holds a string, and nothing else."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper.errors import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_search import search


def paths(call: Calls, query: str, **how: Any) -> list[str]:
    return sorted(hit["path"] for hit in call(search, "search_text", query=query, **how)["items"])


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(search)


def test_a_hit_says_where_the_string_first_stands(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\ntitle: x\n---\n# Head\n\nAn obsidian knife.\nobsidian again\n"
    (hit,) = call(search, "search_text", query="Obsidian")["items"]
    assert (hit["path"], hit["line"], hit["col"], hit["snippet"]) == ("a.md", 6, 4, "An obsidian knife.")
    assert hit["score"] > 0


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("知識管理のノート", "理"),
        ("知識管理のノート", "管理"),
        ("知識管理のノート", "識管理"),
        ("知識管理のノート", "知識管理のノート"),
        ("обсидиан", "СИД"),
        ("a 🪨 stone", "🪨"),
        ("family 👩‍👩‍👧 here", "👩‍👩‍👧"),
        ("x -> y", "->"),
        ("x -> y", "> y"),
        ("100% sure", "%"),
        ("a\tb", "\t"),
        ("two  spaces", "  "),
        ("one\ntwo", "e\nt"),
        ("snake_case_name", "e_c"),
        ("q", "q"),
        ("the end.", "d."),
        ("mid-word", "id-wo"),
        ('say "hi" AND (bye)', '"hi" AND ('),
        ("NEAR(a b)", "NEAR(a"),
        ("straße", "STRASSE"),
        ("İstanbul", "İstanbul"),
        ("한국어 노트", "국어"),
        ("ภาษาไทย", "ไท"),
        ("हिन्दी भाषा", "न्दी"),
        ("x" * 500 + "needle" + "y" * 500, "needle"),
        ("a" * 300, "a" * 200),
        ("ab" * 200, "ba" * 90),
    ],
)
def test_a_string_of_any_script_and_length_is_found(
    call: Calls, vault: VaultFolder, text: str, query: str
) -> None:
    vault["a.md"] = f"before\n{text}\nafter\n"
    vault["b.md"] = "nothing of the kind\n"
    assert "a.md" in paths(call, query)
    assert call(search, "search_text", query=query)["items"][0]["path"] == "a.md"


@pytest.mark.parametrize(("stored", "asked"), [("NFC", "NFD"), ("NFD", "NFC")])
@pytest.mark.parametrize("case_sensitive", [True, False])
def test_composed_and_decomposed_letters_are_the_same(
    call: Calls, vault: VaultFolder, stored: Any, asked: Any, case_sensitive: bool
) -> None:
    vault["a.md"] = unicodedata.normalize(stored, "Übermäßig: ein Café in Ålesund, がぎぐ\n")
    for query, col in (("Café", 16), ("Ålesund", 24), ("がぎ", 33)):
        (hit,) = call(
            search, "search_text", query=unicodedata.normalize(asked, query), case_sensitive=case_sensitive
        )["items"]
        written = len(unicodedata.normalize(stored, "Übermäßig: ein Café in Ålesund, がぎぐ"[: col - 1]))
        assert (hit["line"], hit["col"]) == (1, written + 1)


def test_the_place_is_right_where_folding_changes_lengths(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "ßßß ﬁnd e\u0301 here\nßß needle\n"
    (hit,) = call(search, "search_text", query="needle")["items"]
    assert (hit["line"], hit["col"]) == (2, 4)
    (hit,) = call(search, "search_text", query="here")["items"]
    assert (hit["line"], hit["col"]) == (1, 12)


def test_case_counts_only_where_it_is_asked_for(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "Stone"
    vault["b.md"] = "stone"
    assert paths(call, "STONE") == ["a.md", "b.md"]
    assert paths(call, "Stone", case_sensitive=True) == ["a.md"]


def test_a_whole_word_has_no_letter_beside_it(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a cat sat"
    vault["b.md"] = "concatenate"
    vault["c.md"] = "cat_name"
    vault["d.md"] = "concat, (cat)"
    assert paths(call, "cat") == ["a.md", "b.md", "c.md", "d.md"]
    assert paths(call, "cat", whole_word=True) == ["a.md", "d.md"]
    assert paths(call, "at sat", whole_word=True) == []


def test_a_note_about_it_comes_before_one_that_mentions_it(call: Calls, vault: VaultFolder) -> None:
    vault["mention.md"] = "knapping " + "filler words of all kinds " * 60
    vault["about.md"] = "knapping is knapping and more knapping"
    for n in range(8):
        vault[f"other{n}.md"] = "nothing here at all"
    found = call(search, "search_text", query="knapping")["items"]
    assert [hit["path"] for hit in found] == ["about.md", "mention.md"]
    assert found[0]["score"] > found[1]["score"] > 0


def test_pages_together_are_every_note_once(call: Calls, vault: VaultFolder) -> None:
    for n in range(25):
        vault[f"n{n:02}.md"] = "stone " * (n % 5 + 1) + "x " * (n % 3)
    seen: list[str] = []
    cursor = None
    while True:
        page = call(search, "search_text", query="stone", limit=4, cursor=cursor)
        seen += [hit["path"] for hit in page["items"]]
        cursor = page.get("cursor")
        if cursor is None:
            break
    assert sorted(seen) == [f"n{n:02}.md" for n in range(25)]
    assert seen == [hit["path"] for hit in call(search, "search_text", query="stone")["items"]]


@pytest.mark.parametrize("acl", [{}, {"read_paths": ["n*.md"]}])
def test_pages_are_every_note_once_while_notes_come_and_go(
    call: Calls, vault: VaultFolder, acl: dict[str, Any]
) -> None:
    call.settings = {"acl": acl}
    for n in range(25):
        vault[f"n{n:02}.md"] = "stone " * (n % 5 + 1) + "x " * n
    seen: list[str] = []
    cursor = None
    while True:
        page = call(search, "search_text", query="stone", limit=4, cursor=cursor)
        seen += [hit["path"] for hit in page["items"]]
        cursor = page.get("cursor")
        if cursor is None:
            break
        vault["new.md"] = "stone " * 50 * len(seen)
        vault[seen[-1]] += "stone stone"
    assert sorted(seen) == [f"n{n:02}.md" for n in range(25)]


def test_pages_hold_every_note_where_the_word_index_cannot_narrow(call: Calls, vault: VaultFolder) -> None:
    for n in range(12):
        vault[f"n{n:02}.md"] = " ".join(f"w{n}e{m}" for m in range(60))
    vault["word.md"] = "e stands alone"
    seen: list[str] = []
    cursor = None
    while True:
        page = call(search, "search_text", query="e", limit=5, cursor=cursor)
        seen += [hit["path"] for hit in page["items"]]
        cursor = page.get("cursor")
        if cursor is None:
            break
    assert seen == ["word.md", *(f"n{n:02}.md" for n in range(12))]


def test_only_notes_below_the_folder_are_found(call: Calls, vault: VaultFolder) -> None:
    vault["in/a.md"] = "stone"
    vault["inner/b.md"] = "stone"
    assert paths(call, "stone", root="in") == ["in/a.md"]


def test_a_changed_note_is_found_by_its_new_words_only(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "before café İi"
    assert paths(call, "before") == ["a.md"]
    vault["a.md"] = "afterwards and longer"
    assert (paths(call, "before"), paths(call, "café"), paths(call, "afterwards")) == ([], [], ["a.md"])


def test_a_caller_with_folder_rules_learns_nothing_of_other_folders(call: Calls, vault: VaultFolder) -> None:
    vault["open/a.md"] = "stone and stone"
    vault["open/b.md"] = "one stone"
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    before = call(search, "search_text", query="stone")
    for n in range(30):
        vault[f"secret/{n}.md"] = "stone stone stone"
    after = call(search, "search_text", query="stone")
    assert before == after
    assert [hit["path"] for hit in after["items"]] == ["open/a.md", "open/b.md"]


def test_an_empty_query_is_refused(call: Calls) -> None:
    with pytest.raises(ToolError, match="query"):
        call(search, "search_text", query="")


@pytest.mark.parametrize(
    ("text", "query", "place"),
    [
        ("one\r\ntwo\r\n", "one\ntwo", (1, 1)),
        ("one\r\ntwo\r\n", "\ntwo", (1, 4)),
        ("one\ntwo\n", "one\r\ntwo", (1, 1)),
        ("one\r\ntwo", "\r", (1, 4)),
        ("\ufeffone two", "one", (1, 1)),
        ("x cafe\u0301", "cafe", (1, 3)),
        ("x cafe\u0301", "\u0301", (1, 7)),
        ("ΟΔΟΣ", "οδος", (1, 1)),
        ("so \u0390 is", "\u03aa\u0301 IS", (1, 4)),
        ("---\nname: half\n---\nwhole", "name: half", (2, 1)),
        ("x\n```py\ny = 1\n```", "y = 1\n`", (3, 1)),
    ],
)
def test_the_place_is_where_the_string_stands(
    call: Calls, vault: VaultFolder, text: str, query: str, place: tuple[int, int]
) -> None:
    vault["a.md"] = text
    (hit,) = call(search, "search_text", query=query)["items"]
    assert (hit["line"], hit["col"]) == place


def test_an_accent_is_part_of_the_word(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "cafe\u0301"
    vault["b.md"] = "हिन्दी"
    assert paths(call, "cafe") == ["a.md"]
    assert paths(call, "cafe", whole_word=True) == []
    assert paths(call, "café", whole_word=True) == ["a.md"]
    assert paths(call, "हि", whole_word=True) == []


def test_marks_are_found_in_whatever_order_they_were_typed(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "1\u0301\u3099"
    assert paths(call, "\u3099\u0301") == ["a.md"]
    assert paths(call, "\u0301\u3099") == ["a.md"]


LETTERS = st.sampled_from(
    [*"abAB ß_-.é\u0301e日本がか\u3099\n🪨İıi1", "\r\n", "ς", "Σ", "ﬁ", "\u0390", "\u03ca", "\u212a"]
)
TEXT = st.lists(LETTERS, min_size=1, max_size=30).map("".join)


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def as_written(text: str) -> str:
    return text


def holds(hay: str, needle: str, whole_word: bool) -> bool:
    """What finding means, said in the plainest way."""

    def joined(at: int) -> bool:
        around = hay[at - 1 : at + 1] if at else ""
        letters = [c for c in around if c.isalnum() or c == "_" or unicodedata.category(c).startswith("M")]
        return len(letters) == 2

    places = (at for at in range(len(hay)) if hay.startswith(needle, at))
    return any(not whole_word or not (joined(at) or joined(at + len(needle))) for at in places)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.data(),
    texts=st.lists(TEXT, min_size=3, max_size=6),
    case_sensitive=st.booleans(),
    whole_word=st.booleans(),
)
def test_the_notes_found_are_those_that_hold_the_string(
    call: Calls,
    vault: VaultFolder,
    data: st.DataObject,
    texts: list[str],
    case_sensitive: bool,
    whole_word: bool,
) -> None:
    for path in list(vault):
        del vault[path]
    for n, text in enumerate(texts):
        vault[f"{n}.md"] = text
    source = data.draw(st.sampled_from(texts))
    start = data.draw(st.integers(0, len(source) - 1))
    query = source[start : start + data.draw(st.integers(1, 8))]
    forms = [as_written, composed] if case_sensitive else [str.casefold, folded]

    def compared(text: str, form: Callable[[str], str]) -> str:
        plain = "\n" in query and form in (folded, composed)
        return form(text.replace("\r\n", "\n") if plain else text)

    wanted = [
        f"{n}.md"
        for n, text in enumerate(texts)
        if any(holds(compared(text, form), compared(query, form), whole_word) for form in forms)
    ]
    assert paths(call, query, case_sensitive=case_sensitive, whole_word=whole_word) == wanted
