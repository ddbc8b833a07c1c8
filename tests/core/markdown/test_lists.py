"""List items: parents, spans, checkboxes and ids, with the habits of Obsidian's own list algorithm."""

from knapper.vault.markdown import parse


def items(text: str) -> list[tuple[str, int, int, int]]:
    return [(item.text, item.line, item.col, item.parent) for item in parse(text).list_items]


def spans(text: str) -> list[str]:
    return [text[item.start : item.end] for item in parse(text).list_items]


def test_roots_name_their_list_and_children_their_parent() -> None:
    text = "intro\n\n- a\n    - b\n        - c\n- d\n"
    assert items(text) == [("a", 2, 0, -2), ("b", 3, 2, 2), ("c", 4, 6, 3), ("d", 5, 0, -2)]


def test_a_list_on_the_first_line_is_minus_one_like_one_on_the_second() -> None:
    assert items("- a\n* b\n") == [("a", 0, 0, -1), ("b", 1, 0, -1)]


def test_any_character_makes_a_checkbox_and_the_space_after_it_is_needed() -> None:
    text = "- [ ] a\n- [x] b\n- [?] c\n1. [>] d\n- [] e\n- [x]f\n- [y] \n"
    assert [item.task for item in parse(text).list_items] == [" ", "x", "?", ">", None, None, "y"]
    assert [item.line for item in parse(text).tasks()] == [0, 1, 2, 3, 6]


def test_an_item_spans_its_own_lines_but_not_its_children() -> None:
    text = "- a\n  more\n  - b\n- c\n\n  para\n"
    assert spans(text) == ["- a\n  more", "- b", "- c\n\n  para"]


def test_an_item_before_a_blank_line_ends_on_that_line() -> None:
    assert spans("- a\n\n- b\n") == ["- a\n", "- b"]


def test_different_markers_make_different_lists() -> None:
    note = parse("- a\n* b\n+ c\n1. d\n1) e\n")
    assert [section.type for section in note.sections] == ["list"] * 5


def test_a_numbered_mark_after_a_checkbox_is_a_list_in_the_item() -> None:
    assert items("- [ ] 1. a\n") == [("1. a", 0, 0, -1), ("a", 0, 6, 0)]


def test_one_digit_and_a_dot_take_four_columns_but_with_a_parenthesis_three() -> None:
    assert items("1. a\n    1. b\n")[1] == ("b", 1, 4, 0)
    assert items("1) a\n    1) b\n")[1] == ("b", 1, 3, 0)


def test_a_lazy_line_keeps_the_indentation_of_all_lines() -> None:
    assert items("- a\n  - b\nlazy\n")[1] == ("b", 1, 0, 0)


def test_a_list_in_a_quote_counts_its_columns_after_the_quote_mark() -> None:
    assert items("> - a\n>     - b\n") == [("a", 0, 2, -1), ("b", 1, 4, 0)]


def test_tabs_indent_to_stops_of_four() -> None:
    assert items("- a\n\t- b\n\t\t- c\n") == [("a", 0, 0, -1), ("b", 1, 1, 0), ("c", 2, 2, 1)]


def test_a_list_may_have_blank_lines_until_a_line_that_is_not_indented() -> None:
    note = parse("- a\n\n\n- b\n\ntext\n")
    assert [(section.type, note.line(section.end)) for section in note.sections] == [
        ("list", 3),
        ("paragraph", 5),
    ]


def test_headings_code_rules_and_comments_end_a_list_but_quotes_do_not() -> None:
    for ending in ("# h", "```\nx\n```", "---", "%%\nx\n%%", "$$\nx\n$$"):
        assert spans(f"- a\n{ending}\n") == ["- a"]
    assert spans("- a\n> b\n") == ["- a\n> b"]


def test_a_decimal_number_after_a_list_continues_it() -> None:
    assert spans("- a\n\n1.5 b\n") == ["- a\n\n1.5 b"]


def test_a_numbered_list_breaks_a_paragraph_only_when_it_begins_with_one() -> None:
    assert items("text\n2. a\n") == []
    assert items("text\n1. a\n") == [("a", 1, 0, -1)]


def test_an_item_has_the_id_at_its_end() -> None:
    note = parse("- a ^one\n  - b\n- c\n^Two\n")
    assert [item.id for item in note.list_items] == ["one", None, "Two"]
    assert {key: (block.id, block.start, block.end) for key, block in note.blocks.items()} == {
        "one": ("one", 0, 8),
        "two": ("Two", 15, 23),
    }


def test_lists_in_code_comments_and_html_are_none() -> None:
    assert items("```\n- a\n```\n\n%%\n- b\n%%\n\n<!--\n- c\n-->\n\n<div>\n- d\n</div>\n") == []
