from typing import Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knapper.vault.edit import (
    Anchor,
    AnchorAmbiguous,
    AnchorNotFound,
    ContentSpills,
    Edited,
    EditError,
    Operation,
    StringNotFound,
    edit_anchor,
    replace_string,
)
from knapper.vault.frontmatter import FrontmatterError
from knapper.vault.markdown import parse

NOTE = """---
a: 1
---
# Title

Intro.

## Tasks
- one
- two

### Later

Someday.

## Log

Old entry.

# Other
## Tasks
```
# Not a heading
```
"""


def heading(text: str, name: str, operation: Operation, content: str) -> Edited:
    return edit_anchor(text, parse(text), Anchor("heading", heading=name), operation, content)


def block(text: str, name: str, operation: Operation, content: str) -> str:
    return edit_anchor(text, parse(text), Anchor("block", block_id=name), operation, content).text


def line(text: str, number: int, operation: Operation, content: str) -> str:
    return edit_anchor(text, parse(text), Anchor("line", line=number), operation, content).text


def properties(text: str, operation: Operation, content: str) -> str:
    return edit_anchor(text, parse(text), Anchor("frontmatter"), operation, content).text


def test_a_string_is_replaced_where_it_occurs_as_often_as_expected() -> None:
    assert replace_string("a b a", "b", "c").text == "a c a"
    assert replace_string("a b a", "a", "", 2).text == " b "


@pytest.mark.parametrize(("old", "expected", "found"), [("a", 1, 2), ("a", 3, 2), ("x", 1, 0), ("x", 0, 0)])
def test_another_number_of_occurrences_changes_nothing(old: str, expected: int, found: int) -> None:
    with pytest.raises(StringNotFound) as caught:
        replace_string("a b a", old, "c", expected)
    assert (caught.value.found, caught.value.expected) == (found, expected)


def test_an_empty_string_is_not_looked_for() -> None:
    with pytest.raises(EditError, match="old_string is empty"):
        replace_string("a", "", "b")


def test_line_breaks_of_a_windows_file_are_found_and_kept() -> None:
    assert replace_string("a\r\nb\r\nc\r\n", "a\nb", "x\ny").text == "x\r\ny\r\nc\r\n"
    assert replace_string("a\r\nb\nc", "b\nc", "x\ny").text == "a\r\nx\ny"


def test_a_replaced_section_keeps_its_heading_and_the_blank_lines_around_it() -> None:
    edited = heading(NOTE, "Log", "replace", "New entry.")
    assert edited == Edited(NOTE.replace("Old entry.", "New entry."), "Title::Log", 1)


def test_a_section_runs_to_the_next_heading_of_its_level() -> None:
    edited = heading(NOTE, "Title::Tasks", "replace", "- none")
    assert edited.text == NOTE.replace("- one\n- two\n\n### Later\n\nSomeday.\n", "- none\n")
    assert edited.dropped == 4


def test_appending_goes_below_the_last_line_of_a_section() -> None:
    assert heading(NOTE, "Log", "append", "New entry.\n").text == NOTE.replace(
        "Old entry.\n", "Old entry.\nNew entry.\n"
    )
    assert heading(NOTE, "Later", "append", "- x").text == NOTE.replace("Someday.\n", "Someday.\n- x\n")


def test_prepending_goes_above_the_first_line_of_a_section() -> None:
    assert heading(NOTE, "Log", "prepend", "New entry.").text == NOTE.replace(
        "Old entry.\n", "New entry.\nOld entry.\n"
    )
    assert heading(NOTE, "Title::Tasks", "prepend", "- zero").text == NOTE.replace(
        "- one\n", "- zero\n- one\n"
    )


