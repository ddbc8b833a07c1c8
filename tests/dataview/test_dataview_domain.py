from typing import Any

import pytest

import knapper_dataview
from knapper import Context, Domain, ToolError
from knapper.index.queries import kept
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_dataview import dataview
from knapper_dataview.answers import DqlRows, Format

# Stands for the domain that offers queries to clients, which asks for them by the service.
asker = Domain("asker", summary="Runs queries.")


@asker.tool("read:notes")
def ask(ctx: Context, dql: str, format: Format | None = None) -> DqlRows:
    """Run a query."""
    rows: DqlRows = ctx.service("dql")(ctx, dql, format)
    return rows


@pytest.fixture
def query(call: Calls) -> Any:
    call.plugins.append(knapper_dataview)
    return lambda dql, **arguments: call(asker, "ask", dql=dql, **arguments)


def fill(vault: VaultFolder) -> None:
    vault["books/A.md"] = "---\ntags: [book/novel]\nrating: 3\n---\nauthor:: [[Ann]]\n- [ ] read it\n"
    vault["books/B.md"] = "---\ntags: book\nrating: 5\n---\nSee [[A]].\n- [x] bought\n"
    vault["people/Ann.md"] = "born:: 1950-02-03\n"


def test_a_table_has_its_headers_rows_and_notes(query: Any, vault: VaultFolder) -> None:
    fill(vault)
    assert query("TABLE rating, author FROM #book SORT rating DESC") == {
        "headers": ["File", "rating", "author"],
        "rows": [["[[books/B.md|B]]", 5, None], ["[[books/A.md|A]]", 3, "[[people/Ann.md|Ann]]"]],
        "note_paths": ["books/B.md", "books/A.md"],
        "engine": "native",
    }


@pytest.mark.parametrize(
    ("dql", "headers", "rows"),
    [
        ("LIST FROM #book/novel", None, [["[[books/A.md|A]]"]]),
        ('LIST rating FROM "books" SORT rating', None, [["[[books/A.md|A]]", 3], ["[[books/B.md|B]]", 5]]),
        ('LIST WITHOUT ID rating FROM "books/B"', None, [[5]]),
        ("LIST FROM [[A]]", None, [["[[books/B.md|B]]"]]),
        ("LIST FROM outgoing([[A]])", None, [["[[people/Ann.md|Ann]]"]]),
        ("TASK WHERE !completed", ["text", "status", "path", "line"], [["read it", " ", "books/A.md", 6]]),
        (
            "TASK GROUP BY completed",
            ["group", "text", "status", "path", "line"],
            [[False, "read it", " ", "books/A.md", 6], [True, "bought", "x", "books/B.md", 6]],
        ),
        ("CALENDAR born WHERE born", ["date", "note"], [["1950-02-03", "[[people/Ann.md|Ann]]"]]),
    ],
)
def test_every_kind_of_query_is_answered_in_rows(
    query: Any, vault: VaultFolder, dql: str, headers: list[str] | None, rows: list[list[object]]
) -> None:
    fill(vault)
    found = query(dql)
    assert (found.get("headers"), found["rows"]) == (headers, rows)


def test_a_query_of_another_kind_than_was_wanted_is_refused(query: Any, vault: VaultFolder) -> None:
    fill(vault)
    assert query("LIST FROM #book/novel", format="list")["rows"] == [["[[books/A.md|A]]"]]
    with pytest.raises(ToolError, match="the query is a LIST, not a TASK") as refused:
        query("LIST", format="task")
    assert refused.value.code == "dql_error"


def test_rows_of_a_csv_file_are_read_from_the_vault(query: Any, vault: VaultFolder) -> None:
    vault["data/people.csv"] = "Name,Age\nAnn,30\nBob,25\n"
    found = query('TABLE WITHOUT ID name, age FROM csv("data/people.csv") WHERE age > 26')
    assert found["rows"] == [["Ann", 30]]


def test_the_vaults_own_settings_and_bookmarks_count(query: Any, vault: VaultFolder) -> None:
    fill(vault)
    vault[".obsidian/plugins/dataview/data.json"] = '{"tableIdColumnName": "Page"}'
    vault[".obsidian/bookmarks.json"] = (
        '{"items": [{"type": "group", "items": [{"type": "file", "path": "books/B.md"}]}]}'
    )
    found = query("TABLE file.starred FROM #book")
    assert found["headers"] == ["Page", "file.starred"]
    assert [row[1] for row in found["rows"]] == [False, True]


def test_a_change_is_seen_by_the_next_query(query: Any, vault: VaultFolder) -> None:
    fill(vault)
    assert query("LIST WITHOUT ID rating FROM #book SORT rating")["rows"] == [[3], [5]]
    vault["books/A.md"] = "---\ntags: book\nrating: 9\n---\n"
    del vault["books/B.md"]
    vault["books/C.md"] = "---\ntags: book\nrating: 1\n---\n"
    assert query("LIST WITHOUT ID rating FROM #book SORT rating")["rows"] == [[1], [9]]


