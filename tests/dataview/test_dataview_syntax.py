from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper_dataview.engine import (
    DqlError,
    DqlSyntaxError,
    DqlUnsupported,
    parse_expression,
    parse_query,
    query_json,
    validate,
)
from tests.dataview.notes import NOW


def problem(query: str) -> DqlSyntaxError:
    found = validate(query)
    assert isinstance(found, DqlSyntaxError)
    return found


def test_an_error_names_its_line_and_column_and_what_was_expected() -> None:
    found = problem('TABLE a,\n  b\nFROM #x\nWHERE c = = "d"')
    assert (found.line, found.column) == (4, 11)
    assert "a number" in found.expected
    assert str(found).startswith("line 4, column 11: expected ")
    assert found.problem.endswith("found '= \"d\"'")


def test_a_word_that_is_no_query_is_answered_with_the_four_kinds() -> None:
    assert (
        str(problem("SELECT x"))
        == "line 1, column 1: expected TABLE, LIST, TASK or CALENDAR, found 'SELECT x'"
    )


def test_a_query_that_stops_short_says_that_the_text_ends() -> None:
    assert problem("LIST FROM").problem == "expected a space, found the end of the text"


def test_a_keyword_as_a_field_is_explained() -> None:
    assert any("row['limit']" in expected for expected in problem("LIST WHERE limit > 3").expected)


def test_a_valid_query_has_no_problem() -> None:
    assert validate("TASK WHERE !completed GROUP BY file.link") is None


@pytest.mark.parametrize(
    "text", ["```dataviewjs\ndv.list()\n```", "$= dv.current().file.name", "dv.table([], [])"]
)
def test_dataviewjs_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(DqlUnsupported, match="DataviewJS"):
        parse_query(text)
    assert isinstance(validate(text), DqlUnsupported)


def test_sort_directly_after_the_header_is_read_as_a_field() -> None:
    assert problem("LIST SORT file.name").column == 11


def test_comment_lines_may_stand_between_clauses() -> None:
    with_comments = parse_query('// all\nTABLE x // trailing\n// more\nFROM "y"\n// end')
    assert with_comments == parse_query('TABLE x FROM "y"')


def test_a_column_without_a_name_takes_its_text_without_line_breaks() -> None:
    header = query_json(parse_query("TABLE sum(\n  [a,\n  b])"), NOW)["header"]
    assert isinstance(header, dict)
    assert [column["name"] for column in header["fields"]] == ["sum([a,b])"]


def test_and_and_or_are_one_level_from_the_left() -> None:
    assert parse_expression("a or b and c") == parse_expression("(a or b) and c")


def test_a_dash_inside_a_name_belongs_to_it() -> None:
    assert parse_expression("a-b") != parse_expression("a - b")


@pytest.mark.parametrize(
    "text", ["(" * 5000, "[" * 5000, "1 or 1 = 1 + 1 * (" * 60, "!" * 5000 + "x", "{a: " * 900]
)
def test_hostile_nesting_ends_in_a_syntax_error(text: str) -> None:
    with pytest.raises(DqlSyntaxError):
        parse_expression(text)


@given(st.text(alphabet=' \n"#()[]{}.,+-*/=<>!&|abTABLEISKFROMWHERE01:\\é🎉', max_size=60))
def test_any_text_parses_or_raises_an_error_of_its_own(text: str) -> None:
    for parse in (parse_query, parse_expression):
        with suppress(DqlError):
            parse(text)