@pytest.mark.parametrize(
    ("text", "operation", "content", "changed"),
    [
        ("# A\n# B\n", "append", "x", "# A\nx\n# B\n"),
        ("# A\n\n# B\n", "append", "x", "# A\nx\n\n# B\n"),
        ("# A\n\n# B\n", "replace", "x\n", "# A\nx\n\n# B\n"),
        ("# A", "append", "x", "# A\nx"),
        ("# A\n", "append", "x", "# A\nx\n"),
        ("# A\ntext", "append", "x\ny", "# A\ntext\nx\ny"),
        ("# A\ntext", "replace", "x", "# A\nx"),
        ("# A\r\ntext\r\n", "append", "x\ny", "# A\r\ntext\r\nx\r\ny\r\n"),
        ("# A\n\ntext\n\n# B\n", "replace", "", "# A\n\n# B\n"),
        ("A\n===\ntext\n\nB\n===\n", "append", "x", "A\n===\ntext\nx\n\nB\n===\n"),
        ("# A\nB\n===\n", "append", "x", "# A\nx\n\nB\n===\n"),
        ("# A\n- i\n", "append", "text", "# A\n- i\n\ntext\n"),
        ("# A\n- i\n", "append", "- j", "# A\n- i\n- j\n"),
        ("# A\n- i\n", "append", "  - j", "# A\n- i\n  - j\n"),
        ("# A\n> q\n", "append", "text", "# A\n> q\n\ntext\n"),
        ("# A\n| h |\n|---|\n| 1 |\n", "append", "| 2 |", "# A\n| h |\n|---|\n| 1 |\n| 2 |\n"),
        ("# A\n| h |\n|---|\n| 1 |\n", "append", "text", "# A\n| h |\n|---|\n| 1 |\n\ntext\n"),
        ("# A\ntext ^id\n", "append", "more", "# A\ntext ^id\n\nmore\n"),
        ("# A\n---\ntext\n", "prepend", "x", "# A\nx\n\n---\ntext\n"),
        ("# A\ntext\n", "prepend", "- x", "# A\n- x\n\ntext\n"),
        ("# A\ntext\n", "append", "\nmore\n\n", "# A\ntext\n\nmore\n\n"),
        ("# A\ntext\n", "append", "", "# A\ntext\n"),
        ("# A\nx\n", "append", "## B\ny", "# A\nx\n## B\ny\n"),
        ("# A #\nx\n", "replace", "---\ny", "# A #\n---\ny\n"),
    ],
)
def test_lines_are_put_where_markdown_keeps_them_apart(
    text: str, operation: Operation, content: str, changed: str
) -> None:
    assert heading(text, "A", operation, content).text == changed


def test_a_heading_is_found_by_name_path_level_and_loosely() -> None:
    text = "# A\n## Same\n# B\n## Mid\n### **Deep** thing: x ^h1\n## Same\n# ns::x\n"
    assert heading(text, "A::Same", "append", "x").anchor == "A::Same"
    assert heading(text, "B::Same", "append", "x").anchor == "B::Same"
    assert heading(text, "deep thing x", "append", "x").anchor == "B::Mid::**Deep** thing: x ^h1"
    assert heading(text, "B::deep thing x", "append", "x").anchor == "B::Mid::**Deep** thing: x ^h1"
    assert heading(text, "## Mid", "append", "x").anchor == "B::Mid"
    assert heading(text, "ns::x", "append", "x").anchor == "ns::x"
    assert heading("# Tasks\n# A\n## Tasks\n", "Tasks", "append", "x").anchor == "Tasks"
    assert heading("# Tasks\n# A\n## Tasks\n", "## Tasks", "append", "x").anchor == "A::Tasks"


def test_a_name_that_repeats_is_refused_with_the_full_paths() -> None:
    with pytest.raises(AnchorAmbiguous, match=r"2 headings have this name \(lines 8, 21\)") as caught:
        heading(NOTE, "Tasks", "append", "x")
    assert caught.value.candidates == ["Title::Tasks", "Other::Tasks"]


def test_the_full_path_of_an_error_is_found_although_a_heading_holds_its_separator() -> None:
    note = "# std::map\n\n## Use\n\n# std::set\n\n## Use\n"
    with pytest.raises(AnchorAmbiguous) as caught:
        heading(note, "Use", "append", "x")
    assert caught.value.candidates == ["std::map::Use", "std::set::Use"]
    assert heading(note, "std::map::Use", "append", "x").text == note.replace("Use\n\n#", "Use\nx\n\n#")


