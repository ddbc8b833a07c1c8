from knapper_tasks.engine import Settings, extract, settings_from_data

NOTE = """---
a: "- [ ] in the frontmatter"
---
- [ ] before any heading
# First
- [ ] under first
  - [x] nested ✅ 2024-01-02
> [!note]
> - [ ] in a callout
```
- [ ] in code
# not a heading
```
<!--
- [ ] in a comment
-->
%%
- [ ] in a block comment
%%
## Second ##
1. [/] numbered %%aside%%
- plain [link](x)
"""


def test_tasks_come_with_their_line_and_heading() -> None:
    rows = extract("a/b.md", NOTE, Settings())

    assert [(row.line, row.description, row.heading) for row in rows] == [
        (3, "before any heading", None),
        (5, "under first", "First"),
        (6, "nested", "First"),
        (8, "in a callout", "First"),
        (20, "numbered %%aside%%", "Second"),
    ]
    assert rows[2].indent == "  "
    assert rows[3].indent == "> "
    assert rows[4].marker == "1."
    assert {row.path for row in rows} == {"a/b.md"}


def test_a_parsers_lines_and_headings_are_taken_as_they_are() -> None:
    rows = extract("a.md", NOTE, Settings(), lines=[10, 5, 5], headings=[(4, "First"), (9, "Code")])

    assert [(row.description, row.heading) for row in rows] == [
        ("under first", "First"),
        ("in code", "Code"),
    ]


def test_windows_line_ends_are_no_part_of_a_task() -> None:
    (row,) = extract("a.md", "# H\r\n- [ ] a 📅 2024-01-02\r\n", Settings())

    assert (row.due, row.heading, row.raw) == ("2024-01-02", "H", "- [ ] a 📅 2024-01-02")


def test_a_notes_name_schedules_its_undated_tasks() -> None:
    settings = settings_from_data(
        {
            "useFilenameAsScheduledDate": True,
            "filenameAsScheduledDateFormat": "MMM DD, YYYY",
            "filenameAsDateFolders": ["days"],
        }
    )
    text = "- [ ] a\n- [ ] b 📅 2024-05-01"

    def scheduled(path: str) -> list[str | None]:
        return [row.scheduled for row in extract(path, text, settings)]

    assert scheduled("days/2024-03-15 x.md") == ["2024-03-15", None]
    assert scheduled("days/deep/20240315.md") == ["2024-03-15", None]
    assert scheduled("days/Mar 15, 2024.md") == ["2024-03-15", None]
    assert scheduled("days/2024-02-30.md") == [None, None]
    assert scheduled("other/2024-03-15.md") == [None, None]


def test_an_inferred_date_is_marked_and_never_written() -> None:
    from knapper_tasks.engine import serialize

    settings = settings_from_data({"useFilenameAsScheduledDate": True})
    (row,) = extract("2024-03-15.md", "- [ ] a", settings)

    assert row.scheduled_inferred
    assert serialize(row, settings) == "- [ ] a"
