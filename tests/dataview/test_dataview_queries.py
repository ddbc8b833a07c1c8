import pytest

from knapper_dataview.engine import CalendarResult, QueryFailed, Settings, TaskGroup, TaskResult, plain
from knapper_dataview.engine.engine import Engine
from tests.dataview.notes import NOW, engine, listed, table, task_texts
from tests.dataview.vault_source import VaultSource

BOOKS = {
    "books__Emma": "---\nrating: 4\nauthor: '[[Austen]]'\ntags: [book/classic]\n---\n[[Dune]]",
    "books__Dune": "---\nrating: 5\nauthor: '[[Herbert]]'\ntags: [Book]\n---\n- [ ] Reread 📅 2024-04-01\n- [x] Read",
    "books__Ulysses": "---\nrating:\nauthor: '[[Joyce]]'\ntags: [book]\n---\n",
    "people__Austen": "---\nborn: 1775-12-16\n---\n[[Emma]] ![[portrait.png]]",
    "people__Herbert": "---\nborn: 1920-10-08\n---\n- [ ] Find photo\n  - [ ] Ask",
}


@pytest.fixture
def books() -> Engine:
    return engine(**BOOKS)


def test_a_tag_means_its_subtags_too_in_any_case(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name FROM #BOOK") == ["Dune", "Emma", "Ulysses"]
    assert listed(books, "LIST WITHOUT ID file.name FROM #book/classic") == ["Emma"]


def test_a_source_may_be_a_folder_a_file_or_nothing(books: Engine) -> None:
    assert listed(books, 'LIST WITHOUT ID file.name FROM "people"') == ["Austen", "Herbert"]
    assert listed(books, 'LIST WITHOUT ID file.name FROM "people/Austen"') == ["Austen"]
    assert listed(books, 'LIST WITHOUT ID file.name FROM "elsewhere"') == []


def test_sources_are_joined_from_the_left_and_negated(books: Engine) -> None:
    assert listed(books, 'LIST WITHOUT ID file.name FROM #book and -#book/classic or "people/Austen"') == [
        "Dune",
        "Ulysses",
        "Austen",
    ]


def test_links_are_followed_both_ways(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name FROM [[Emma]]") == ["Austen"]
    assert listed(books, "LIST WITHOUT ID file.name FROM outgoing([[Emma]])") == ["Dune", "Austen"]
    assert listed(books, "LIST WITHOUT ID file.name FROM [[]]", "books/Dune.md") == ["Emma"]
    assert listed(books, "LIST WITHOUT ID file.name FROM [[portrait.png]]") == ["Austen"]


def test_rows_sort_with_null_first_and_last_when_descending(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name FROM #book SORT rating") == ["Ulysses", "Emma", "Dune"]
    assert listed(books, "LIST WITHOUT ID file.name FROM #book SORT rating DESC, file.name") == [
        "Dune",
        "Emma",
        "Ulysses",
    ]


def test_steps_run_in_written_order(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name FROM #book LIMIT 2 SORT file.name DESC") == [
        "Emma",
        "Dune",
    ]
    assert listed(books, "LIST WITHOUT ID file.name FROM #book SORT file.name DESC LIMIT 1 + 1") == [
        "Ulysses",
        "Emma",
    ]


def test_a_row_whose_condition_fails_is_left_out(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name FROM #book WHERE rating + 1 > 4") == ["Dune", "Emma"]


def test_a_condition_that_fails_for_every_row_fails_the_query(books: Engine) -> None:
    with pytest.raises(QueryFailed, match="every row failed in WHERE: no implementation of null \\+ number"):
        books.run('LIST FROM "people" WHERE rating + 1 > 4')


def test_both_sides_of_or_are_evaluated(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name FROM #book WHERE true or rating + 1") == ["Dune", "Emma"]


def test_fields_are_followed_through_links(books: Engine) -> None:
    assert table(books, "TABLE WITHOUT ID file.name AS n, author.born.year FROM #book") == [
        ["n", "author.born.year"],
        ["Dune", 1920],
        ["Emma", 1775],
        ["Ulysses", None],
    ]


def test_a_link_is_compared_by_the_note_it_means(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name WHERE author = [[people/Austen]]") == ["Emma"]
    assert listed(books, "LIST WITHOUT ID file.name WHERE contains(file.outlinks, [[Emma]])") == ["Austen"]


def test_groups_hold_their_rows_and_name_the_id_column(books: Engine) -> None:
    assert table(books, "TABLE length(rows) AS n, rows.file.name GROUP BY file.folder AS folder") == [
        ["folder", "n", "rows.file.name"],
        ["books", 3, ["Dune", "Emma", "Ulysses"]],
        ["people", 2, ["Austen", "Herbert"]],
    ]


def test_flatten_gives_a_row_for_each_element(books: Engine) -> None:
    assert table(books, 'TABLE WITHOUT ID file.name, t.text FROM "people" FLATTEN file.tasks AS t') == [
        ["file.name", "t.text"],
        ["Herbert", "Find photo"],
        ["Herbert", "Ask"],
    ]


def test_list_with_a_value_keeps_the_note_beside_it(books: Engine) -> None:
    assert listed(books, 'LIST rating FROM "books/Dune"') == [["[[books/Dune.md|Dune]]", 5]]


def test_tasks_see_their_own_fields_before_their_notes() -> None:
    vault = engine(
        Note="---\ndue: 2024-03-01\nprio: 1\n---\n- [ ] a 📅 2024-04-01\n- [ ] b\n- [x] c [prio:: 2]"
    )
    assert task_texts(vault, "TASK WHERE due > date(today)") == ["a 📅 2024-04-01"]
    assert task_texts(vault, "TASK WHERE !completed and prio = 1") == ["a 📅 2024-04-01", "b"]
    assert task_texts(vault, 'TASK WHERE prio = 2 and file.name = "Note"') == ["c [prio:: 2]"]


def test_tasks_group_as_often_as_the_query_says(books: Engine) -> None:
    result = books.run("TASK GROUP BY file.folder GROUP BY length(rows) AS n")
    assert isinstance(result, TaskResult)
    outer = [group for group in result.tasks if isinstance(group, TaskGroup)]
    assert [group.key for group in outer] == [2]
    inner = [group for group in outer[0].rows if isinstance(group, TaskGroup)]
    assert [(group.key, len(group.rows)) for group in inner] == [("books", 2), ("people", 2)]


def test_children_of_tasks_are_reached_by_name(books: Engine) -> None:
    assert task_texts(books, 'TASK WHERE any(children.text, (t) => t = "Ask")') == ["Find photo"]


def test_a_calendar_pairs_dates_with_notes(books: Engine) -> None:
    result = books.run('CALENDAR born FROM "people" SORT born DESC')
    assert isinstance(result, CalendarResult)
    assert [(plain(entry.date), plain(entry.link)) for entry in result.entries] == [
        ("1920-10-08", "[[people/Herbert.md|Herbert]]"),
        ("1775-12-16", "[[people/Austen.md|Austen]]"),
    ]


def test_the_rows_of_a_csv_file_are_typed() -> None:
    vault = Engine(
        VaultSource({"a/t.csv": "First Name,n\n# no\nAnn,1\nBob,\n", "a/Note.md": "", "b.md": ""}),
        NOW,
    )
    assert table(vault, 'TABLE first-name, n FROM csv("t.csv")', "a/Note.md") == [
        ["File", "first-name", "n"],
        ["a/t.csv#0", "Ann", 1],
        ["a/t.csv#1", "Bob", None],
    ]
    assert len(table(vault, 'TABLE n FROM csv("/a/t.csv")', "b.md")) == 3
    with pytest.raises(QueryFailed, match=r"no CSV file at 't\.csv'"):
        vault.run('TABLE n FROM csv("t.csv")', "b.md")


def test_results_name_the_notes_they_came_from(books: Engine) -> None:
    assert books.run("TABLE rating FROM #book WHERE rating > 4").paths == ["books/Dune.md"]
    assert books.run("LIST FROM #book GROUP BY rating").paths == [
        "books/Ulysses.md",
        "books/Emma.md",
        "books/Dune.md",
    ]
    assert books.run("TASK FLATTEN file.name AS n WHERE !completed").paths == [
        "books/Dune.md",
        "people/Herbert.md",
    ]


def test_a_limit_that_is_no_number_fails_the_query(books: Engine) -> None:
    with pytest.raises(QueryFailed, match="LIMIT should be a number, but is a string"):
        books.run('LIST LIMIT "x"')


def test_a_from_after_another_clause_fails_the_query(books: Engine) -> None:
    with pytest.raises(QueryFailed, match="FROM has to be the first clause"):
        books.run("LIST WHERE true FROM #book")


def test_this_is_the_note_the_query_stands_in(books: Engine) -> None:
    assert listed(books, "LIST WITHOUT ID file.name WHERE file.name = this.file.name", "books/Emma.md") == [
        "Emma"
    ]
    assert books.evaluate("this.rating + 1", "books/Dune.md") == 6


def test_a_field_expression_sees_the_fields_of_its_note(books: Engine) -> None:
    assert books.evaluate_field("rating * 2", "books/Dune.md") == 10
    assert plain(books.evaluate_field("author", "books/Dune.md")) == "[[people/Herbert.md|Herbert]]"


def test_an_object_not_looked_into_yet_still_counts_as_something(books: Engine) -> None:
    assert len(listed(books, "LIST WHERE file")) == 5
    assert len(listed(books, "LIST WHERE this", "books/Dune.md")) == 5
    assert listed(books, "LIST WHERE !file") == []
    assert listed(books, "LIST WITHOUT ID choice(file.tasks[0], 1, 2) FROM #book") == [1, 2, 2]


def test_a_field_named_like_a_keyword_is_reached_through_row() -> None:
    assert listed(engine(Note="where:: here"), 'LIST WITHOUT ID row["where"]') == ["here"]


def test_the_plugins_settings_change_what_is_shown() -> None:
    settings = Settings.from_plugin(
        {
            "renderNullAs": "none",
            "defaultDateFormat": "yyyy",
            "tableIdColumnName": "Note",
            "refreshInterval": 5,
        }
    )
    vault = Engine(VaultSource({"Note.md": "d:: 2024-01-02"}), NOW, settings)
    assert table(vault, 'TABLE "" + d + x AS v') == [["Note", "v"], ["[[Note.md|Note]]", "2024none"]]


def test_file_fields_are_there_for_every_note() -> None:
    source = VaultSource(
        {"f/2024-05-06.md": "---\naliases: [A]\n---\n#t/u [[Other]]", "Other.md": ""},
        {"f/2024-05-06.md": (1_700_000_000_000.0, 1_700_100_000_000.0)},
    )
    source.stars = {"f/2024-05-06.md"}
    vault = Engine(source, NOW)
    fields = [
        "path",
        "folder",
        "name",
        "ext",
        "size",
        "cday",
        "mtime",
        "tags",
        "etags",
        "aliases",
        "day",
        "starred",
    ]
    rows = table(vault, f'TABLE WITHOUT ID {", ".join(f"file.{name}" for name in fields)} FROM "f"')
    assert dict(zip(fields, rows[1], strict=True)) == {
        "path": "f/2024-05-06.md",
        "folder": "f",
        "name": "2024-05-06",
        "ext": "md",
        "size": 35,
        "cday": "2023-11-14",
        "mtime": "2023-11-16T02:00:00+00:00",
        "tags": ["#t/u", "#t"],
        "etags": ["#t/u"],
        "aliases": ["A"],
        "day": "2024-05-06",
        "starred": True,
    }
    assert listed(vault, 'LIST WITHOUT ID file.inlinks FROM "Other"') == [["[[f/2024-05-06.md|2024-05-06]]"]]
