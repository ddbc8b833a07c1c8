from datetime import date

import pytest

from knapper_tasks.engine import (
    QueryError,
    QueryFile,
    Settings,
    TaskRow,
    extract,
    parse_query,
    settings_from_data,
)

TODAY = date(2024, 3, 15)
NOTE = """# Work
- [ ] alpha #work 📅 2024-03-14 ⏫
- [x] beta #work/deep ✅ 2024-03-10
    - [ ] gamma (x) ⛔ i1
# Home
- [/] delta #home 🛫 2024-04-01
- [ ] epsilon 🆔 i1 📅 2024-02-30
- [-] zeta 🔁 every week ⏳ 2024-03-18 ❌ 2024-03-01
"""


def _rows(settings: Settings | None = None) -> list[TaskRow]:
    return extract("some/note.md", NOTE, settings or Settings())


def _found(source: str, settings: Settings | None = None, file: QueryFile | None = None) -> list[str]:
    query = parse_query(source, settings or Settings(), TODAY, file=file)
    return sorted(row.description.split()[0] for row in query.run(_rows(settings)).rows)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("is blocked", ["gamma"]),
        ("is blocking", ["epsilon"]),
        ("exclude sub-items\nnot done", ["alpha", "delta", "epsilon"]),
        ("priority is not none", ["alpha"]),
        ("due before tomorrow", ["alpha"]),
        ("has due date", ["alpha", "epsilon"]),
        ("due date is invalid", ["epsilon"]),
        ("starts before tomorrow\nnot done", ["alpha", "epsilon", "gamma"]),
        ("happens next week", ["zeta"]),
        ("tags include work", ["alpha", "beta"]),
        ("tag regex matches /#WORK$/i", ["alpha"]),
        ("heading includes home", ["delta", "epsilon", "zeta"]),
        ("status.type is not DONE\ndone", ["zeta"]),
        ("description regex does not match /a$/\nnot done", ["alpha", "delta", "epsilon", "gamma"]),
        ("# a comment {{not.filled}}\nrecurrence includes week", ["zeta"]),
        ("path includes \\\n    some/", ["alpha", "beta", "delta", "epsilon", "gamma", "zeta"]),
        ("description includes x\\\\", []),
        ("(done) AND NOT (is recurring)", ["beta"]),
        ("NOT (done) AND (tags include home)", ["delta"]),
        ("(done) XOR (has tags)", ["alpha", "delta", "zeta"]),
        ("(done)AND(is recurring)", ["zeta"]),
        ("[description includes (x)] OR [is recurring]", ["gamma", "zeta"]),
        ('"done" OR "is blocked"', ["beta", "gamma", "zeta"]),
        ("(done) OR (is blocked) AND (is blocking)", ["beta", "zeta"]),
    ],
)
def test_filters_find_their_tasks(source: str, found: list[str]) -> None:
    assert _found(source) == found


