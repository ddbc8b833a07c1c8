"""Running views: filters, columns, sorting, groups, limits and summaries."""

from datetime import UTC, datetime

import pytest

from knapper_bases.engine import (
    BasesError,
    Budget,
    HasTag,
    Narrowing,
    PropertyEquals,
    UnreadableExpression,
    plain,
    query,
    read,
    read_filters,
)
from tests.bases.vault_in_memory import MemoryVault, Note

VAULT = MemoryVault(
    Note("b10.md", {"price": 3, "kind": "Fruit", "due": "2026-01-03", "done": True}, tags=["food"]),
    Note("B2.md", {"price": 10, "kind": "Root", "due": "2026-01-01", "done": False}, tags=["food/raw"]),
    Note("a.md", {"price": None, "kind": "Fruit"}),
    Note("é.md", {"price": 5, "kind": "", "due": "2026-01-02"}),
    Note("pic.png", size=9),
)


def names(text: str, view: str | None = None) -> list[str]:
    return [row.file.name for row in query(read(text), VAULT, view).rows]


def test_a_base_without_views_lists_every_file_by_name() -> None:
    result = query(read(""), VAULT)
    assert [result.plain_cells(row) for row in result.rows] == [
        {"file.name": "b10"},
        {"file.name": "B2"},
        {"file.name": "a"},
        {"file.name": "é"},
        {"file.name": "pic.png"},
    ]


def test_the_filters_of_base_and_view_hold_together() -> None:
    text = "filters: price > 3\nviews:\n  - type: table\n    filters:\n      not:\n        - kind == 'Root'\n        - done\n"
    assert names(text) == ["é"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("{and: [price > 3, done == false]}", ["B2"]),
        ("{or: [price > 5, done]}", ["b10", "B2"]),
        ("{not: [price, file.ext == 'png']}", ["a"]),
        ("{and: []}", ["b10", "B2", "a", "é", "pic.png"]),
        ("{or: []}", ["b10", "B2", "a", "é", "pic.png"]),
        ("{not: []}", ["b10", "B2", "a", "é", "pic.png"]),
    ],
)
def test_filter_trees(filters: str, expected: list[str]) -> None:
    assert names(f"filters: {filters}\n") == expected


def test_a_view_is_chosen_by_name_and_the_first_is_the_default() -> None:
    text = "views:\n  - {type: table, name: One, limit: 1}\n  - {type: list, name: Two, limit: 2}\n"
    assert len(names(text)) == 1
    assert len(names(text, "Two")) == 2
    with pytest.raises(BasesError, match="There is no view 'Nine'; there are: 'One', 'Two'"):
        names(text, "Nine")


def test_given_filters_take_the_place_of_the_bases_own() -> None:
    result = query(read("filters: price > 100\n"), VAULT, filters=read_filters({"or": ["price == 10"]}))
    assert [row.file.path for row in result.rows] == ["B2.md"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("[{property: file.name}]", ["a", "B2", "b10", "é", "pic.png"]),
        ("[{property: price, direction: ASC}]", ["b10", "é", "B2", "a", "pic.png"]),
        ("[{property: price, direction: DESC}]", ["B2", "é", "b10", "a", "pic.png"]),
        ("[{property: note.due, direction: DESC}]", ["b10", "é", "B2", "a", "pic.png"]),
        ("[{property: kind}, {property: file.name, direction: DESC}]", ["b10", "a", "B2", "pic.png", "é"]),
        ("[{property: formula.neg}]", ["B2", "é", "b10", "a", "pic.png"]),
        ("[{property: formula.fails}]", ["b10", "B2", "a", "é", "pic.png"]),
    ],
)
def test_sorting_is_natural_stable_and_puts_what_is_empty_last(sort: str, expected: list[str]) -> None:
    text = f"formulas: {{neg: -price, fails: file.nope}}\nviews:\n  - type: table\n    sort: {sort}\n"
    assert names(text) == expected


def test_an_empty_checkbox_sorts_with_the_unchecked() -> None:
    vault = MemoryVault(
        Note("a.md", {"done": True}),
        Note("b.md", {}),
        Note("c.md", {"done": False}),
        types={"done": "checkbox"},
    )
    result = query(read("views:\n  - type: table\n    sort: [{property: done}]\n"), vault)
    assert [row.file.name for row in result.rows] == ["b", "c", "a"]


def test_groups_come_in_order_with_the_nameless_last_and_the_limit_over_all() -> None:
    text = """
views:
  - type: table
    groupBy: {property: kind, direction: DESC}
    sort: [{property: file.name}]
    limit: 4
    summaries: {price: Sum}
"""
    result = query(read(text), VAULT)
    assert result.groups is not None
    assert [(group.key, [row.file.name for row in group.rows]) for group in result.groups] == [
        ("Root", ["B2"]),
        ("Fruit", ["a", "b10"]),
        (None, ["é"]),
    ]
    assert [group.summaries for group in result.groups] == [{"price": 10}, {"price": 3}, {"price": 5}]
    assert (result.summaries, result.matched, len(result.rows)) == ({"price": 18}, 5, 4)


