"""Links and embeds: what counts as one, and what it names."""

from knapper.vault.markdown import Link, parse


def links(text: str) -> list[str]:
    return [link.original for link in parse(text).links]


def one(text: str) -> Link:
    (link,) = parse(text).links
    return link


def test_a_wikilink_has_path_subpath_and_display() -> None:
    link = one("see [[Folder/Note#Part#Sub|shown]] there")
    assert (link.kind, link.embed) == ("wikilink", False)
    assert link.target == "Folder/Note#Part#Sub"
    assert (link.path, link.subpath, link.display) == ("Folder/Note", "#Part#Sub", "shown")
    assert link.original == "[[Folder/Note#Part#Sub|shown]]"
    assert (link.start, link.end, link.line, link.col) == (4, 34, 0, 4)


def test_a_wikilink_without_alias_shows_its_headings_as_a_path() -> None:
    assert one("[[Note#A#B]]").display == "Note > A > B"
    assert one("[[#A]]").display == "A"
    assert one("[[#^id]]").display == "^id"


def test_an_embed_keeps_its_size_as_display() -> None:
    link = one("![[image.png|300x200]]")
    assert link.embed
    assert (link.path, link.display) == ("image.png", "300x200")


def test_an_empty_wikilink_is_none_but_one_of_a_bar_is() -> None:
    assert links("[[]] [[ ]]") == []
    assert one("[[|alias]]").path == "|alias"


def test_a_lone_bracket_is_part_of_the_target() -> None:
    assert one("[[Sq]uare]]").path == "Sq]uare"


def test_the_innermost_of_nested_openings_is_the_link() -> None:
    assert links("[[a [[Inner]] b]]") == ["[[Inner]]"]


def test_a_wikilink_does_not_span_lines() -> None:
    assert links("[[a\nb]]") == []


def test_in_a_table_an_escaped_bar_parts_target_and_display() -> None:
    link = one("| a | b |\n|---|---|\n| x | [[Note\\|shown]] |\n")
    assert (link.target, link.path, link.display) == ("Note", "Note", "shown")
    assert (link.line, link.col) == (2, 6)


def test_in_a_table_a_bare_bar_ends_the_cell_and_with_it_the_link() -> None:
    assert links("| a | b |\n|---|---|\n| x | [[Note|shown]] |\n") == []


def test_a_markdown_link_is_decoded_as_a_browser_decodes() -> None:
    link = one("[text](My%20Folder/Caf%C3%A9%20%26%20Bar.md#A%20B)")
    assert link.kind == "markdown"
    assert link.target == "My%20Folder/Caf%C3%A9%20%26%20Bar.md#A%20B"
    assert (link.path, link.subpath) == ("My Folder/Café %26 Bar.md", "#A B")
    assert link.display == "text"


def test_a_destination_that_is_not_utf8_stays_encoded() -> None:
    assert one("[a](b%FF%20c.md)").path == "b%FF%20c.md"


def test_pointed_brackets_allow_spaces_in_a_destination() -> None:
    assert one("[a](<My Note.md>)").path == "My Note.md"
    assert links("[a](My Note.md)") == []


def test_a_destination_may_have_parentheses_and_a_title() -> None:
    assert one('[a](b(c).md "title")').path == "b(c).md"
    assert one("[a](b\\).md)").path == "b).md"


def test_what_leads_out_of_the_vault_is_no_link() -> None:
    assert links("[a](https://b.c) [a](mailto:b@c.d) [a]() <https://b.c> ![a](http://b.c/d.png)") == []
    assert links("https://a.b/[[c]] [[https://a.b]]") == ["[[https://a.b]]"]


def test_an_image_in_a_link_is_found_too() -> None:
    assert links("[![alt](image.png)](Note.md)") == ["[![alt](image.png)](Note.md)", "![alt](image.png)"]


def test_a_link_in_the_text_of_a_link_is_none() -> None:
    assert links("[a [b](c.md) d](e.md)") == ["[a [b](c.md) d](e.md)"]


def test_code_and_maths_and_html_comments_hide_links() -> None:
    assert links("`[[a]]` ``[[b]] ` `` $[[c]]$ <!-- [[d]] --> <b title='[[e]]'>") == []
    assert links("```\n[[a]]\n```\n\n    [[b]]\n\n$$\n[[c]]\n$$\n\n<div>\n[[d]]\n</div>\n") == []


def test_comments_of_obsidian_do_not_hide_links() -> None:
    assert links("a %%[[b]]%% [[c]]\n\n%%\n[[d]]\n%%\n") == ["[[b]]", "[[c]]", "[[d]]"]


def test_money_is_not_maths() -> None:
    assert links("costs $5 [[a]] and $6, or $7-$8 [[b]]") == ["[[a]]", "[[b]]"]


def test_an_escaped_bracket_begins_no_link() -> None:
    assert links(r"\[[a]] \[b](c.md) [\[d\]](e.md)") == [r"[\[d\]](e.md)"]


def test_a_link_over_lines_of_a_quote_has_the_text_of_the_note() -> None:
    text = "> [two\n> lines](Note.md)\n"
    link = one(text)
    assert link.original == "[two\n> lines](Note.md)"
    assert text[link.start : link.end] == link.original


def test_line_endings_of_windows_do_not_shift_links() -> None:
    text = "# A\r\n\r\nb\r\nsee [[c]]\r\n"
    link = one(text)
    assert (link.line, link.col) == (3, 4)
    assert text[link.start : link.end] == "[[c]]"


def test_a_property_is_a_link_where_it_is_one_as_a_whole() -> None:
    text = '---\n# [[b]]\nup: "[[b]]"\nmany:\n  - "[[c|d]]"\n  - see "[[e]]"\nplain: [[f]]\n---\n[[g]]\n'
    found = [(link.key, link.original, link.start, link.line) for link in parse(text).links]
    assert found == [("up", "[[b]]", 17, 2), ("many.0", "[[c|d]]", 35, 4), (None, "[[g]]", 77, 8)]


def test_a_property_link_that_yaml_wrote_otherwise_has_no_offset() -> None:
    link = one('---\nup: "[[a\\u0062]]"\n---\n')
    assert (link.path, link.start, link.end, link.in_frontmatter) == ("ab", -1, -1, True)
