"""What may be shown of a configuration, and that what is shown can be used again."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from knapper.config import toml
from knapper.config.load import leaves
from knapper.config.redact import redacted


@pytest.mark.parametrize(
    "key",
    [
        "jwt_secret",
        "jwtSecret",
        "api_key",
        "restApiKey",
        "token",
        "PASSWORD",
        "Authorization",
        "proxy-authorization",
        "Cookie",
        "Set-Cookie",
        "x-api-key",
        "X-Auth-Token",
    ],
)
def test_a_text_under_the_name_of_a_secret_is_hidden(key: str) -> None:
    assert redacted({"a": [{key: "hush"}]}) == {"a": [{key: "<redacted>"}]}


def test_the_texts_of_a_list_under_such_a_name_are_hidden_too() -> None:
    assert redacted({"api_key": ["one", "two"]}) == {"api_key": ["<redacted>", "<redacted>"]}


def test_a_secret_by_its_type_is_hidden_under_any_name() -> None:
    assert redacted({"headers": {"X-Anything": SecretStr("hush")}}) == {
        "headers": {"X-Anything": "<redacted>"}
    }


def test_a_password_inside_an_address_is_hidden() -> None:
    assert redacted({"url": "https://ann:hush@host/x"}) == {"url": "https://<redacted>@host/x"}


def test_everything_else_is_shown_as_it_is() -> None:
    plain = {"token_ttl_seconds": 5, "keys": ["a"], "monkey_business": "x", "path": "a@b", "none": None}
    assert redacted(plain) == plain


def test_the_settings_inside_a_value_have_dotted_names() -> None:
    value = {"a": {"b": 1, "c": []}, "v": [{"x": 1}, {"x": 2}], "l": [1, 2], "e": {}}
    assert leaves(value) == {"a.b": 1, "a.c": [], "v.0.x": 1, "v.1.x": 2, "l": [1, 2], "e": {}}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALAR = (
    TEXT | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
TABLE = st.recursive(
    st.dictionaries(TEXT, SCALAR, max_size=3),
    lambda inner: st.dictionaries(
        TEXT, SCALAR | inner | st.lists(SCALAR, max_size=3) | st.lists(inner, max_size=3), max_size=4
    ),
    max_leaves=10,
)


@given(TABLE)
def test_what_is_written_as_toml_is_read_as_the_same(table: dict[str, Any]) -> None:
    assert tomllib.loads(toml.dumps(table)) == table


def test_what_is_none_is_left_out_of_toml() -> None:
    assert toml.dumps({"a": None, "b": {"c": None, "d": 1}}) == "[b]\nd = 1\n"