@pytest.mark.parametrize(
    ("source", "line", "number", "reason"),
    [
        ("not done\n\ngibberish", "gibberish", 3, "do not understand query"),
        ("due thees week", "due thees week", 1, "do not understand due date"),
        ("sort by nothing", "sort by nothing", 1, "do not understand query"),
        ("group by tag", "group by tag", 1, "do not understand query"),
        ("done\npath includes {{query.file.x}}", "path includes {{query.file.x}}", 2, "Unknown property"),
        ("status.type is BUSY", "status.type is BUSY", 1, "Allowed values:  TODO DONE IN_PROGRESS ON_HOLD"),
        ("description regex matches x", "description regex matches x", 1, "Regular expressions must look"),
        ("path regex matches /[/", "path regex matches /[/", 1, "unterminated character set"),
        ("preset nope", "preset nope", 1, 'Cannot find preset "nope"'),
        ("(done) AND [done]", "(done) AND [done]", 1, "inside one of these pairs of delimiter"),
        ("(done) and (done)", "(done) and (done)", 1, "do not understand query"),
        ("(done) OR (gibberish)", "(done) OR (gibberish)", 1, "couldn't parse sub-expression 'gibberish'"),
        ("(description includes (x)) OR (done)", "(description includes (x)) OR (done)", 1, "malformed"),
    ],
)
def test_errors_name_the_line_and_the_reason(source: str, line: str, number: int, reason: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(source, Settings(), TODAY, file=QueryFile("a.md"))

    assert (caught.value.line, caught.value.number) == (line, number)
    assert reason in caught.value.reason


def test_a_placeholder_needs_the_file_of_the_query() -> None:
    with pytest.raises(QueryError, match="no file path has been supplied"):
        parse_query("path includes {{query.file.path}}", Settings(), TODAY)


def test_placeholders_are_filled_from_the_file_of_the_query() -> None:
    file = QueryFile("some/note.md", {"Wanted": "tags include work", "lines": "done\nis recurring"})

    assert _found("{{query.file.property('wanted')}}", file=file) == ["alpha", "beta"]
    assert _found("{{query.file.property('lines')}}", file=file) == ["zeta"]
    assert _found("folder includes {{query.file.folder}}\ndone", file=file) == ["beta", "zeta"]


def test_the_global_query_counts_unless_it_is_ignored() -> None:
    settings = settings_from_data({"globalQuery": "done\nlimit 1"})

    assert len(_found("", settings)) == 1
    assert _found("ignore global query\nnot done\nlimit 9", settings) == [
        "alpha",
        "delta",
        "epsilon",
        "gamma",
    ]


def test_properties_of_the_query_file_set_defaults() -> None:
    file = QueryFile(
        "a.md",
        {"TQ_short_mode": True, "TQ_show_tree": False, "TQ_explain": True, "TQ_extra_instructions": "done"},
    )
    query = parse_query("show tree", Settings(), TODAY, file=file)

    assert query.layout.short_mode
    assert query.layout.explain
    assert query.layout.shown == {"tree": True}
    assert [condition.text for condition in query.filters] == ["done"]


def test_the_description_is_searched_without_the_global_filter() -> None:
    settings = settings_from_data({"globalFilter": "alpha"})

    assert _found("description includes alpha", settings) == []


def test_limits_count_before_grouping_and_in_each_group() -> None:
    limited = parse_query("limit to 3 tasks\ngroup by status", Settings(), TODAY).run(_rows())
    grouped = parse_query("limit groups 1\ngroup by status", Settings(), TODAY).run(_rows())
    ungrouped = parse_query("limit groups 1", Settings(), TODAY).run(_rows())

    assert (limited.total, limited.before_limit) == (3, 6)
    assert [(group.names, len(group.rows)) for group in grouped.groups] == [(("Done",), 1), (("Todo",), 1)]
    assert (grouped.total, ungrouped.total) == (2, 6)


def test_nested_groups_print_the_headings_that_change() -> None:
    result = parse_query("group by heading\ngroup by status", Settings(), TODAY).run(_rows())

    assert [[(head.level, head.text) for head in group.headings] for group in result.groups] == [
        [(0, "Home"), (1, "Done")],
        [(1, "Todo")],
        [(0, "Work"), (1, "Done")],
        [(1, "Todo")],
    ]


def test_without_a_match_there_is_one_group_without_a_name() -> None:
    result = parse_query("description includes nowhere\ngroup by due", Settings(), TODAY).run(_rows())

    assert [(group.names, group.rows) for group in result.groups] == [((), [])]


def test_texts_sort_by_number_and_ignore_case_and_marks() -> None:
    lines = ["Num 10", "num 9", "**b**old", "[[Zed|apple]] pie", "École", "eclair", "_x_", "#tag"]
    rows = extract("a.md", "\n".join(f"- [ ] {line}" for line in lines), Settings())

    found = parse_query("sort by description", Settings(), TODAY).run(rows)

    assert [row.description for row in found.rows] == [
        "#tag",
        "[[Zed|apple]] pie",
        "**b**old",
        "eclair",
        "École",
        "num 9",
        "Num 10",
        "_x_",
    ]


def test_an_explanation_says_how_each_filter_was_understood() -> None:
    query = parse_query(
        "not done\n(due this week) OR (path regex matches /x/i)\ngroup by due\nlimit 1", Settings(), TODAY
    )

    assert query.explain() == (
        "not done\n\n"
        "(due this week) OR (path regex matches /x/i) =>\n"
        "  OR (At least one of):\n"
        "    due this week =>\n"
        "      due date is between:\n"
        "        2024-03-11 (Monday 11th March 2024) and\n"
        "        2024-03-17 (Sunday 17th March 2024) inclusive\n"
        "    path regex matches /x/i =>\n"
        "      using regex:     'x' with flag 'i'\n\n"
        "group by due\n\n"
        "No sorting instructions supplied.\n\n"
        "At most 1 task.\n"
    )