def test_a_name_that_is_missing_is_refused_with_the_nearest() -> None:
    with pytest.raises(AnchorNotFound) as caught:
        heading(NOTE, "Task", "append", "x")
    assert caught.value.candidates == ["Title::Tasks", "Other::Tasks"]
    with pytest.raises(AnchorNotFound) as caught:
        heading(NOTE, "Not a heading", "append", "x")
    assert "Not a heading" not in caught.value.candidates
    with pytest.raises(AnchorNotFound, match="the note has no headings") as caught:
        heading("no headings\n", "x", "append", "x")
    assert caught.value.candidates == []


@pytest.mark.parametrize("content", ["```\ncode", "<!-- x", "$$\nx"])
def test_content_that_would_swallow_what_follows_is_refused(content: str) -> None:
    with pytest.raises(ContentSpills):
        heading(NOTE, "Log", "append", content)
    assert heading("# A\n", "A", "append", content).text == f"# A\n{content}\n"


def test_content_that_would_make_frontmatter_of_the_notes_top_is_refused() -> None:
    with pytest.raises(ContentSpills):
        heading("---\n# A\n# B\n", "A", "append", "---")


@pytest.mark.parametrize(
    ("operation", "content", "changed"),
    [
        ("replace", "new", "before\n\nnew ^id\n\nafter\n"),
        ("replace", "new ^id\n", "before\n\nnew ^id\n\nafter\n"),
        ("replace", "```\nx\n```", "before\n\n```\nx\n```\n\n^id\n\nafter\n"),
        ("append", "new", "before\n\ntext\nmore ^id\n\nnew\n\nafter\n"),
        ("prepend", "new", "before\n\nnew\ntext\nmore ^id\n\nafter\n"),
        ("prepend", "- new", "before\n\n- new\n\ntext\nmore ^id\n\nafter\n"),
        ("replace", "", "before\n\n\nafter\n"),
    ],
)
def test_a_paragraph_with_an_id_is_edited(operation: Operation, content: str, changed: str) -> None:
    assert block("before\n\ntext\nmore ^id\n\nafter\n", "^ID", operation, content) == changed


@pytest.mark.parametrize(
    ("operation", "content", "changed"),
    [
        ("replace", "new", "- a\n- [ ] new ^id\n    - child\n- c\n"),
        ("replace", "- [x] new", "- a\n- [x] new ^id\n    - child\n- c\n"),
        ("replace", "new\nmore", "- a\n- [ ] new\n  more ^id\n    - child\n- c\n"),
        ("replace", "new\n- sub", "- a\n- [ ] new ^id\n  - sub\n    - child\n- c\n"),
        ("append", "- new", "- a\n- [ ] b ^id\n    - child\n- new\n- c\n"),
        ("append", "    - new", "- a\n- [ ] b ^id\n    - child\n    - new\n- c\n"),
        ("append", "text", "- a\n- [ ] b ^id\n    - child\n\ntext\n- c\n"),
        ("prepend", "- new", "- a\n- new\n- [ ] b ^id\n    - child\n- c\n"),
        ("replace", "", "- a\n    - child\n- c\n"),
    ],
)
def test_a_list_item_with_an_id_is_edited_above_its_children(
    operation: Operation, content: str, changed: str
) -> None:
    assert block("- a\n- [ ] b ^id\n    - child\n- c\n", "id", operation, content) == changed


def test_a_nested_or_quoted_item_keeps_its_indentation() -> None:
    assert block("- a\n\t- b ^id\n- c", "id", "append", "- new") == "- a\n\t- b ^id\n\t- new\n- c"
    assert block("- a\n\t- b ^id", "id", "append", "- new") == "- a\n\t- b ^id\n\t- new"
    text = "> [!note]\r\n> - b ^id\r\n>   - c\r\n"
    assert block(text, "id", "append", "- new") == "> [!note]\r\n> - b ^id\r\n>   - c\r\n> - new\r\n"
    assert block(text, "id", "replace", "new") == "> [!note]\r\n> - new ^id\r\n>   - c\r\n"


