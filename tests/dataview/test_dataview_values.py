import itertools
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper_dataview.engine import Engine, EvaluationError, plain, typed
from knapper_dataview.engine.collation import compare_text
from knapper_dataview.engine.comparison import compare, ranked
from knapper_dataview.engine.dates import add, parse_date
from knapper_dataview.engine.durations import Duration, parse_duration
from knapper_dataview.engine.values import Link
from tests.dataview.notes import NOW, value
from tests.dataview.vault_source import VaultSource


def test_strings_go_by_letters_first_then_accents_then_case() -> None:
    words = ["b", "A", "a", "B", "á", "_x", "1", "10", "2", "z", "Ω", "я", "日", "あ", "-", "😀", "$", " "]
    ordered = [words[at] for at in ranked([*words])]
    assert ordered == [
        " ",
        "_x",
        "-",
        "😀",
        "$",
        "1",
        "10",
        "2",
        "a",
        "A",
        "á",
        "b",
        "B",
        "z",
        "Ω",
        "я",
        "あ",
        "日",
    ]


def test_an_accent_outweighs_case_but_not_a_later_letter() -> None:
    assert compare_text("résumé", "resumes") < 0
    assert compare_text("Resume", "résumé") < 0


def test_composed_and_decomposed_letters_are_equal() -> None:
    assert compare_text("é", "e\u0301") == 0


@given(st.lists(st.text(max_size=8), min_size=2, max_size=8))
def test_the_order_of_strings_is_the_order_of_comparing_them(words: list[str]) -> None:
    ordered = [words[at] for at in ranked([*words])]
    assert all(compare_text(one, other) <= 0 for one, other in itertools.pairwise(ordered))


mixed = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
    | st.builds(Link, st.sampled_from("abc"))
    | st.builds(lambda days: Duration.of(days=days), st.integers(0, 3)),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.sampled_from("xy"), children, max_size=2)
    ),
    max_leaves=5,
)


@given(st.lists(mixed, max_size=7))
def test_sorting_any_values_agrees_with_comparing_them(values: list[object]) -> None:
    ordered = [values[at] for at in ranked(values)]
    assert all(compare(one, other) <= 0 for one, other in itertools.pairwise(ordered))


def test_different_types_go_by_their_names_and_null_is_least() -> None:
    assert value('sort(["a", 1, null, true, [1], {a: 1}])') == [None, [1], True, 1, {"a": 1}, "a"]


@pytest.mark.parametrize(
    ("text", "spread"),
    [
        ("42 days", "1 month, 1 week, 5 days"),
        ("364 days", "1 year, 4 days"),
        ("90 min", "1 hour, 30 minutes"),
        ("1.5 days", "1 day, 12 hours"),
        ("0 s", ""),
    ],
)
def test_durations_read_with_the_calendar_of_luxon(text: str, spread: str) -> None:
    duration = parse_duration(text)
    assert duration is not None
    assert duration.human() == spread


def test_a_duration_equals_only_the_same_units() -> None:
    assert value("dur(1 day) = dur(24 hours)") is False
    assert value("dur(1 day) <= dur(24 hours)") is False
    assert value("dur(1 day) < dur(25 hours)") is True


def test_a_day_past_the_end_of_the_month_becomes_its_last() -> None:
    assert value("date(2024-01-31) + dur(1 month)") == "2024-02-29"
    assert value("date(2024-03-31) - dur(1 month)") == "2024-02-29"


def test_a_date_whose_day_does_not_exist_runs_over() -> None:
    assert value("date(2023-02-29)") == "2023-03-01"


def test_days_are_added_on_the_calendar_and_hours_on_the_clock_when_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    before = parse_date("2024-03-30T12:00", berlin)
    assert before is not None
    assert add(before, Duration.of(days=1)).isoformat() == "2024-03-31T12:00:00+02:00"
    assert add(before, Duration.of(hours=24)).isoformat() == "2024-03-31T13:00:00+02:00"


