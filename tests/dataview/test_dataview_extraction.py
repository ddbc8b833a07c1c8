from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper_dataview.engine import Page, PageData, encode_page, extract
from knapper_dataview.engine.durations import Duration
from knapper_dataview.engine.inline_fields import bracketed_fields, inline_value, line_fields
from knapper_dataview.engine.values import Link
from tests.dataview.notes import engine, listed, table


def note(text: str, **properties: object) -> PageData:
    return extract("Note.md", text, properties)


def test_fields_in_lines_brackets_and_parentheses_are_found() -> None:
    fields = note('**Key One**:: 5\nText (hidden:: yes) and [mood:: "so, so"].\n# Heading [h:: 2]').fields
    assert fields == {"Key One": 5, "key-one": 5, "hidden": "yes", "mood": "so, so", "h": 2}


def test_a_field_that_touches_the_one_before_it_is_lost() -> None:
    assert [field.key for field in bracketed_fields("[a:: 1][b:: 2] [c:: 3]")] == ["a", "c"]


def test_brackets_in_a_value_nest_and_escape() -> None:
    assert [field.value for field in bracketed_fields(r"[a:: [x] \] y] (b:: (c) d)")] == [
        r"[x] \] y",
        "(c) d",
    ]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("2024-01-02", datetime(2024, 1, 2)),
        ("6h 30m", Duration.of(hours=6, minutes=30)),
        ("[[A|b]]", Link("A", "b")),
        ("![[A#x y]]", Link("A", None, "x y", "header", True)),
        ("1, 2, #t", [1, 2, "#t"]),
        ("one, two", "one, two"),
        ("1,", [1]),
        ("null", "null"),
        ("3 monkeys", "3 monkeys"),
        ("", None),
    ],
)
def test_values_are_typed_only_when_the_whole_text_fits(text: str, typed: object) -> None:
    assert inline_value(text) == typed


def test_a_key_given_twice_holds_both_values_properties_first() -> None:
    assert note("- role:: b\n\nrole:: c", role="a").fields["role"] == ["a", "b", "c"]


def test_fields_of_tasks_stay_theirs_and_those_of_other_items_are_the_notes_too() -> None:
    page = note("- [ ] Do [x:: 1]\n- y:: 2\n- [ ] z:: 3")
    assert page.fields == {"y": 2}
    assert [item.fields for item in page.items] == [{"x": [1]}, {"y": [2]}, {}]


def test_emoji_dates_of_tasks_are_fields() -> None:
    page = note("- [x] Do 🛫 2024-01-01 ⏳ 2024-01-02 📅 2024-01-03 ➕2023-12-31 ✅ 2024-01-04")
    assert {
        key: values[0].day for key, values in page.items[0].fields.items() if isinstance(values[0], datetime)
    } == {
        "start": 1,
        "scheduled": 2,
        "due": 3,
        "created": 31,
        "completion": 4,
    }


def test_items_know_their_lines_parents_headings_and_lists() -> None:
    page = note("# One\n- a\n    - b\n      more of b\n\t- c ^id\n1. d\n\n## Two\n* e")
    seen = [
        (i.text, i.line, i.line_count, i.parent, i.list_line, i.section, i.block, i.symbol)
        for i in page.items
    ]
    assert seen == [
        ("a", 1, 1, None, 1, "One", None, "-"),
        ("b\nmore of b", 2, 2, 1, 1, "One", None, "-"),
        ("c ^id", 4, 1, 1, 1, "One", "id", "-"),
        ("d", 5, 1, None, 1, "One", None, "1."),
        ("e", 8, 1, None, 8, "Two", None, "*"),
    ]
    assert page.items[0].children == [2, 4]


def test_a_task_is_fully_completed_when_all_tasks_below_it_are() -> None:
    page = note("- [x] a\n  - item\n    - [ ] open\n- [x] b\n  - [x] c")
    assert [item.fully_completed for item in page.items] == [False, False, False, True, True]


def test_text_at_the_margin_ends_a_list() -> None:
    page = note("- [ ] task\nsleep:: 7 hours")
    assert page.fields == {"sleep": Duration.of(hours=7)}
    assert page.items[0].text == "task"


def test_lists_in_quotes_and_callouts_are_found_once() -> None:
    page = note("> [!note]\n> - [ ] quoted [a:: 1]\n> b:: 2")
    assert [(item.text, item.status) for item in page.items] == [("quoted [a:: 1]", " ")]
    assert page.fields == {"b": 2}