@pytest.mark.parametrize(
    ("column", "summary", "expected"),
    [
        ("price", "Average", 6),
        ("price", "Min", 3),
        ("price", "Max", 10),
        ("price", "Sum", 18),
        ("price", "Range", 7),
        ("price", "Median", 5),
        ("price", "Stddev", pytest.approx(2.943920288775949)),
        ("due", "Earliest", "2026-01-01"),
        ("due", "Latest", "2026-01-03"),
        ("due", "Range", "2 days"),
        ("done", "Checked", 1),
        ("done", "Unchecked", 1),
        ("kind", "Empty", 2),
        ("kind", "Filled", 3),
        ("kind", "Unique", 2),
        ("kind", "Average", None),
        ("price", "mine", 18),
        ("price", "broken", {"error": "Unable to parse formula. Unexpected the end"}),
        (
            "price",
            "Mode",
            {
                "error": 'Cannot find summary "Mode"; there are Average, Checked, Earliest, Empty, Filled, Latest,'
                " Max, Median, Min, Range, Stddev, Sum, Unchecked, Unique"
            },
        ),
    ],
)
def test_summaries(column: str, summary: str, expected: object) -> None:
    text = f"""
summaries:
  mine: values.filter(value.isType("number")).reduce(acc + value, 0)
  broken: values +
views:
  - type: table
    summaries: {{{column}: {summary}}}
"""
    result = query(read(text), VAULT)
    assert plain(result.summaries[column], Budget()) == expected


def test_summaries_of_no_rows_count_nothing() -> None:
    text = "filters: 'false'\nsummaries: {mine: values.length}\nviews:\n  - summaries: {a: Empty, b: Sum, c: mine}\n"
    assert query(read(text), VAULT).summaries == {"a": 0, "b": None, "c": None}


def test_cells_hold_values_and_their_own_errors() -> None:
    text = """
formulas: {double: price * 2, wrong: '"x" * 2'}
views:
  - type: table
    order: [file.name, note.price, kind, formula.double, formula.wrong, file.nope, due, missing]
"""
    result = query(read(text), VAULT)
    assert result.plain_cells(result.rows[1]) == {
        "file.name": "B2",
        "note.price": 10,
        "kind": "Root",
        "formula.double": 20,
        "formula.wrong": {"error": "Invalid operator between String and Number"},
        "file.nope": {"error": 'Cannot find "nope" on type File'},
        "due": "2026-01-01",
        "missing": None,
    }
    wrong = result.cells(result.rows[1])["formula.wrong"]
    assert isinstance(wrong, BasesError)
    assert (wrong.expression, wrong.position) == ('"x" * 2', 4)


def test_a_filter_that_fails_for_a_file_leaves_it_out_and_says_so() -> None:
    result = query(read("filters: kind.round() == 1\n"), VAULT)
    assert result.rows == []
    [fault] = result.faults
    assert (fault.error.message, fault.path, fault.count) == (
        'Cannot find function "round" on type String',
        "b10.md",
        4,
    )


@pytest.mark.parametrize(
    ("filters", "kind", "message"),
    [
        ("price >", UnreadableExpression, "Unable to parse formula. Unexpected the end"),
        ("{and: [done, 'file.hasTagg(\"x\")']}", BasesError, 'Cannot find function "hasTagg"'),
        ("nope(price)", BasesError, 'Cannot find function "nope"'),
    ],
)
def test_a_filter_that_is_wrong_in_itself_fails_the_query(
    filters: str, kind: type[BasesError], message: str
) -> None:
    with pytest.raises(kind) as raised:
        query(read(f"filters: {filters}\n"), VAULT)
    assert raised.value.message == message


def test_the_vault_is_asked_only_for_what_may_match() -> None:
    vault = MemoryVault(Note("a.md"))
    query(read("filters:\n  and:\n    - file.hasTag('x')\n    - status == 'open'\n"), vault)
    assert vault.asked == [Narrowing((HasTag(("x",)), PropertyEquals("status", "open")))]


def test_this_is_the_given_context_file() -> None:
    vault = MemoryVault(
        Note("Jane.md"), Note("Book.md", {"author": "[[Jane]]"}), Note("Other.md", {"author": "[[Bo]]"})
    )
    result = query(read("filters: list(author).contains(this)\n"), vault, this="Jane.md")
    assert [row.file.path for row in result.rows] == ["Book.md"]


def test_now_is_the_given_moment() -> None:
    text = "filters: due > now() - '2d'\n"
    result = query(read(text), VAULT, now=datetime(2026, 1, 4, tzinfo=UTC))
    assert [row.file.name for row in result.rows] == ["b10"]


def test_a_link_leads_to_the_file_nearest_to_its_own_note() -> None:
    vault = MemoryVault(
        Note("A/Jane.md"),
        Note("B/Jane.md"),
        Note("A/x.md", {"by": "[[Jane]]"}),
        Note("B/y.md", {"by": "[[Jane]]"}),
    )
    text = "filters: by\nformulas: {where: by.asFile().path}\nviews:\n  - order: [formula.where]\n"
    result = query(read(text), vault)
    assert [result.plain_cells(row)["formula.where"] for row in result.rows] == ["A/Jane.md", "B/Jane.md"]
