from datetime import date
from typing import Any

import pytest

from knapper.script.compile import compile_script
from knapper_tasks.engine import (
    Budget,
    QueryError,
    QueryFile,
    ScriptRefused,
    SearchFailed,
    Settings,
    TaskRow,
    parse_line,
    parse_query,
)
from knapper_tasks.engine.objects import QueryObject, TaskObject
from knapper_tasks.engine.query.context import Search

TODAY = date(2024, 3, 15)
LINE = "- [ ] call **Ann** #home #urgent ⏫ 🔁 every week ⏳ 2024-03-18 📅 2024-03-20"


def _row(line: str = LINE, path: str = "some/note.md", number: int = 7) -> TaskRow:
    row = parse_line(line, Settings(), path=path, heading="Plan", line=number)
    assert row is not None
    return row


def _value(source: str, **properties: Any) -> Any:
    search = Search(
        Settings(),
        TODAY,
        file=QueryFile("query.md", {"root": "x"}),
        rows=[_row()],
        properties_of=lambda path: properties,
    )
    names = {"task": TaskObject(_row(), search), "query": QueryObject(search)}
    return compile_script(source).run(names, Budget(), search.clock)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 2 * 3", 7),
        ("7 / 2", 3.5),
        ("'a' + 1 + null", "a1null"),
        ("2 ** 3 ** 2", 512),
        ("1 < 2 === true", True),
        ("null ?? 'x'", "x"),
        ("'' || 'y'", "y"),
        ("'5' == 5 && '5' !== 5", True),
        ("typeof undefined", "undefined"),
        ("`a${1 + 1}b${`c${3}`}`", "a2bc3"),
        ("[3, 1, 2].sort().join('-')", "1-2-3"),
        ("[1, 2, 3].map((x, i) => x * i).filter(x => x > 0)", [2, 6]),
        ("[1, 2, 3].reduce((a, b) => a + b, 10)", 16),
        ("['b', 'a'].some(x => x === 'a') ? 'yes' : 'no'", "yes"),
        ("'a-b-c'.replace(/-/g, '+')", "a+b+c"),
        ("'2024-03-15 x'.match(/(\\d+)-(\\d+)/)[2]", "03"),
        ("'abc'.slice(-2).toUpperCase().padStart(4, '.')", "..BC"),
        ("/^a.c$/i.test('ABC')", True),
        ("const x = 2; const y = x + 1; return x * y", 6),
        ("if (1 > 2) return 'a'; else { return 'b' }", "b"),
        ("return [1, [2]].flat().length;", 2),
        ("undefined?.x.y.z", None),
        ("Math.max(1, Math.round(2.5))", 3),
        ("(2.345).toFixed(1)", "2.3"),
        ("parseInt('42 tasks') + Number('1')", 43),
    ],
)
def test_expressions_have_the_value_javascript_gives(source: str, value: object) -> None:
    result = _value(source)

    assert (None if repr(result) == "undefined" else result) == value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("task.description", "call **Ann** #home #urgent"),
        ("task.descriptionWithoutTags", "call **Ann**"),
        ("task.tags.includes('#home')", True),
        ("task.priorityName + task.priorityNumber", "High1"),
        ("task.status.name + task.status.nextSymbol", "Todox"),
        ("task.due.format('dddd D MMM')", "Wednesday 20 Mar"),
        ("task.start.formatAsDate('none')", "none"),
        ("task.due.moment.isBefore(moment().add(1, 'week'), 'day')", True),
        ("task.due.moment.diff(task.scheduled.moment, 'days')", 2),
        ("task.happens.moment.isoWeekday()", 1),
        ("task.due.category.groupText", "%%3%% Future"),
        ("task.file.folder + task.file.filenameWithoutExtension", "some/note"),
        ("task.file.property('Status') ?? 'none'", "open"),
        ("task.file.property('tags').join()", "#a,#b"),
        ("task.file.hasProperty('missing')", False),
        ("query.file.path", "query.md"),
        ("query.allTasks.length", 1),
        ("task.isBlocked(query.allTasks)", False),
        ("task.lineNumber", 7),
        ("task.recurrenceRule.replace('every ', '')", "week"),
        ("task.heading.toLowerCase()", "plan"),
    ],
)
def test_a_script_sees_the_task_and_the_query(source: str, value: object) -> None:
    assert _value(source, status="open", tags=["a", "#b"]) == value


