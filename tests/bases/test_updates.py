"""Changing .base files: what the patch names changes, and every other byte stays."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knapper_bases.engine import BasesSyntaxError, create, read, update

TEXT = """\
# top comment
filters:
  and:
    - a == 1   # why

    # inner
    - "b"
custom: {x: 1}   # keep
views:
  # first
  - type: table   # the plain one
    name: One
    order:
      - file.name
    # end of one
  - type: cards
    name: Two
    weird: [1, 2]
  # trailing
# final
"""


def changed(patch: dict[str, Any], text: str = TEXT) -> tuple[list[str], list[str]]:
    """Give the lines that a patch removed and added."""
    before, after = text.splitlines(), update(text, patch).splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


def test_an_empty_patch_changes_nothing() -> None:
    assert update(TEXT, {}) == TEXT


def test_values_that_are_there_already_change_nothing() -> None:
    patch = {"filters": {"and": ["a == 1", "b"]}, "update_views": {"Two": {"weird": [1, 2]}}}
    assert update(TEXT, patch) == TEXT


def test_filters_are_replaced_or_removed() -> None:
    gone = ["filters:", "  and:", "    - a == 1   # why", "", "    # inner", '    - "b"']
    assert changed({"filters": "x > 1"}) == (gone, ["filters: x > 1"])
    assert changed({"filters": None}) == (gone, [])


def test_a_new_section_takes_its_usual_place() -> None:
    after = update(TEXT, {"formulas": {"total": "price * 2", "label": '"a: " + b'}})
    assert after == TEXT.replace("custom:", "formulas:\n  total: price * 2\n  label: '\"a: \" + b'\ncustom:")


def test_a_formula_is_set_added_and_removed_alone() -> None:
    text = "formulas:\n  # sum\n  a: x + y  # old\n\n  b: 2\nviews: []\n"
    assert update(text, {"formulas": {"a": "x"}}) == text.replace("x + y", "x")
    assert update(text, {"formulas": {"c": "3"}}) == text.replace("  b: 2\n", '  b: 2\n  c: "3"\n')
    assert update(text, {"formulas": {"a": None}}) == text.replace("  a: x + y  # old\n", "")
    assert update(text, {"formulas": {"a": None, "b": None}}) == "views: []\n"


def test_properties_are_set_by_their_ids() -> None:
    text = "properties:\n  file.name:\n    displayName: Name\n"
    assert update(text, {"properties": {"note.x": {"displayName": "X"}}}) == (
        text + "  note.x:\n    displayName: X\n"
    )


def test_a_view_changes_key_by_key() -> None:
    patch = {"update_views": {"One": {"limit": 5, "order": None, "group_by": {"property": "x"}}}}
    assert changed(patch) == (
        ["    order:", "      - file.name"],
        ["    limit: 5", "    groupBy:", "      property: x"],
    )


def test_the_first_key_of_a_view_can_go() -> None:
    assert "  - name: Two\n    weird: [1, 2]\n" in update(TEXT, {"update_views": {"Two": {"type": None}}})


def test_views_are_added_and_removed() -> None:
    view = {"type": "list", "name": "Three", "filters": {"or": ["a", '!b("x")']}}
    added = [
        "  - type: list",
        "    name: Three",
        "    filters:",
        "      or:",
        "        - a",
        "        - '!b(\"x\")'",
    ]
    assert changed({"add_views": [view]}) == ([], added)
    assert changed({"remove_views": ["Two"]}) == (
        ["  - type: cards", "    name: Two", "    weird: [1, 2]"],
        [],
    )
    assert read(update(TEXT, {"remove_views": ["One", "Two"]})).views == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "views:\n  - type: list\n    name: B\n"),
        ("# note", "# note\nviews:\n  - type: list\n    name: B\n"),
        ("views: []", "views:\n  - type: list\n    name: B"),
        ("views:\n", "views:\n  - type: list\n    name: B\n"),
        ("views:\n- type: table\n  name: A", "views:\n- type: table\n  name: A\n- type: list\n  name: B"),
        (
            "views:\r\n  - type: table\r\n    name: A\r\n",
            "views:\r\n  - type: table\r\n    name: A\r\n  - type: list\r\n    name: B\r\n",
        ),
        (
            "views: [{type: table, name: A}]  # flow\n",
            "views:\n  - type: table\n    name: A\n  - type: list\n    name: B  # flow\n",
        ),
        (
            "views:\n  - type: table\n    name: A\n    text: |\n      # no comment\n\n# end\n",
            "views:\n  - type: table\n    name: A\n    text: |\n      # no comment\n  - type: list\n    name: B\n\n# end\n",
        ),
    ],
)
def test_a_view_fits_into_any_form_of_file(text: str, expected: str) -> None:
    assert update(text, {"add_views": [{"type": "list", "name": "B"}]}) == expected


def test_a_file_written_as_json_is_changed_too() -> None:
    after = update('{"views": [{"type": "table", "name": "A"}]}', {"update_views": {"A": {"limit": 3}}})
    assert read(after).views[0].limit == 3


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"view": {}}, "view: a patch has no such key"),
        ({"remove_views": ["Nine"]}, "remove_views: there is no view 'Nine'; there are: 'One', 'Two'"),
        (
            {"update_views": {"Nine": {}}},
            "update_views.Nine: there is no view 'Nine'; there are: 'One', 'Two'",
        ),
        ({"add_views": [{"type": "table", "name": "One"}]}, "add_views: there is a view 'One' already"),
        (
            {"update_views": {"One": {"limit": "x"}}},
            "views[0].limit: expected a whole number of rows, found 'x'",
        ),
        ({"formulas": ["a"]}, "formulas: expected an object"),
    ],
)
def test_a_patch_that_makes_no_sense_is_refused(patch: dict[str, Any], message: str) -> None:
    with pytest.raises(BasesSyntaxError) as raised:
        update(TEXT, patch)
    assert str(raised.value) == message


WORDS = st.text("ab: #'\"-!{}[]&*é\\\n😀0.", min_size=1, max_size=12)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
VIEWS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.just("table"), "name": WORDS, "other": DATA}
)
FILES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "filters": WORDS,
        "formulas": st.dictionaries(WORDS, WORDS, min_size=1, max_size=3),
        "views": st.lists(VIEWS, min_size=1, max_size=3, unique_by=lambda view: str(view["name"])),
        "unknown": DATA,
    }
)


@settings(deadline=None)
@given(FILES, st.integers(0, 2), DATA.filter(lambda value: value is not None))
def test_setting_one_key_of_one_view_leaves_all_else(base: dict[str, Any], which: int, value: object) -> None:
    text = create(base)
    name = base["views"][which % len(base["views"])]["name"]
    after = update(text, {"update_views": {name: {"other": value, "fresh": [1]}}})
    view = next(view for view in base["views"] if view["name"] == name)
    view["other"], view["fresh"] = value, [1]
    assert read(after).data == base


@settings(deadline=None)
@given(FILES, WORDS)
def test_a_formula_that_comes_and_goes_leaves_no_trace(base: dict[str, Any], name: str) -> None:
    text = create(base)
    if name not in base["formulas"]:
        there = update(text, {"formulas": {name: "1 + 1"}})
        assert read(there).formulas[name] == "1 + 1"
        assert update(there, {"formulas": {name: None}}) == text
