import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_bases import bases

BASE = """# kept
filters:
  and:
    - file.hasTag("book")
formulas:
  twice: rating * 2
unknown: stays
views:
  - type: table
    name: All
    order: [file.name, rating, formula.twice]
    sort:
      - property: rating
        direction: DESC
  - type: table
    name: Good
    filters: rating >= 4
    order: [file.name]
"""


def fill(vault: VaultFolder) -> None:
    vault["books.base"] = BASE
    for name, rating in (("A", 3), ("B", 5), ("C", 4)):
        vault[f"{name}.md"] = f"---\ntags: [book]\nrating: {rating}\n---\n[[A]]\n"
    vault["D.md"] = "---\nrating: 9\n---\n"


def test_a_view_runs_with_its_filters_formulas_and_order(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    found = call(bases, "query_base", path="books.base")
    assert found["view_used"] == "All"
    assert found["total_count"] == 3
    assert [(i["note_path"], i["columns"]["formula.twice"]) for i in found["items"]] == [
        ("B.md", 10),
        ("C.md", 8),
        ("A.md", 6),
    ]


def test_a_view_is_chosen_by_name_and_filters_can_be_replaced(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    good = call(bases, "query_base", path="books.base", view="Good")
    assert sorted(i["note_path"] for i in good["items"]) == ["B.md", "C.md"]
    other = call(bases, "query_base", path="books.base", override_filters="rating > 8")
    assert [i["note_path"] for i in other["items"]] == ["D.md"]


def test_pages_of_a_view_join_without_gaps(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    first = call(bases, "query_base", path="books.base", limit=2)
    second = call(bases, "query_base", path="books.base", limit=2, cursor=first["cursor"])
    assert [i["note_path"] for i in first["items"] + second["items"]] == ["B.md", "C.md", "A.md"]
    assert "cursor" not in second


def test_links_tags_and_backlinks_come_from_the_index(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    found = call(bases, "query_base", path="books.base", override_filters='file.hasLink("A")')
    assert sorted(i["note_path"] for i in found["items"]) == ["A.md", "B.md", "C.md"]


def test_notes_the_caller_may_not_read_are_not_in_a_view(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    call.settings["acl"] = {"read_paths": ["books.base", "A.md"]}
    found = call(bases, "query_base", path="books.base")
    assert ([i["note_path"] for i in found["items"]], found["total_count"]) == (["A.md"], 1)


def test_an_update_keeps_every_other_byte_and_new_filters_need_a_person(
    call: Calls, vault: VaultFolder
) -> None:
    fill(vault)
    call(bases, "update_base", path="books.base", patch={"formulas": {"twice": "rating * 3"}})
    assert vault["books.base"] == BASE.replace("rating * 2", "rating * 3")
    with pytest.raises(ToolError) as refused:
        call(bases, "update_base", path="books.base", patch={"filters": "rating > 1"})
    assert refused.value.code == "elicit_required"


def test_a_base_is_created_and_read_back(call: Calls, vault: VaultFolder) -> None:
    base = {
        "filters": {"and": ["rating > 1"]},
        "views": [{"type": "table", "name": "T", "order": ["file.name"]}],
    }
    call(bases, "create_base", path="new.base", base=base)
    assert call(bases, "read_base", path="new.base")["base"] == base
    with pytest.raises(ToolError) as refused:
        call(bases, "create_base", path="new.base", base=base)
    assert refused.value.code == "note_exists"


@pytest.mark.parametrize(("text", "place"), [("views: 3\n", "views"), ("filters: [a\n", "")])
def test_a_wrong_base_names_its_place(call: Calls, vault: VaultFolder, text: str, place: str) -> None:
    vault["bad.base"] = text
    with pytest.raises(ToolError) as refused:
        call(bases, "query_base", path="bad.base")
    assert refused.value.code == "bases_syntax_error"
    assert place in refused.value.details["issues"][0]["field"]


def test_what_the_language_does_not_know_fails_by_name(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    with pytest.raises(ToolError) as refused:
        call(bases, "query_base", path="books.base", override_filters="file.nonsense() == 1")
    assert refused.value.code == "bases_syntax_error"
    assert "nonsense" in refused.value.message


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(bases)