@pytest.mark.parametrize(
    ("source", "construct"),
    [
        ("let x = 1; x = 2; return x", "assignment (=)"),
        ("task.tags.length++", "assignment (++)"),
        ("for (;;) {}", "for"),
        ("while (true) {}", "while"),
        ("new Date()", "new"),
        ("function f() {}", "function"),
        ("() => { throw 1 }", "throw"),
        ("({a: 1})", "object literal"),
        ("[...task.tags]", "spread"),
        ("window.moment()", "window"),
        ("app.vault", "app"),
        ("const {a} = task; return a", "destructuring"),
        ("task.outlinks.length", "task.outlinks"),
        ("query.searchCache", "query.searchCache"),
        ("task.description.normalize()", ".normalize() of a string"),
        ("task.due.moment.calendar()", ".calendar() of a moment"),
        ("~1", "bitwise operator (~)"),
    ],
)
def test_what_is_out_of_reach_is_refused_by_name(source: str, construct: str) -> None:
    with pytest.raises(ScriptRefused) as caught:
        _value(source)

    assert caught.value.construct == construct


@pytest.mark.parametrize("source", ["1 +", "(1", "task.", "'open", "`${1", "1 2", "@", "if (1) return 2 }"])
def test_broken_syntax_is_an_error(source: str) -> None:
    with pytest.raises(QueryError, match="SyntaxError"):
        compile_script(source)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("hello", "hello is not defined"),
        ("null.x", "Cannot read properties of null (reading 'x')"),
        ("task.description()", "description is not a function"),
        ("'a'.repeat(1e9)", "Invalid count value: 1000000000"),
        ("__class__", "__class__ is not defined"),
    ],
)
def test_a_failure_speaks_javascript(source: str, reason: str) -> None:
    with pytest.raises(SearchFailed) as caught:
        _value(source)

    assert caught.value.reason == reason


def test_nothing_of_python_is_within_reach() -> None:
    for source in (
        "task.__class__",
        "task.row",
        "''.__class__",
        "[].append",
        "query.search",
        "Math._members",
    ):
        assert repr(_value(source)) == "undefined"


def _run(source: str) -> list[tuple[tuple[str, ...], list[int]]]:
    rows = [
        _row("- [ ] b 📅 2024-03-20", number=0),
        _row("- [x] a #t", number=1),
        _row("- [ ] c 📅 2024-03-01", number=2),
    ]
    result = parse_query(source, Settings(), TODAY, file=QueryFile("q.md")).run(rows)
    return [(group.names, [row.line for row in group.rows]) for group in result.groups]


def test_functions_filter_sort_and_group() -> None:
    assert _run("filter by function !task.isDone\nsort by function task.due.moment") == [((), [2, 0])]
    assert _run("sort by function reverse task.description") == [((), [2, 0, 1])]
    assert _run("group by function task.due.format('YYYY', 'never')") == [
        (("2024",), [2, 0]),
        (("never",), [1]),
    ]
    assert _run("group by function task.tags") == [(("",), [2, 0]), (("#t",), [1])]


def test_a_filter_must_say_true_or_false_and_the_error_names_the_line() -> None:
    with pytest.raises(SearchFailed) as caught:
        _run("not done\nfilter by function task.tags.length")

    assert caught.value.reason == 'filtering function must return true or false. This returned "0".'
    assert (caught.value.line, caught.value.number) == ("filter by function task.tags.length", 2)


def test_a_failing_group_is_named_by_its_failure() -> None:
    assert _run("group by function nothing") == [
        (
            (
                'Error: Failed calculating expression "nothing". '
                "The error message was: nothing is not defined",
            ),
            [2, 0, 1],
        )
    ]


def test_functions_are_refused_where_they_are_switched_off() -> None:
    with pytest.raises(ScriptRefused, match="switched off"):
        parse_query("filter by function true", Settings(), TODAY, functions=False)
