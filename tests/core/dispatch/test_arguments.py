"""Arguments that do not fit: each issue names its field, and no answer grows with what was sent."""

from __future__ import annotations

import pytest

from tests.core.dispatch.desk import Desk


def test_every_field_that_does_not_fit_is_named(desk: Desk) -> None:
    error = desk.error("put", path=5, pad="many", nothing=1, txt="x")
    assert error["code"] == "validation_error"
    fields = {issue["field"]: issue["message"] for issue in error["details"]["issues"]}
    assert fields == {
        "nothing": "is not a parameter",
        "txt": "is not a parameter; did you mean 'text'?",
        "path": "Expected 'str', got 'int'",
        "text": "is required",
        "pad": "Expected 'int', got 'str'",
    }


@pytest.mark.parametrize("value", [None, True, 5, [], {}, ["a.md"], {"path": "a.md"}])
def test_a_path_is_a_text(desk: Desk, value: object) -> None:
    error = desk.error("look", path=value)
    assert (error["code"], error["details"]["issues"][0]["field"]) == ("validation_error", "path")


def test_a_path_has_a_length(desk: Desk) -> None:
    assert desk.code("look", path="") == "validation_error"
    assert desk.code("look", path="x" * 1025) == "validation_error"


def test_a_key_has_a_length(desk: Desk) -> None:
    for key in ("", "k" * 129):
        assert desk.code("put", path="b.md", text="x", idempotency_key=key) == "validation_error"
    assert desk.keys() == []


def test_a_million_wrong_fields_cost_little_and_answer_little(desk: Desk) -> None:
    error = desk.error("look", **{f"field{number}": 1 for number in range(1_000_000)})
    assert len(error["details"]["issues"]) == 21
    assert error["details"]["issues"][-1] == {"field": "path", "message": "is required"}


def test_a_very_long_field_name_is_cut(desk: Desk) -> None:
    error = desk.error("look", **{"path": "a.md", "f" * 1_000_000: 1})
    assert error["details"]["issues"] == [{"field": "f" * 64, "message": "is not a parameter"}]


def test_a_token_that_is_sent_as_an_argument_of_the_call_itself_is_unknown(desk: Desk) -> None:
    assert (
        desk.error("wipe", path="a.md", elicit_token="0" * 32)["details"]["issues"][0]["field"]
        == "elicit_token"
    )