def test_a_table_or_code_with_an_id_below_it_is_edited() -> None:
    text = "| h |\n|---|\n| 1 |\n\n^id\n\nafter\n"
    assert block(text, "id", "replace", "| h |\n|---|\n| 2 |\n") == text.replace("1", "2")
    assert block(text, "id", "append", "new") == "| h |\n|---|\n| 1 |\n\n^id\n\nnew\n\nafter\n"
    assert block(text, "id", "prepend", "new") == "new\n\n" + text
    assert block(text, "id", "replace", "") == "\nafter\n"
    code = "```\nx\n```\n^id\n"
    assert block(code, "id", "replace", "```\ny\n```") == "```\ny\n```\n^id\n"


def test_a_heading_with_an_id_keeps_its_level() -> None:
    assert block("## Old ^id\ntext\n", "id", "replace", "New") == "## New ^id\ntext\n"
    assert block("## Old ^id\ntext\n", "id", "append", "new") == "## Old ^id\nnew\ntext\n"


def test_an_id_that_is_missing_is_refused_with_the_nearest() -> None:
    with pytest.raises(AnchorNotFound) as caught:
        block("a ^first\n\nb ^Second\n", "^secnd", "append", "x")
    assert caught.value.candidates == ["^Second"]


def test_lines_count_from_one_and_keep_their_endings() -> None:
    text = "one\r\ntwo\r\nthree"
    assert line(text, 2, "replace", "2\n") == "one\r\n2\r\nthree"
    assert line(text, 2, "replace", "") == "one\r\n\r\nthree"
    assert line(text, 2, "append", "x") == "one\r\ntwo\r\nx\r\nthree"
    assert line(text, 1, "prepend", "x\ny") == "x\r\ny\r\none\r\ntwo\r\nthree"
    assert line(text, 3, "append", "x") == "one\r\ntwo\r\nthree\r\nx"
    assert line("", 1, "replace", "x") == "x"


@pytest.mark.parametrize(("text", "number"), [("a\nb\n", 3), ("a\nb\n", 0), ("a", -1)])
def test_a_line_that_is_not_there_is_refused(text: str, number: int) -> None:
    with pytest.raises(AnchorNotFound, match=r"the note has lines 1 to \d"):
        line(text, number, "append", "x")


def test_frontmatter_is_edited_as_text_and_checked() -> None:
    text = "---\na: 1 # why\n---\nBody\n"
    assert properties(text, "append", "b: 2") == "---\na: 1 # why\nb: 2\n---\nBody\n"
    assert properties(text, "prepend", "b: 2\n") == "---\nb: 2\na: 1 # why\n---\nBody\n"
    assert properties(text, "replace", "---\nb: 2\n---\n") == "---\nb: 2\n---\nBody\n"
    assert properties(text, "replace", "") == "Body\n"
    assert properties("Body\r\n", "append", "b: 2") == "---\r\nb: 2\r\n---\r\nBody\r\n"
    assert properties("\ufeffBody", "replace", "b: 2") == "\ufeff---\nb: 2\n---\nBody"


def test_frontmatter_that_could_not_be_read_is_refused() -> None:
    text = "---\na: 1\n---\nBody\n"
    with pytest.raises(FrontmatterError):
        properties(text, "append", "b: c: d")
    with pytest.raises(EditError, match="twice") as caught:
        properties(text, "append", "a: 2")
    assert caught.value.candidates == ["a"]
    with pytest.raises((EditError, FrontmatterError)):
        properties(text, "replace", "a: 1\n---\nb: 2\n")