def test_notes_beyond_what_is_held_in_memory_are_in_the_answer_too(
    query: Any, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_BYTES", 100)
    for number in range(20):
        vault[f"{number:02}.md"] = f"number:: {number}\n"
    for _ in range(2):
        assert query("LIST WITHOUT ID number SORT number")["rows"] == [[number] for number in range(20)]


def test_a_note_that_cannot_be_read_as_text_is_still_a_file(query: Any, vault: VaultFolder) -> None:
    (vault.path / "odd.md").write_bytes(b"\xff\xfe")
    assert query("TABLE file.size, rating")["rows"] == [["[[odd.md|odd]]", 2, None]]


@pytest.mark.parametrize(
    ("dql", "rows"),
    [
        ("LIST", [["[[open/A.md|A]]"]]),
        ('LIST FROM "closed"', []),
        ("LIST FROM #secret", []),
        (
            "LIST FROM [[B]]",
            [["[[open/A.md|A]]"]],
        ),  # as of a note that is not there, only the links to it are known
        ("LIST WITHOUT ID [[closed/B]].rating", [[None]]),
        ("LIST WITHOUT ID [[closed/B.md]].file.size", [[None]]),
        ("LIST WITHOUT ID file.inlinks", [[[]]]),
        ("LIST WITHOUT ID file.outlinks", [[["[[B|B]]"]]]),
        ("LIST WITHOUT ID meta([[closed/B]]).path", [["closed/B"]]),
        ('TABLE WITHOUT ID a FROM csv("closed/t.csv")', "no CSV file at 'closed/t.csv'"),
    ],
)
def test_what_a_caller_may_not_read_does_not_exist(
    call: Calls, query: Any, vault: VaultFolder, dql: str, rows: object
) -> None:
    vault["open/A.md"] = "See [[B]].\n"
    vault["closed/B.md"] = "---\ntags: secret\nrating: 5\n---\nSee [[A]].\n"
    vault["closed/t.csv"] = "a\n1\n"
    call.settings["acl"] = {"read_paths": ["open/**"]}
    if isinstance(rows, str):
        with pytest.raises(ToolError, match=rows):
            query(dql)
    else:
        assert query(dql)["rows"] == rows


def test_a_wrong_query_says_where_and_what_was_expected(query: Any) -> None:
    with pytest.raises(ToolError) as refused:
        query("LIST\nFROM #book\nWHERE (rating > 3")
    assert refused.value.code == "dql_error"
    assert (refused.value.details["line"], refused.value.details["col"]) == (3, 18)
    assert "')'" in refused.value.message


def test_a_query_whose_every_row_fails_is_an_error(query: Any, vault: VaultFolder) -> None:
    fill(vault)
    with pytest.raises(ToolError, match="every row failed in WHERE") as refused:
        query("LIST WHERE nonsense(1)")
    assert refused.value.code == "dql_error"


def test_javascript_is_refused_by_its_name(query: Any) -> None:
    with pytest.raises(ToolError, match="DataviewJS") as refused:
        query("```dataviewjs\ndv.list(dv.pages())\n```")
    assert (refused.value.code, refused.value.details["construct"]) == ("dql_error", "DataviewJS")


def test_javascript_is_no_expression_either(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    with pytest.raises(ToolError, match="DataviewJS"):
        call(dataview, "eval_dataview_field", path="books/A.md", expression="$= dv.current()")


def test_a_query_is_checked_without_running_it(call: Calls) -> None:
    right = call(dataview, "validate_dql", dql="TABLE rating AS R FROM #book WHERE rating > 3 LIMIT 2")
    assert (right["valid"], right["engine"]) == (True, "native")
    assert right["ast"]["source"] == {"type": "tag", "tag": "#book"}
    wrong = call(dataview, "validate_dql", dql="TABLE rating\nFORM #book")
    assert wrong == {
        "valid": False,
        "engine": "native",
        "error": {"line": 2, "col": 1, "message": wrong["error"]["message"]},
    }
    script = call(dataview, "validate_dql", dql="dv.pages()")
    assert "DataviewJS" in script["error"]["message"]


@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        ("rating * 2", 6, "number"),
        ("author.born", "1950-02-03", "date"),
        ("file.name + this.file.name", "AA", "string"),
        ("missing", None, "null"),
        ("file.tags", ["#book/novel", "#book"], "array"),
        ("date(2024-01-03) - date(2024-01-01)", "2 days", "duration"),
        ("file.tasks.text", ["read it"], "array"),
        ("object(1, 2)", None, "error"),
    ],
)
def test_an_expression_has_a_value_in_a_note(
    call: Calls, vault: VaultFolder, expression: str, value: object, kind: str
) -> None:
    fill(vault)
    if kind == "error":
        with pytest.raises(ToolError) as refused:
            call(dataview, "eval_dataview_field", path="books/A.md", expression=expression)
        assert refused.value.code == "dql_error"
        return
    assert call(dataview, "eval_dataview_field", path="books/A.md", expression=expression) == {
        "path": "books/A.md",
        "expression": expression,
        "value": value,
        "type": kind,
        "engine": "native",
    }


def test_an_expression_needs_a_note_that_is_there_and_may_be_read(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    with pytest.raises(ToolError) as refused:
        call(dataview, "eval_dataview_field", path="nothing.md", expression="1")
    assert refused.value.code == "note_not_found"


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(dataview)
