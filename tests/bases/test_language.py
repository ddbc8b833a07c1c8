"""The expression language, construct by construct, beyond what was recorded."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from knapper_bases.engine import BasesError, Budget, LinkRef, UnreadableExpression, evaluate, plain, problems
from tests.bases.vault_in_memory import MemoryVault, Note

NOW = datetime(2026, 6, 10, 17, 17, 8, tzinfo=ZoneInfo("Australia/Melbourne"))
VAULT = MemoryVault(
    Note(
        "Area/row.md",
        {
            "price": 12.5,
            "nothing": None,
            "due": "2026-06-01",
            "when": "2026-06-01T10:00",
            "My-Prop": 3,
            "Größe": 5,
            "emoji": "a😀b",
            "tags": ["Proj/a", "#work"],
            "obj": {"A": 1, "b": {"c": 2}},
            "author": "[[Jane|J]]",
            "topics": ["[[Other]]", "plain"],
            "version": "2026-06-01",
        },
        tags=["Proj/a", "work"],
        mtime=1_780_000_000.0,
    ),
    Note("Other.md", {"icon": "star"}, links=[LinkRef("row", None, "Area/row.md")]),
    Note("pic.png", size=3),
    types={"Version": "text"},
)
FORMULAS = {
    "double": "price * 2",
    "twice": "formula.double + formula.double",
    "round": "formula.trip + 1",
    "trip": "formula.round",
    "broken": "price +",
}


def value(expression: str, this: str | None = None) -> Any:
    found = evaluate(expression, VAULT, "Area/row.md", formulas=FORMULAS, now=NOW, this=this)
    return plain(found, Budget())


def fault(expression: str) -> BasesError:
    with pytest.raises(BasesError) as raised:
        value(expression)
    return raised.value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("10 / 5 / 2", 1),
        ("2 + 3 * 4 - 6 / 2", 11),
        ("-5 % 3", -2),
        ("1 / 0", "Infinity"),
        ("0 / 0", "NaN"),
        ("1 < 2 == true", True),
        ("false && nothing || true", True),
        ("!price == false", True),
        ('"a" || false', True),
        ('"it\\\'s \\u00e9\\n"', "it's é\n"),
        (".5 + 1e3", 1000.5),
        ("[1, [2]][1][0]", 2),
        ("((price))", 12.5),
    ],
)
def test_operators_bind_and_calculate_like_javascript(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("nothing + 1", None),
        ('nothing + "x"', "x"),
        ("-nothing", None),
        ("nothing > 0", False),
        ("nothing == missing", True),
        ("nothing.lower()", None),
        ("nothing.field.deeper[0]", None),
        ("nothing.isEmpty()", True),
        ("nothing.isTruthy()", False),
        ('nothing.isType("null")', True),
        ("list(nothing)", []),
        ("nothing.filter(value > 1)", None),
    ],
)
def test_what_is_missing_stays_empty_instead_of_failing(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("My-Prop", 3),
        ("my-prop + 1", 4),
        ('note["my-prop"]', 3),
        ("price-My", None),
        ("PRICE", 12.5),
        ("Größe", 5),
        ("obj.a + obj.b.c", 3),
        ('obj["b"]["c"]', 2),
        ("obj.keys()", ["A", "b"]),
        ('file.hasProperty("NOTHING")', True),
        ("file.properties.due", "2026-06-01"),
    ],
)
def test_properties_are_found_by_any_spelling(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('due == "2026-06-01"', True),
        ("due == when", True),
        ("when > due", True),
        ('due > "2026-05-31"', True),
        ('due + "1M" + "4h" + "3m"', "2026-07-01T04:03:00"),
        ('date("2024-01-31") + "1 month"', "2024-02-29"),
        ('due - "1 week"', "2026-05-25"),
        ('due + " it is"', "2026-06-01 it is"),
        ("(when - due).hours", 10),
        ("(now() - due).days.round()", 10),
        ('(duration("1y") + duration("6M")).months', 18),
        ('duration("1h 30m").minutes', 90),
        ('duration("P1DT12H").days', 1.5),
        ('duration("1d") > duration("23h")', True),
        ('when - due > "9h"', True),
        ("today() + duration('1d')", "2026-06-11"),
        ("now().date() == today()", True),
        ("due.relative()", "10 days ago"),
        ("due.relative() < now()", True),
        ('version.isType("string")', True),
        ('date("2026-06-10T00:00:00Z").hour', 10),
        ("file.mtime.year", 2026),
        ("max(due, date('2026-07-01'))", "2026-07-01"),
        ('date("2026-06-10 12:34:56").format("[at] H:mm Z")', "at 12:34 +10:00"),
    ],
)
def test_dates_and_durations(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('"Hello".contains("HELL")', True),
        ('"hello".containsAny(["x", "lo"])', True),
        ("emoji.length", 4),
        ("emoji.slice(1, 3)", "😀"),
        ('"abc".slice(-2)', "bc"),
        ('"abc".split("")', ["a", "b", "c"]),
        ('"a1b22c".split(/\\d+/)', ["a", "b", "c"]),
        ('"John Smith".replace(/(\\w+)\\s(\\w+)/, "$2, $1 $$ $&")', "Smith, John $ John Smith"),
        ('"aXbX".replace(/x/gi, "")', "ab"),
        ('/^a.c$/i.matches("ABC")', True),
        ('/a$/.matches("a\\n")', False),
        ('/[/\\]]/.matches("a]")', True),
        ('"the NASA report".title()', "The NASA Report"),
        ("(1.005).toFixed(2)", "1.00"),
        ("(-2.5).round()", -2),
        ("(1234.5678).round(-2)", 1200),
        ('number(" 1e3 ")', 1000),
        ("(0.1 + 0.2).toString()", "0.30000000000000004"),
        ("(0.0000001).toString()", "1e-7"),
        ("(1e21).toString()", "1e+21"),
        ("(10 / 4 * 2).toString()", "5"),
    ],
)
def test_texts_and_numbers(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[1, 2] + [3]", [1, 2, 3]),
        ("[1, [2, [3]]].flat()", [1, 2, 3]),
        ("[3, null, 1].sort()", [1, 3, None]),
        ('["b10", "b9", "a"].sort()', ["a", "b9", "b10"]),
        ('[1, "1", 1.0].unique()', [1, "1"]),
        ("[[1, 2], [3]].map(value.map(value + index))", [[1, 3], [3]]),
        ("[1, 2].map([10].map(value)[0] + value * 100 + index)", [110, 211]),
        ("[1, 2].reduce(acc + [5].reduce(acc + value, 1) + value, 0)", 15),
        ("[1, 2, 3].map(value * price).length", 3),
        ("[1, 5, 2].reduce(if(acc == null || value > acc, value, acc), null)", 5),
        ("[1, 2, 3].filter(value > 1 && index < 2)", [2]),
        ("[1, 2, 6].mean()", 3),
        ("[1, 2, 3][-1]", None),
        ("[1, 2, 3].slice(-2, -1)", [2]),
        ('[1, true, null, "x"].join("|")', "1|true||x"),
        ("value", None),
    ],
)
def test_lists(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('tags.contains("proj")', True),
        ('tags.contains("pro")', False),
        ('file.tags.containsAny("nope", "WORK")', True),
        ('file.hasTag("#Proj", "other")', True),
        ('topics.contains(link("Other"))', True),
        ('topics.contains(file("Other"))', True),
        ("list(author).containsAny(this.people)", True),
        ('author == link("Jane")', True),
        ('author == "[[Jane]]"', True),
        ('author == "Jane"', False),
        ('author.contains("jan")', True),
        ("topics[0].asFile().icon", "star"),
        ("topics[0].linksTo(file)", True),
        ('link("[[Other#Part|Shown]]").toString()', "[[Other#Part|Shown]]"),
        ('link("Other", icon("plus")).toString()', "[[Other|plus]]"),
        ('file("pic.png").name + " " + file("Other").name', "pic.png Other"),
        ('file("Other").folder', "/"),
        ('file("nowhere")', None),
        ('file.inFolder("Area/")', True),
        ('file.inFolder("Are")', False),
        ('file("Other").hasLink(file)', True),
    ],
)
def test_links_files_and_tags(expression: str, expected: object) -> None:
    VAULT.notes["Context.md"] = Note("Context.md", {"people": ["[[Jane]]"]})
    assert value(expression, this="Context.md") == expected


def test_this_is_the_context_file_and_its_properties() -> None:
    VAULT.notes["Context.md"] = Note("Context.md", {"people": ["[[Jane]]"]})
    assert value("this.file.name", this="Context.md") == "Context"
    assert value("this.people.length", this="Context.md") == 1
    assert value("this == file", this="Context.md") is False
    assert value("this == file") is True
    assert value("this.unheard") is None


def test_formulas_build_on_each_other() -> None:
    assert value("formula.twice") == 50
    assert value('formula["double"]') == 25


def test_a_circle_of_formulas_is_an_error_that_shows_the_circle() -> None:
    assert fault("formula.round").message == "Circular reference: round → trip → round"


def test_a_formula_that_cannot_be_read_fails_with_its_own_text() -> None:
    wrong = fault("formula.broken")
    assert (wrong.expression, wrong.position) == ("price +", 7)


@pytest.mark.parametrize(
    ("expression", "message", "position"),
    [
        ('"5" * 2', "Invalid operator between String and Number", 4),
        ("5 + true", "Invalid operator between Number and Boolean", 2),
        ("(now() - due).round()", 'Cannot find function "round" on type Duration', 14),
        ("nothing.upper()", 'Cannot find function "upper" on type Null', 8),
        ('"a".upper()', 'Cannot find function "upper" on type String', 4),
        ('"abc"[0]', 'Cannot find "0" on type String', 5),
        ("formula.unheard", 'Cannot find formula "unheard"', 8),
        ("if(price)", 'Function "if" takes 2 to 3 arguments, not 1', 0),
        ('"a".contains()', 'Function "contains" takes 1 argument, not 0', 4),
        ('"a".repeat("b")', 'Function "repeat" takes a number, not String', 4),
        ('date("tomorrow")', 'Unable to parse "tomorrow" as a date.', 0),
        ('duration("soon")', 'Unable to parse "soon" as a duration.', 0),
        ('number("")', 'Unable to parse "" as a number.', 0),
        ("number(when - due)", 'Unable to parse "10 hours" as a number.', 0),
        ('due + "9999y"', "The date is out of range", 4),
        (
            "/(/.matches('x')",
            "Invalid regular expression /(/: missing ) at position 1",
            0,
        ),
        ("/a/q.matches('x')", "Unknown regular expression flag 'q'", 0),
        ("max(1, 'x')", 'Function "max" cannot compare Number and String', 0),
    ],
)
def test_what_fails_is_named_with_its_place(expression: str, message: str, position: int) -> None:
    wrong = fault(expression)
    assert (wrong.message, wrong.expression, wrong.position) == (message, expression, position)


@pytest.mark.parametrize(
    ("expression", "position"),
    [
        ("", 0),
        ("price; 1", 5),
        ("a ? b : c", 2),
        ("a = 1", 2),
        ("a === b", 4),
        ('"unclosed', 0),
        ("[1, 2", 5),
        ("f(1,", 4),
        ("a.", 2),
        ("+1", 0),
        ("5.isEmpty()", 1),
        ('{"a": 1}', 0),
        ("x => x", 2),
    ],
)
def test_what_is_not_in_the_language_is_unreadable_at_a_place(expression: str, position: int) -> None:
    wrong = fault(expression)
    assert isinstance(wrong, UnreadableExpression)
    assert wrong.position == position
    assert wrong.message.startswith("Unable to parse formula.")


def test_problems_are_found_without_any_file() -> None:
    found = problems('foo(1) && file.hasTagg("x") && if(1) && /(/.matches("")')
    assert [(wrong.message.partition(":")[0], wrong.position) for wrong in found] == [
        ('Cannot find function "foo"', 0),
        ('Cannot find function "hasTagg"', 15),
        ('Function "if" takes 2 to 3 arguments, not 1', 31),
        ("Invalid regular expression /(/", 40),
    ]
    assert problems('status == "x" && file.hasTag("y")') == []
