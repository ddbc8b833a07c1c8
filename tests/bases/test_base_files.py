"""Reading .base files: what a base says, and what is wrong with one that is not a base."""

import pytest

from knapper_bases.engine import And, BasesSyntaxError, Issue, Not, Or, Sort, create, read, read_filters

TEXT = """\
filters:
  and:
    - file.hasTag("book")
    - or:
        - status == "done"
        - not:
            - file.inFolder("Archive")
formulas:
  ppu: (price / age).toFixed(2)
  yes: 1
properties:
  formula.ppu:
    displayName: Price
summaries:
  mine: values.mean().round(3)
views:
  - type: table
    name: My table
    limit: 10
    groupBy:
      property: note.age
      direction: DESC
    order:
      - file.name
      - note.age
    sort:
      - column: age
        direction: desc
    summaries:
      price: Average
    rowHeight: tall
  - type: cards
"""


def test_reads_everything_a_query_needs() -> None:
    base = read(TEXT)
    assert base.filters == And(
        ('file.hasTag("book")', Or(('status == "done"', Not(('file.inFolder("Archive")',)))))
    )
    assert base.formulas == {"ppu": "(price / age).toFixed(2)", "yes": "1"}
    assert base.properties == {"formula.ppu": {"displayName": "Price"}}
    assert base.summaries == {"mine": "values.mean().round(3)"}
    table, cards = base.views
    assert (table.name, table.type, table.limit, table.order) == (
        "My table",
        "table",
        10,
        ("file.name", "note.age"),
    )
    assert (table.sort, table.group_by) == ((Sort("age", True),), Sort("note.age", True))
    assert (table.summaries, table.other) == ({"price": "Average"}, {"rowHeight": "tall"})
    assert (cards.name, cards.type, cards.order, cards.limit) == ("Cards", "cards", None, None)


@pytest.mark.parametrize("text", ["", "# nothing\n", "views:\n", "views: []\nfilters:\n"])
def test_an_empty_file_is_a_base(text: str) -> None:
    assert read(text).views == ()


def test_json_names_the_grouping_as_the_tools_do_and_keeps_the_rest() -> None:
    view = read(TEXT).as_json()["views"][0]
    assert view["group_by"] == {"property": "note.age", "direction": "DESC"}
    assert view["rowHeight"] == "tall"
    assert "groupBy" not in view


@pytest.mark.parametrize(
    ("text", "issues"),
    [
        ("views: 3", [Issue("views", "expected a list, found a number")]),
        ("- a", [Issue("the file", "expected an object, found a list")]),
        ("views:\n  - table", [Issue("views[0]", "expected an object, found a text")]),
        ("formulas:\n  a: [1]", [Issue("formulas.a", "expected a text, found a list")]),
        (
            "filters:\n  and: []\n  or: []",
            [Issue("filters", "expected exactly one of and, or, not, found 'and', 'or'")],
        ),
        (
            "filters:\n  and:\n    - xor: []",
            [Issue("filters.and[0]", "expected exactly one of and, or, not, found 'xor'")],
        ),
        (
            "filters:\n  and:\n    - 5",
            [
                Issue(
                    "filters.and[0]",
                    "expected an expression or an object with one of and, or, not, found a number",
                )
            ],
        ),
        (
            "filters:\n  not:\n    - !file.x()",
            [Issue("filters.not[0]", "'!file.x()' is a YAML tag; put an expression with ! in quotes")],
        ),
        (
            "views:\n  - sort: [{direction: UP}]\n    limit: -1",
            [
                Issue("views[0].sort[0]", "the property is missing"),
                Issue("views[0].sort[0].direction", "expected ASC or DESC, found 'UP'"),
                Issue("views[0].limit", "expected a whole number of rows, found -1"),
            ],
        ),
        ("views:\n  - type: a\n    type: b", [Issue("views[0].type", "the key stands here twice")]),
    ],
)
def test_a_wrong_shape_is_told_place_by_place(text: str, issues: list[Issue]) -> None:
    with pytest.raises(BasesSyntaxError) as raised:
        read(text)
    assert raised.value.issues == issues


def test_wrong_yaml_names_line_and_column() -> None:
    with pytest.raises(BasesSyntaxError) as raised:
        read("views:\n  - [\n")
    assert raised.value.issues[0].place == "line 3, column 1"


def test_aliases_cannot_make_a_short_file_endless() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(BasesSyntaxError, match="more than 50000 values"):
        read("\n".join(lines))


def test_creates_a_file_that_reads_back_the_same() -> None:
    text = create(
        {
            "filters": {
                "and": ['status == "a: b"', "!done", "yes", "2024-01-01", "1e3", "0o7", "two\nlines"]
            },
            "views": [{"type": "table", "name": "T", "group_by": {"property": "x"}, "order": []}],
        }
    )
    assert text == (
        "filters:\n  and:\n"
        "    - 'status == \"a: b\"'\n"
        '    - "!done"\n'
        "    - 'yes'\n"
        "    - '2024-01-01'\n"
        '    - "1e3"\n'
        '    - "0o7"\n'
        '    - "two\\nlines"\n'
        "views:\n  - type: table\n    name: T\n    groupBy:\n      property: x\n    order: []\n"
    )
    assert read(text).filters == And(
        ('status == "a: b"', "!done", "yes", "2024-01-01", "1e3", "0o7", "two\nlines")
    )


def test_creating_refuses_what_is_no_base() -> None:
    with pytest.raises(BasesSyntaxError, match=r"views\[0\]\.limit: expected a whole number"):
        create({"views": [{"type": "table", "limit": "many"}]})


def test_filters_can_come_as_data() -> None:
    assert read_filters({"or": ["a", {"not": ["b"]}]}) == Or(("a", Not(("b",))))
    assert read_filters(None) is None
    with pytest.raises(BasesSyntaxError, match="filters: expected exactly one of and, or, not, found none"):
        read_filters({})