PARTS = ["text\n", "text ^b1\n", "- a\n- b ^b2\n  - c\n", "1. one\n2. two\n", "> quote\n> more\n", "> [!note]\n> - x ^b3\n", "| h |\n|---|\n| 1 |\n", "```\n# no\n```\n", "---\n", "$$\nx\n$$\n", "<div>\nx\n</div>\n", "%% c %%\n", "### Sub\n", "Setext\n---\n", "^b4\n", "\n", "\n", "\n\n", "    code\n"]  # fmt: skip
CONTENTS = ["new", "new\n", "- new", "1. new\n2. x", "> new", "```\nnew\n```", "| n |\n|---|\n| 1 |", "\nnew\n\n", "# New\nx", "new ^n1", "  new", "<b>new</b>", "---", "$$\nnew\n$$"]  # fmt: skip


@st.composite
def notes(draw: st.DrawFn) -> str:
    def some() -> str:
        return "".join(draw(st.lists(st.sampled_from(PARTS), max_size=4)))

    # Not a bare break at the top: with a second one in the content it would turn into frontmatter, and is refused.
    front = draw(st.sampled_from(["top\n", "---\nx: 1\n---\n", "\ufefftop\n"]))
    text = (
        front
        + some()
        + "# One\n"
        + some()
        + "## Two\n"
        + some()
        + "# Three\n"
        + some()
        + draw(st.sampled_from(["", "end"]))
    )
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


OPERATIONS: list[Operation] = ["replace", "append", "prepend"]
SECTIONS: list[Literal["One", "Two", "Three"]] = ["One", "Two", "Three"]


@settings(max_examples=500, deadline=None)
@given(notes(), st.sampled_from(SECTIONS), st.sampled_from(OPERATIONS), st.sampled_from(CONTENTS))
@example("top\n# One\n    code\nSetext\n---\n## Two\n# Three\n", "One", "prepend", "- new")
def test_nothing_outside_a_section_changes(text: str, name: str, operation: Operation, content: str) -> None:
    parsed = parse(text)
    found = [at for at in parsed.headings if at.text == name]
    if len(found) != 1:
        return
    place = found[0]
    later = [at for at in parsed.headings if at.start > place.start and at.level <= place.level]
    before = text[: place.end]
    after = text[parsed.line_starts[later[0].line] :] if later else ""
    try:
        changed = heading(text, name, operation, content).text
    except ContentSpills:
        # Only indented text can go on inside a list item above it: new text, and old text under a new item.
        assert content.startswith("  ") or (operation == "prepend" and "    code" in text)
        return
    eol = "\r\n" if "\r\n" in text else "\n"
    assert changed.startswith(before)
    assert changed.endswith(after)
    assert content.strip().replace("\n", eol) in changed[len(before) : len(changed) - len(after)]
    below = [(at.level, at.text) for at in parsed.headings if later and at.start >= later[0].start]
    again = [(at.level, at.text) for at in parse(changed).headings]
    assert again[len(again) - len(below) :] == below
    if operation != "replace":
        kept = text[len(before) : len(text) - len(after)].strip()
        assert kept in changed
    if eol == "\r\n":
        assert changed.count("\n") == changed.count("\r\n")


@settings(max_examples=500, deadline=None)
@given(notes(), st.sampled_from(OPERATIONS), st.sampled_from(CONTENTS), st.data())
def test_nothing_outside_a_block_changes_and_ids_stay(
    text: str, operation: Operation, content: str, data: st.DataObject
) -> None:
    parsed = parse(text)
    if not parsed.blocks:
        return
    key = data.draw(st.sampled_from(sorted(parsed.blocks)))
    try:
        changed = block(text, key, operation, content)
    except ContentSpills:
        return
    found = parsed.blocks[key]
    assert changed.startswith(text[: parsed.line_starts[parsed.line(found.start)]])
    inside = {
        name for name, at in parsed.blocks.items() if name != key and found.start <= at.start < found.end
    }
    assert set(parsed.blocks) - (inside if operation == "replace" else set()) <= set(parse(changed).blocks)
    if operation == "replace":
        assert changed.endswith(text[found.end :].lstrip("\r\n"))
    else:
        assert text[found.start : found.end].strip() in changed