def test_code_and_comments_hold_no_items_tags_or_links() -> None:
    page = note("```\n- [ ] no\n[[No]] #no\n```\n`[[no]] #no`\n<!--\n- [ ] no\n-->\n#yes [[Yes]]")
    assert (page.items, page.tags, page.links) == ([], ["#yes"], [Link("Yes", "Yes")])


def test_tags_come_from_the_body_then_from_properties() -> None:
    assert note("#a/b #1984 x#no #é", tags="c, #d", Tag=["e f"]).tags == [
        "#a/b",
        "#é",
        "#c",
        "#d",
        "#e",
        "#f",
    ]


def test_links_keep_their_text_and_embeds_come_last() -> None:
    links = note("![[pic.png]] [[A#H|shown]] [md](My%20Note.md) [web](https://x.y)", up="[[B]]").links
    assert links == [
        Link("B", "B"),
        Link("A", "shown", "H", "header"),
        Link("My Note.md", "md"),
        Link("pic.png", "pic.png", embed=True),
    ]


def test_the_day_is_a_date_field_or_else_in_the_name() -> None:
    assert extract("2024-05-06 x.md", "", {"Date": "2024-01-02"}).day == datetime(2024, 1, 2)
    assert extract("2024-05-06 x.md", "").day == datetime(2024, 5, 6)
    assert extract("a/20240506.md", "").day == datetime(2024, 5, 6)
    assert extract("a.md", "", {"day": "[[2024-07-08]]"}).day == datetime(2024, 7, 8)
    assert extract("a 20241399.md", "").day is None


def test_aliases_are_lists_or_texts_with_commas() -> None:
    assert note("", aliases="One, Two", alias=["Three, and more", 4]).aliases == [
        "One",
        "Two",
        "Three, and more",
        "4",
    ]


def test_a_stored_page_reads_like_the_one_that_was_stored() -> None:
    data = note(
        "- [ ] a [[B]] [d:: 2024-01-02T03:04:05+02:00]\n  - [x] b\n\nx:: 5 hours, [[C]]",
        when="2024-01-02",
        deep={"list": ["[[D]]", 1.5, None, True]},
    )
    page = Page("Note.md", 1.0, 2.0, 3, encode_page(data))
    assert (page.tags, page.aliases, page.frontmatter) == (data.tags, data.aliases, data.frontmatter)
    assert [(item.text, item.status, item.children) for item in page.items] == [
        ("a [[B]] [d:: 2024-01-02T03:04:05+02:00]", " ", [1]),
        ("b", "x", []),
    ]
    assert page.items_by_line[1].parent == 0


def test_stored_dates_links_and_durations_come_back_as_such() -> None:
    vault = engine(
        Note='---\nwhen: 2024-01-02\nzoned: 2024-01-02T03:04:05+02:00\nlast: 3 hours\nup: "[[Other]]"\n---\n',
        folder__Other="",
    )
    assert table(vault, 'TABLE when, zoned, last, up FROM "Note"')[1] == [
        "[[Note.md|Note]]",
        "2024-01-02",
        "2024-01-02T03:04:05+02:00",
        "3 hours",
        "[[folder/Other.md|Other]]",
    ]


def test_one_field_never_hides_the_file() -> None:
    assert listed(engine(Note="file:: mine"), "LIST WITHOUT ID file.name") == ["Note"]


@given(st.text(alphabet=' \t\n>-*+[]()#^`~%<!x1.:|🎉é\\"', max_size=200))
def test_no_text_breaks_the_extraction_or_its_storage(text: str) -> None:
    data = extract("Note.md", text)
    stored = Page("Note.md", 0, 0, 0, encode_page(data))
    assert [item.text for item in stored.items] == [item.text for item in data.items]
    assert stored.fields.keys() == data.fields.keys()


@pytest.mark.parametrize(
    "line",
    ["[" * 50_000 + "a:: 1]", "[a:: " * 20_000 + "]", "a" * 50_000 + "!:: x", "` `` " * 20_000, ">" * 50_000],
)
@pytest.mark.timeout(20)
def test_hostile_lines_cost_no_more_than_their_length(line: str) -> None:
    assert len(line_fields(line)) <= 1
    assert len(extract("Note.md", f"- {line}").items) == 1
