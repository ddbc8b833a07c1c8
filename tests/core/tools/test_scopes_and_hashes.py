"""Which scopes cover which, and which calls are the same call."""

from __future__ import annotations

import random
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.caller import Caller
from knapper.dispatch.canonical import args_hash

FAMILIES = ("read", "write", "delete", "execute", "admin", "bulk")
RESOURCES = ("notes", "vault", "canvas", "memory")
REQUIRED = st.tuples(st.sampled_from(FAMILIES), st.sampled_from(RESOURCES)).map(":".join)
GRANTED = REQUIRED | st.sampled_from(
    ["*", *FAMILIES, *(f"{f}:*" for f in FAMILIES), *(f"*:{r}" for r in RESOURCES)]
)


def covers(granted: str, required: str) -> bool:
    return Caller("ann", frozenset({granted})).may(required)


@pytest.mark.parametrize(
    ("granted", "required", "expected"),
    [
        ("*", "admin:auth", True),
        ("read", "read:notes", True),
        ("read:*", "read:notes", True),
        ("*:notes", "delete:notes", True),
        ("read:notes", "read:notes", True),
        ("read:notes", "read:note", False),
        ("read:note", "read:notes", False),
        ("read", "reader:notes", False),
        ("read:notes", "write:notes", False),
        ("*:notes", "read:vault", False),
        ("READ", "read:notes", False),
        ("", "read:notes", False),
        (":notes", "read:notes", False),
        ("read:", "read:notes", False),
        ("*:*", "write:notes", True),
    ],
)
def test_a_granted_scope_covers_what_the_grammar_says(granted: str, required: str, expected: bool) -> None:
    assert covers(granted, required) is expected


@given(granted=GRANTED, required=REQUIRED)
def test_a_scope_covers_by_family_and_resource_alone(granted: str, required: str) -> None:
    family, _, resource = granted.partition(":")
    wanted_family, _, wanted_resource = required.partition(":")
    expected = family in ("*", wanted_family) and resource in ("", "*", wanted_resource)
    assert covers(granted, required) is expected


@given(granted=st.sets(GRANTED, max_size=5), more=st.sets(GRANTED, max_size=5), required=REQUIRED)
def test_more_scopes_never_allow_less(granted: set[str], more: set[str], required: str) -> None:
    few, many = Caller("a", frozenset(granted)), Caller("a", frozenset(granted | more))
    assert not few.may(required) or many.may(required)


@given(required=REQUIRED)
def test_no_scope_allows_nothing(required: str) -> None:
    assert not Caller("a").may(required)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=5)


def shuffled(value: Any, seed: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(item, seed) for item in value]
    if not isinstance(value, dict):
        return value
    items = list(value.items())
    seed.shuffle(items)
    return {key: shuffled(item, seed) for key, item in items}


@given(arguments=ARGUMENTS, seed=st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_change_the_hash(arguments: dict[str, Any], seed: random.Random) -> None:
    assert args_hash("tool", arguments) == args_hash("tool", shuffled(arguments, seed))


@given(first=ARGUMENTS, second=ARGUMENTS)
def test_other_arguments_have_another_hash(first: dict[str, Any], second: dict[str, Any]) -> None:
    same = _exact(first) == _exact(second)
    assert (args_hash("tool", first) == args_hash("tool", second)) is same


def test_the_hash_is_what_a_client_can_compute_itself() -> None:
    text = 'delete_note {"hard":false,"path":"a.md"}'
    assert args_hash("delete_note", {"path": "a.md", "hard": False}) == sha256(text.encode()).hexdigest()[:32]


def test_another_tool_has_another_hash() -> None:
    assert args_hash("delete_note", {"path": "a.md"}) != args_hash("read_note", {"path": "a.md"})


def test_the_order_of_a_list_counts() -> None:
    assert args_hash("t", {"a": [1, 2]}) != args_hash("t", {"a": [2, 1]})


def _exact(value: Any) -> Any:
    """Equal only for equal JSON: in Python 1, 1.0 and True are one."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return type(value).__name__, repr(value)
