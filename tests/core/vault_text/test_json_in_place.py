import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knapper.vault.jsontext import Document

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SPACE = st.sampled_from(["", "", " ", "\n", "\n\t", "\n    ", "\r\n  "])
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.lists(st.dictionaries(TEXT, VALUE, max_size=4), min_size=1, max_size=5)


@st.composite
def spelled(draw: st.DrawFn, value: Any) -> str:
    """A value as some program might have written it."""

    def around(text: str) -> str:
        return draw(SPACE) + text + draw(SPACE)

    if isinstance(value, dict):
        members = [around(spell(key)) + ":" + around(draw(spelled(one))) for key, one in value.items()]
        return "{" + (",".join(members) or draw(SPACE)) + "}"
    if isinstance(value, list):
        return "[" + (",".join(around(draw(spelled(one))) for one in value) or draw(SPACE)) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def spell(key: str) -> str:
    return json.dumps(key)


@settings(deadline=None)
@given(st.data(), VALUE)
def test_a_text_in_which_nothing_changes_stays_as_it_is(data: st.DataObject, value: Any) -> None:
    text = data.draw(SPACE) + data.draw(spelled(value)) + data.draw(SPACE)
    document = Document(text)
    assert document.value == value
    assert document.text() == text


@settings(deadline=None)
@given(st.data(), OBJECTS, VALUE)
def test_a_changed_item_leaves_the_others_as_they_are_spelled(
    data: st.DataObject, items: list[dict[str, Any]], new: Any
) -> None:
    spellings = [data.draw(spelled(item)) for item in items]
    text = "[" + ",".join(spellings) + "]"
    document = Document(text)
    place = data.draw(st.integers(0, len(items) - 1))
    document.value[place]["new key"] = new
    changed = document.text()
    assert json.loads(changed) == document.value
    assert changed.startswith("[" + ",".join(spellings[:place]))
    assert changed.endswith(",".join(spellings[place + 1 :]) + "]")


@settings(deadline=None)
@given(st.data(), OBJECTS, st.lists(VALUE, max_size=3))
def test_removed_and_added_items_leave_valid_json_and_the_rest_as_it_is_spelled(
    data: st.DataObject, items: list[dict[str, Any]], added: list[Any]
) -> None:
    spellings = [data.draw(spelled(item)) for item in items]
    document = Document('{"list":[' + ", ".join(spellings) + "]}")
    gone = data.draw(st.sets(st.integers(0, len(items) - 1)))
    kept = [place for place in range(len(items)) if place not in gone]
    document.value["list"][:] = [document.value["list"][place] for place in kept] + added
    changed = document.text()
    assert json.loads(changed) == {"list": [*(items[place] for place in kept), *added]}
    assert all(spellings[place] in changed for place in kept)


def test_a_new_member_looks_like_its_neighbours() -> None:
    document = Document('{\n  "a": {\n    "b": 1.50\n  },\n  "c": []\n}\n')
    document.value["a"]["d"] = {"e": [1, {}]}
    document.value["c"].append("x")
    assert document.text() == (
        '{\n  "a": {\n    "b": 1.50,\n    "d": {\n      "e": [\n        1,\n        {}\n      ]\n    }\n  },\n'
        '  "c": [\n    "x"\n  ]\n}\n'
    )


def test_a_text_on_one_line_stays_on_one_line() -> None:
    document = Document('{"a": 1, "b": [1, 2]}')
    document.value["c"] = {"d": [1, 2]}
    document.value["b"].append(3)
    del document.value["a"]
    assert document.text() == '{"b": [1, 2, 3], "c": {"d": [1, 2]}}'


def test_a_name_that_stands_twice_means_the_last() -> None:
    document = Document('{"a":1,"a":2}')
    assert (document.value, document.text()) == ({"a": 2}, '{"a":1,"a":2}')
    document.value["a"] = 3
    assert document.text() == '{"a":1,"a":3}'


def test_a_name_that_stands_twice_keeps_what_the_first_says() -> None:
    text = '{"a": null, "a": [1], "b": {"c": [ 2 ], "c": {}}}'
    document = Document(text)
    assert document.text() == text
    document.value["a"].append(3)
    assert document.text() == text.replace("[1]", "[1, 3]")


def test_an_equal_value_put_in_place_of_another_changes_nothing() -> None:
    document = Document('{"a": {"x":1.0, "y": [1e3]}}')
    document.value["a"] = {"x": 1.0, "y": [1000.0]}
    assert document.text() == '{"a": {"x":1.0, "y": [1e3]}}'
    document.value["a"] = {"x": 1, "y": [1000.0]}
    assert json.loads(document.text()) == {"a": {"x": 1, "y": [1000.0]}}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,]", '{"a"}', '{"a":}', "{a:1}", "[1] 2", "NaN", '["a\nb"]', "[1 2]", '{"a":1', "[" * 5000],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Document(text)


def test_half_a_character_is_read_as_a_mark_and_stays_as_it_is_spelled() -> None:
    document = Document('{"cut":"a \\ud83d","whole":"\\ud83d\\ude00","x":1}')
    assert document.value == {"cut": "a \ufffd", "whole": "\U0001f600", "x": 1}
    document.value["x"] = 2
    assert document.text() == '{"cut":"a \\ud83d","whole":"\\ud83d\\ude00","x":2}'
