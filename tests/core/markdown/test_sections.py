"""Sections: which blocks a note is made of, and where they begin and end."""

import pytest

from knapper.vault.markdown import parse


def sections(text: str) -> list[tuple[str, str]]:
    return [(section.type, text[section.start : section.end]) for section in parse(text).sections]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n\nc\n", [("paragraph", "a\nb"), ("paragraph", "c")]),
        ("# a\nb\n", [("heading", "# a"), ("paragraph", "b")]),
        ("a\n===\nb\n---\n", [("heading", "a\n==="), ("heading", "b\n---")]),
        ("a\n\n---\n* * *\n", [("paragraph", "a"), ("thematicBreak", "---"), ("thematicBreak", "* * *")]),
        ("a\n- b\n", [("paragraph", "a"), ("list", "- b")]),
        ("> a\nlazy\n\nb", [("blockquote", "> a\nlazy"), ("paragraph", "b")]),
        ("> a\n- b\n", [("blockquote", "> a"), ("list", "- b")]),
        ("> [!note]- Title\n> text\n", [("callout", "> [!note]- Title\n> text")]),
        ("~~~py\n```\n~~~\nb", [("code", "~~~py\n```\n~~~"), ("paragraph", "b")]),
        ("```\na\n", [("code", "```\na\n")]),
        ("a\n    b\n\n    c\n", [("paragraph", "a\n    b"), ("code", "    c")]),
        ("$$\na\n$$\n", [("math", "$$\na\n$$")]),
        ("$$ a $$ b\n", [("paragraph", "$$ a $$ b")]),
        ("a\n%%\nb\n%%\n", [("paragraph", "a"), ("comment", "%%\nb\n%%")]),
        ("%% a %% b\n", [("paragraph", "%% a %% b")]),
        ("%%\na\n\n# b\n", [("comment", "%%\na\n\n# b\n")]),
        ("a\n<!-- b\n\nc -->\nd\n", [("paragraph", "a"), ("html", "<!-- b\n\nc -->"), ("paragraph", "d")]),
        ("<div>\na\n\nb", [("html", "<div>\na"), ("paragraph", "b")]),
        ("a\n<span>\n", [("paragraph", "a\n<span>")]),
        ("|a|b|\n|-|-|\n|c|d|\ne\n", [("table", "|a|b|\n|-|-|\n|c|d|"), ("paragraph", "e")]),
        ("|a|b|\nc\n", [("paragraph", "|a|b|\nc")]),
        ("[a]: b.md\nc\n", [("definition", "[a]: b.md"), ("paragraph", "c")]),
        ("---\na: b\n---\nc\n", [("yaml", "---\na: b\n---"), ("paragraph", "c")]),
        ("---\n---\n", [("yaml", "---\n---")]),
        ("", []),
        (" \n\t\n", []),
    ],
)
def test_sections_of_a_note(text: str, expected: list[tuple[str, str]]) -> None:
    assert sections(text) == expected


def test_headings_keep_their_markup_and_lose_their_closing_hashes() -> None:
    note = parse("# A [[b]] #\n\n  ### C#  \n\n#nope\n\n####### nope\n\n#\n")
    assert [(h.level, h.text, h.line) for h in note.headings] == [(1, "A [[b]]", 0), (3, "C#", 2), (1, "", 8)]


def test_headings_in_quotes_and_lists_are_not_the_notes() -> None:
    assert parse("> # a\n\n- # b\n").headings == []


def test_a_block_id_names_its_paragraph_or_the_block_before_it() -> None:
    text = "a ^one\n\n|a|b|\n|-|-|\n\n^two\n\n> q\n^three\n\n# h ^four\n\nno^five ^s_x\n"
    note = parse(text)
    assert {key: text[block.start : block.end] for key, block in note.blocks.items()} == {
        "one": "a ^one",
        "two": "|a|b|\n|-|-|",
        "three": "> q\n^three",
        "four": "# h ^four",
    }
    assert [section.id for section in note.sections] == ["one", "two", None, "three", "four", None]


def test_footnotes_have_definitions_and_references() -> None:
    text = "a[^1] and[^note].\n\n[^1]: One [[x]]\n    - more\n[^note]: Two\n\nb\n"
    note = parse(text)
    assert [(ref.id, text[ref.start : ref.end]) for ref in note.footnote_refs] == [
        ("1", "[^1]"),
        ("note", "[^note]"),
    ]
    assert [(n.id, text[n.start : n.end]) for n in note.footnotes] == [
        ("1", "[^1]: One [[x]]\n    - more"),
        ("note", "[^note]: Two"),
    ]
    assert [item.text for item in note.list_items] == ["more"]
    assert [link.original for link in note.links] == ["[[x]]"]


def test_code_maths_and_comments_are_told_apart() -> None:
    text = "`a` $b$ %%c%% <!--d-->\n\n```dataview x\n[[e]]\n```\n\n    f\n\n$$\ng\n$$\n"
    note = parse(text)
    assert [(r.kind, text[r.start : r.end], r.info) for r in note.code] == [
        ("inline", "`a`", ""),
        ("fenced", "```dataview x\n[[e]]\n```", "dataview x"),
        ("indented", "    f", ""),
    ]
    assert [(r.kind, text[r.start : r.end]) for r in note.maths] == [
        ("inline", "$b$"),
        ("block", "$$\ng\n$$"),
    ]
    assert [(r.kind, text[r.start : r.end]) for r in note.comments] == [
        ("obsidian", "%%c%%"),
        ("html", "<!--d-->"),
    ]
    assert note.in_code(text.index("[[e]]"))
    assert not note.in_code(text.index("g"))


def test_broken_frontmatter_is_reported_without_what_it_says() -> None:
    note = parse('---\nsecret: "x\n---\nbody #a\n')
    assert note.frontmatter is None
    assert note.frontmatter_error
    assert "secret" not in note.frontmatter_error
    assert note.frontmatter_span == (0, 18)
    assert note.body == 19
    assert note.all_tags == ["#a"]


def test_a_byte_order_mark_and_windows_line_endings_do_not_hide_frontmatter() -> None:
    note = parse("\ufeff---\r\na: 1\r\n---\r\n# B\r\n")
    assert note.frontmatter == {"a": 1}
    assert note.frontmatter_span == (1, 15)
    assert note.body == 17
    assert [(h.text, h.start, h.end) for h in note.headings] == [("B", 17, 20)]


def test_what_is_nested_too_deep_is_still_read_for_links() -> None:
    note = parse("- " * 100 + "[[deep]]")
    assert [link.path for link in note.links] == ["deep"]
    assert 40 < len(note.list_items) < 60
