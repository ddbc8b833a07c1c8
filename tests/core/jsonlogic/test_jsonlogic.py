from __future__ import annotations

import math
from typing import Any

import pytest

from knapper import ToolError
from knapper.jsonlogic import MAX_DEPTH, MAX_OPS, MAX_SIZE, Rule, truthy

PIE = {"pie": {"filling": "apple", "slices": 8}, "list": [1, 2, 3, 4], "none": None, "empty": ""}


@pytest.mark.parametrize(
    ("logic", "expected"),
    [
        (17, 17),
        ("apple", "apple"),
        (None, None),
        ([1, {"+": [1, 1]}], [1, 2]),
        ({}, {}),
        ({"var": "pie.filling"}, "apple"),
        ({"var": ["pie.filling"]}, "apple"),
        ({"var": "list.1"}, 2),
        ({"var": "list.9"}, None),
        ({"var": ["pie.crust", "short"]}, "short"),
        ({"var": ["none", "short"]}, None),
        ({"var": ["none.deeper", "short"]}, "short"),
        ({"var": ""}, PIE),
        ({"var": []}, PIE),
        ({"var": {"cat": ["pie.", "slices"]}}, 8),
        ({"missing": ["pie.filling", "pie.crust", "empty", "none"]}, ["pie.crust", "empty", "none"]),
        ({"missing": "pie"}, []),
        ({"missing": {"merge": ["a", ["list"]]}}, ["a"]),
        ({"missing_some": [1, ["pie", "b"]]}, []),
        ({"missing_some": [2, ["pie", "b", "c"]]}, ["b", "c"]),
        ({"if": []}, None),
        ({"if": [True]}, True),
        ({"if": [False, "a"]}, None),
        ({"if": [{">": [1, 2]}, "a", True, "b", "c"]}, "b"),
        ({"if": [0, "a", [], "b", "c"]}, "c"),
        ({"?:": ["0", "yes", "no"]}, "yes"),
        ({"and": [1, "", 3]}, ""),
        ({"and": [1, 2]}, 2),
        ({"or": [0, False, "x"]}, "x"),
        ({"or": [0, False]}, False),
        ({"!": [[]]}, True),
        ({"!": "0"}, False),
        ({"!!": [[0]]}, True),
        ({"==": [1, "1"]}, True),
        ({"==": [1, True]}, True),
        ({"==": [None, 0]}, False),
        ({"==": [[1], 1]}, True),
        ({"==": [["a"], ["a"]]}, True),
        ({"==": ["a", 0]}, False),
        ({"!=": [0, ""]}, False),
        ({"===": [1, "1"]}, False),
        ({"===": [1, 1.0]}, True),
        ({"===": [1, True]}, False),
        ({"!==": [1, "1"]}, True),
        ({"<": [1, 2, 3]}, True),
        ({"<": [1, 3, 2]}, False),
        ({"<=": [1, 1, 1]}, True),
        ({">": ["2024-02-01", "2024-01-31"]}, True),
        ({">": [10, "9"]}, True),
        ({">=": ["x", 1]}, False),
        ({"in": ["pl", "apple"]}, True),
        ({"in": [2, {"var": "list"}]}, True),
        ({"in": ["2", {"var": "list"}]}, False),
        ({"in": ["a", None]}, False),
        ({"in": [{"var": "not there"}, "a text"]}, False),
        ({"+": ["3.5 pies", 2]}, 5.5),
        ({"+": "0"}, 0),
        ({"+": [0.1, 0.2]}, 0.30000000000000004),
        ({"*": [2, "3", 4]}, 24),
        ({"-": [4, 1]}, 3),
        ({"-": [4]}, -4),
        ({"/": [7, 2]}, 3.5),
        ({"/": [6, 2]}, 3),
        ({"/": [1, 0]}, math.inf),
        ({"%": [-7, 3]}, -1),
        ({"min": [3, "1", 2]}, 1),
        ({"max": [3, 1, 2]}, 3),
        ({"cat": ["I love ", {"var": "pie.filling"}, " ", 1.0, None, [1, 2]]}, "I love apple 11,2"),
        ({"substr": ["jsonlogic", 4]}, "logic"),
        ({"substr": ["jsonlogic", -5]}, "logic"),
        ({"substr": ["jsonlogic", 1, 3]}, "son"),
        ({"substr": ["jsonlogic", 4, -2]}, "log"),
        ({"substr": ["äöü", -99, "2"]}, "äö"),
        ({"merge": [[1], 2, [3, [4]]]}, [1, 2, 3, [4]]),
        ({"map": [{"var": "list"}, {"*": [{"var": ""}, 2]}]}, [2, 4, 6, 8]),
        ({"map": [{"var": "pie"}, 1]}, []),
        ({"filter": [{"var": "list"}, {"%": [{"var": ""}, 2]}]}, [1, 3]),
        (
            {"reduce": [{"var": "list"}, {"+": [{"var": "current"}, {"var": "accumulator"}]}, 10]},
            20,
        ),
        ({"reduce": [{"var": "nothing"}, {"var": "current"}, 7]}, 7),
        ({"all": [{"var": "list"}, {">": [{"var": ""}, 0]}]}, True),
        ({"all": [[], True]}, False),
        ({"some": [{"var": "list"}, {">": [{"var": ""}, 3]}]}, True),
        ({"some": [[], True]}, False),
        ({"none": [{"var": "list"}, {">": [{"var": ""}, 4]}]}, True),
        ({"none": [[], True]}, True),
    ],
)
def test_an_operation_gives_what_json_logic_says(logic: Any, expected: Any) -> None:
    got = Rule(logic)(PIE)
    assert got == expected
    assert type(got) is type(expected)


