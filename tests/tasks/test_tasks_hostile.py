import re
from contextlib import suppress
from datetime import date

import hypothesis
import pytest
from hypothesis import given, strategies

from knapper_tasks.engine import (
    Budget,
    BudgetExceeded,
    QueryError,
    QueryFile,
    Settings,
    extract,
    parse_line,
    parse_query,
    parse_range,
    settings_from_data,
    toggle_line,
)

TODAY = date(2024, 3, 15)


def _run(source: str) -> int:
    rows = extract("a.md", "\n".join(f"- [ ] {'a' * 40} {number}" for number in range(2000)), Settings())
    query = parse_query(source, Settings(), TODAY, file=QueryFile("a.md"))
    return query.run(rows, budget=Budget(seconds=0.3)).total


@pytest.mark.parametrize(
    "source",
    [
        "(" * 4000 + "done" + ")" * 4000,
        "NOT (" * 1500 + "done" + ")" * 1500,
        "done\n" * 5000,
        "description includes " + "x" * 200_000,
        "description regex matches /(a|aa)+$/",
        "filter by function " + "(" * 3000 + "1" + ")" * 3000,
        "filter by function " + "+".join(["1"] * 3000) + " > 1",
        "filter by function query.allTasks.some(t => query.allTasks.some(u => u.id === t.description))",
        "filter by function 'a'.repeat(900000).split('').map(x => x + x).join('').length > 3",
        "filter by function " + "['a','b','c','d'].flatMap(x => " * 12 + "[1]" + ")" * 12 + ".length > 3",
    ],
)
def test_a_query_that_asks_too_much_is_stopped(source: str) -> None:
    with pytest.raises(BudgetExceeded):
        _run(source)


def test_a_repetition_inside_of_a_repetition_is_refused() -> None:
    with pytest.raises(QueryError, match="Unsafe regular expression"):
        _run("description regex matches /(a+)+$/")


@pytest.mark.parametrize("text", ["preset p", "{{preset.p}}{{preset.p}}{{preset.p}}{{preset.p}}{{preset.p}}"])
def test_a_preset_that_expands_itself_is_stopped(text: str) -> None:
    settings = settings_from_data({"presets": {"p": text}})

    with pytest.raises(QueryError):
        parse_query(text, settings, TODAY, file=QueryFile("a.md"))


@pytest.mark.parametrize(
    "line",
    [
        "📅 2024-01-01 " * 3000,
        "⛔ a" + " , a " * 20_000 + "!",
        "[due:: " * 20_000,
        "[dependsOn:: a" + " , a " * 20_000,
        " " * 100_000 + "x",
        "#a" * 50_000,
    ],
)
def test_a_long_line_is_read_all_the_same(line: str) -> None:
    for settings in (Settings(), settings_from_data({"taskFormat": "dataview"})):
        row = parse_line(f"- [ ] x {line}", settings)
        assert row is not None
        assert row.description.startswith("x")


@pytest.mark.parametrize(
    "words", ["one ", "1 ", "a couple of ", "may ", "1-", "next ", "twenty ", "mon, ", "9"]
)
def test_a_long_phrase_has_an_answer(words: str) -> None:
    days = parse_range(words * 1500, TODAY)

    assert (days is not None) == (words in ("may ", "mon, "))


WORDS = re.split(
    r"\|",
    "due|starts|done|(|)|[|]|{|}|AND|NOT|XOR|includes|regex matches|/a/|/[/|path|tags|sort by|group by|limit|preset|"
    "priority|before|next week|2024-02-30|\\\\|\n|{{query.file.path}}|{{|}}|function|task.due|status.type|reverse|"
    "99999999999999999999|every|🔁|📅 0001-01-01|when done|1st|on|hide|view columns by|`|'|=>",
)


@hypothesis.settings(max_examples=300, deadline=None)
@given(strategies.lists(strategies.sampled_from(WORDS), max_size=9).map(" ".join))
def test_any_words_are_answered_or_refused(words: str) -> None:
    line = words.replace("\n", " ")
    rows = extract("a.md", f"- [ ] {line}\n- [ ] b 📅 9999-12-31", Settings())

    assert len(toggle_line(f"- [ ] a 🔁 every {line} 📅 9999-12-30", Settings(), TODAY)) in (1, 2)
    with suppress(QueryError):
        assert parse_query(words, Settings(), TODAY, file=QueryFile("a.md")).run(rows).total <= 2