def test_a_date_with_an_offset_is_not_equal_to_the_local_date_of_the_same_moment() -> None:
    assert value("date(2024-01-01T00:00:00Z) = date(2024-01-01)") is False
    assert value("date(2024-01-01T00:00:00Z) < date(2024-01-02)") is True


def test_words_are_read_in_the_zone_of_now() -> None:
    tokyo = datetime(2024, 3, 16, 1, 0, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert typed(Engine(VaultSource({}), tokyo).evaluate("date(today)")) == {
        "$date": "2024-03-16T00:00:00+09:00"
    }


def test_dates_are_written_with_luxon_tokens() -> None:
    written = value("dateformat(date(2024-03-05T14:07:09), \"cccc d LLLL yyyy, h:mm a 'W'WW ooo q\")")
    assert written == "Tuesday 5 March 2024, 2:07 PM W10 065 1"


def test_a_token_that_luxon_does_not_know_stands_for_itself() -> None:
    assert value('dateformat(date(2024-03-05), "YYYY-MM-DD")') == "YYYY-03-Mar 5, 2024"


def test_dates_are_read_with_luxon_tokens() -> None:
    assert value('date("5 March 2024 3:05 pm", "d MMMM yyyy h:mm a")') == "2024-03-05T15:05:00+00:00"
    assert value('date("W10 2024", "\'W\'WW kkkk")') == "2024-03-04"
    assert value('date("14:05", "HH:mm")') == "2024-03-15T14:05:00+00:00"


def test_text_is_counted_in_utf16_units_and_put_together_whole() -> None:
    assert value('length("a🎉")') == 3
    assert value('substring("a🎉b", 1, 3)') == "🎉"


def test_what_has_no_answer_is_an_error_and_says_why() -> None:
    with pytest.raises(EvaluationError, match=r"no implementation of null \+ number"):
        value("null + 1")
    with pytest.raises(EvaluationError, match="no implementation of 'length' for arguments: number"):
        value("length(5)")
    with pytest.raises(EvaluationError, match="unrecognized function name 'nosuch'"):
        value("nosuch(1)")


def test_numbers_print_as_javascript_prints_them() -> None:
    written = value('join([1, 2.5, 1/3, 0.0000001, 123456789 * 1000000000, 1/0], " ")')
    assert written == "1 2.5 0.3333333333333333 1e-7 123456789000000000 Infinity"


def test_markdown_is_taken_off_for_display() -> None:
    assert value('display("# A **bold** [site](http://x.y) and `code`")') == "A bold site and code"


def test_functions_take_lists_element_by_element() -> None:
    assert value('replace(["aa", "ba"], "a", "x")') == ["xx", "bx"]
    assert value("default([1, null], [8, 9])") == [1, 9]


def test_a_lambda_sees_the_names_around_it() -> None:
    assert value("map([1, 2], (x) => map([10, 20], (y) => x * y + z))", z=1) == [[11, 21], [21, 41]]


def test_unique_orders_what_it_keeps() -> None:
    assert value('unique(["b", "a", "b"])') == ["a", "b"]


def test_patterns_are_javascript_patterns() -> None:
    assert value('regexreplace("2024-03", "(?<y>\\d{4})-(\\d+)", "$2/$<y> $$")') == "03/2024 $"
    assert value('regextest("^\\w+$", "é")') is False
    assert value('regextest("a$", "a\n")') is False
    assert value('regextest("[^]", "\n")') is True
    assert value('split("a1b22c", "(\\d)")') == ["a", "1", "b", "2", "", "2", "c"]


def test_plain_values_are_what_people_read() -> None:
    assert plain([Link("a/B.md"), Duration.of(hours=2), datetime(2024, 1, 2, tzinfo=UTC), float("nan")]) == [
        "[[a/B.md|B]]",
        "2 hours",
        "2024-01-02",
        "NaN",
    ]


def test_now_without_a_zone_takes_the_local_one() -> None:
    local = Engine(VaultSource({}), NOW.replace(tzinfo=None)).evaluate("date(today)")
    assert isinstance(local, datetime)
    assert local.tzinfo is not None