def test_a_rule_is_asked_again_and_again() -> None:
    rule = Rule({"and": [{"==": [{"var": "status"}, "active"]}, {"in": ["dev", {"var": "tags"}]}]})
    assert rule.holds({"status": "active", "tags": ["dev"]})
    assert not rule.holds({"status": "active", "tags": ["ops"]})
    assert not rule.holds({})


@pytest.mark.parametrize(("value", "expected"), [([], False), ({}, True), ("0", True), (math.nan, False)])
def test_truth_is_that_of_json_logic(value: Any, expected: bool) -> None:
    assert truthy(value) is expected


def test_a_branch_not_taken_is_not_evaluated() -> None:
    endless = {"map": [list(range(MAX_OPS)), 1]}
    assert Rule({"if": [True, "a", endless]})({}) == "a"
    assert Rule({"or": ["a", endless]})({}) == "a"


@pytest.mark.parametrize(
    ("logic", "message", "details"),
    [
        ({"fitler": [1, 2]}, "there is no operator 'fitler'; did you mean 'filter'?", {"op": "fitler"}),
        ({"if": [True, 1, {"shell": "x"}]}, "there is no operator 'shell'", {"op": "shell"}),
        ({">": [1]}, "'>' does not take 1 arguments", {"op": ">"}),
        (
            {"var": "a", "==": [1, 1]},
            "an operation is an object with one key, its operator",
            {"keys": ["==", "var"]},
        ),
    ],
)
def test_a_malformed_rule_is_refused_before_it_is_used(
    logic: Any, message: str, details: dict[str, Any]
) -> None:
    with pytest.raises(ToolError) as error:
        Rule(logic)
    assert (error.value.code, error.value.message) == ("jsonlogic_error", message)
    assert error.value.details == details


def nested(depth: int) -> Any:
    logic: Any = True
    for _ in range(depth - 1):
        logic = {"!": logic}
    return logic


def test_a_rule_is_as_deep_as_allowed_and_no_deeper() -> None:
    assert Rule(nested(MAX_DEPTH))({}) is False
    with pytest.raises(ToolError) as error:
        Rule(nested(MAX_DEPTH + 1))
    assert error.value.code == "jsonlogic_error"
    assert error.value.details == {"max_depth": 64}


def test_a_rule_ends_at_its_budget_of_steps() -> None:
    rule = Rule({"map": [{"var": "list"}, {"map": [{"var": ""}, 1]}]})
    assert rule({"list": [[1] * 10] * 10})[9] == [1] * 10
    with pytest.raises(ToolError) as error:
        rule({"list": [[1] * 200] * 200})
    assert error.value.code == "jsonlogic_error"
    assert error.value.details == {"max_ops": 10_000}


def test_each_evaluation_has_a_budget_of_its_own() -> None:
    rule = Rule({"map": [{"var": "list"}, {"var": ""}]})
    for _ in range(5):
        assert len(rule({"list": [0] * 3000})) == 3000


def test_a_text_that_doubles_without_end_ends_at_its_budget() -> None:
    double = {"cat": [{"var": "accumulator"}, {"var": "accumulator"}]}
    with pytest.raises(ToolError) as error:
        Rule({"reduce": [{"var": "list"}, double, "x"]})({"list": [0] * 64})
    assert error.value.details == {"max_size": MAX_SIZE}


def test_a_number_that_grows_without_end_becomes_infinite() -> None:
    square = {"*": [{"var": "accumulator"}, {"var": "accumulator"}]}
    assert Rule({"reduce": [{"var": "list"}, square, 3]})({"list": [0] * 64}) == math.inf
