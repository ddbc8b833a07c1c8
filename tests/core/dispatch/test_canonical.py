"""The hash of a call: the same for the same JSON however it is spelled, and for nothing else."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.dispatch.canonical import DEEPEST, args_hash
from tests.core.dispatch.desk import Desk


def of(text: str) -> str:
    return args_hash("tool", msgspec.json.decode(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":2}', '{ "b" : 2, "a" : 1 }'),
        ('{"a":{"x":[1,{"c":1,"d":2}]}}', '{"a":{"x":[1,{"d":2,"c":1}]}}'),
        ('{"n":1}', '{"n":1.0}'),
        ('{"n":-0.0}', '{"n":0}'),
        ('{"n":100}', '{"n":1e2}'),
        ('{"n":[1.0,{"m":2.0}]}', '{"n":[1,{"m":2}]}'),
        ('{"t":"\\u00e9\\ud83d\\ude00\\/"}', '{"t":"é😀/"}'),
        ('{"é":1}', '{"\\u00e9":1}'),
        ('{"t":"1.0","n":1.0}', '{"n":1,"t":"1.0"}'),
    ],
)
def test_two_spellings_of_one_call_have_one_hash(one: str, other: str) -> None:
    assert of(one) == of(other)
    assert len(of(one)) == 32


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1}', '{"a":"1"}'),
        ('{"a":1}', '{"a":true}'),
        ('{"a":null}', "{}"),
        ('{"a":null}', '{"a":"null"}'),
        ('{"a":[1,2]}', '{"a":[2,1]}'),
        ('{"a":1.5}', '{"a":1}'),
        ('{"t":"1.0"}', '{"t":"1"}'),
        ('{"a":9007199254740993}', '{"a":9007199254740992}'),
        ('{"a":0.1}', '{"a":0.10000000000000002}'),
        ('{"t":"é"}', '{"t":"e\\u0301"}'),
        ('{"a":{"b":1}}', '{"a.b":1}'),
    ],
)
def test_two_calls_have_two_hashes(one: str, other: str) -> None:
    assert of(one) != of(other)


def test_the_tool_is_part_of_the_hash_and_not_confused_with_its_arguments() -> None:
    assert args_hash("a", {}) != args_hash("b", {})
    assert args_hash("a {}", {}) != args_hash("a", {})


def test_a_hash_can_be_computed_elsewhere() -> None:
    import hashlib

    text = 'delete_note {"hard":false,"n":2,"path":"ä.md"}'
    expected = hashlib.sha256(text.encode()).hexdigest()[:32]
    assert args_hash("delete_note", {"path": "ä.md", "n": 2.0, "hard": False}) == expected


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "\ud800", object(), {1: "a"}])
def test_what_json_has_no_form_for_has_no_hash_and_is_refused(desk: Desk, value: Any) -> None:
    assert args_hash("look", {"path": value}) == ""
    error = desk.error("look", path=value)
    assert (error["code"], error["details"]["issues"][0]["field"]) == ("validation_error", "arguments")
    assert desk.audited() == [("look", "error", "validation_error")]


def nested(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"in": value}
    return value


def test_arguments_nested_too_deeply_are_refused_before_anything_looks_at_them(desk: Desk) -> None:
    assert len(args_hash("t", {"a": nested(DEEPEST - 2)})) == 32
    for depth in (DEEPEST + 1, 5_000, 200_000):
        assert args_hash("t", {"a": nested(depth)}) == ""
    assert desk.code("look", path=nested(5_000)) == "validation_error"


def test_brackets_inside_texts_are_not_nesting() -> None:
    assert len(args_hash("t", {"text": "[{" * 100_000})) == 32
    assert len(args_hash("t", {"list": [{"a": [1]}] * 10_000})) == 32


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.floats(allow_nan=False, allow_infinity=False)
)
JSON = st.dictionaries(
    st.text(max_size=4),
    st.recursive(
        SCALARS,
        lambda inside: (
            st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=4), inside, max_size=3)
        ),
        max_leaves=10,
    ),
    max_size=4,
)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: numbers by value, but a number is no boolean."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and type(one) in _like(other) and one == other


def _like(value: Any) -> tuple[type, ...]:
    return (int, float) if type(value) in (int, float) else (type(value),)


@given(JSON)
def test_what_goes_over_the_wire_keeps_its_hash(arguments: dict[str, Any]) -> None:
    assert args_hash("t", json.loads(json.dumps(arguments))) == args_hash("t", arguments)
    assert args_hash("t", msgspec.json.decode(msgspec.json.encode(arguments))) == args_hash("t", arguments)


@given(JSON, JSON)
def test_no_two_different_arguments_share_a_hash(one: dict[str, Any], other: dict[str, Any]) -> None:
    if args_hash("t", one) == args_hash("t", other):
        assert same(one, other)
