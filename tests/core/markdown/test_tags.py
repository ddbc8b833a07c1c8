"""Tags: what begins one, what ends one, and where none is looked for."""

import pytest

from knapper.vault.markdown import parse


def tags(text: str) -> list[str]:
    return [tag.tag for tag in parse(text).tags]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#a #b/c-d_e #naïve #日本 #2024w #🎉", ["#a", "#b/c-d_e", "#naïve", "#日本", "#2024w", "#🎉"]),
        ("#a, #b. #c: #d)", ["#a", "#b", "#c", "#d"]),
        ("#1984 #12: # #", []),
        ("x#a (#b) '#c \"#d", []),
        ("## Heading #a", ["#a"]),
        ("- [ ] #task do", ["#task"]),
        ("> [!note] #a\n> #b", ["#a", "#b"]),
        ("| #a | b |\n|---|---|\n| #c | d |", ["#a", "#c"]),
        ("**#a** _#b_ ==#c== x**#d", ["#a", "#b", "#c", "#d"]),
        ("**bold**#a `code`#b [[link]]#c <br>#d", ["#a", "#b", "#c", "#d"]),
        (r"\#a \[#b", ["#b"]),
        ("[#a] [b:: #c] [see #d](e.md) [[#f]]", ["#a", "#c"]),
        ("https://a.b/#c [d](#e) <a href='#f'>", []),
        ("`#a` $#b$ <!-- #c --> %%#d%%", ["#d"]),
        ("```\n#a\n```\n\n    #b\n\n%%\n#c\n%%\n\n<div>\n#d\n</div>", ["#c"]),
    ],
)
def test_tags_of_the_body(text: str, expected: list[str]) -> None:
    assert tags(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[a, '#b', c/d]", ["#a", "#b", "#c/d"]),
        ("a", ["#a"]),
        ("a, b", []),
        ("[a b, 12, 3x, true]", ["#3x"]),
        ("", []),
        ("{a: b}", []),
    ],
)
def test_tags_of_the_frontmatter_come_first(value: str, expected: list[str]) -> None:
    note = parse(f"---\ntags: {value}\n---\n#z #z\n")
    assert note.frontmatter_tags == expected
    assert note.all_tags == [*expected, "#z", "#z"]


def test_the_older_tag_property_is_not_read() -> None:
    assert parse("---\ntag: a\n---\n").all_tags == []
