from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.errors import ConfigError
from knapper.vault import globs

PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="*?/"), min_size=1, max_size=10)


def matches(glob: str, path: str, *, fold_case: bool = False) -> bool:
    pattern = globs.compiled([glob], fold_case=fold_case)
    return pattern.fullmatch(globs.subject(path, fold_case=fold_case)) is not None


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("Notes/**", "Notes/a.md", True),
        ("Notes/**", "Notes/a/b/c.md", True),
        ("Notes/**", "Notes", False),
        ("Notes/**", "Notes2/a.md", False),
        ("Notes/**", "My Notes/a.md", False),
        ("Notes/*", "Notes/a.md", True),
        ("Notes/*", "Notes/a/b.md", False),
        ("**", "anything/at all.md", True),
        ("*.md", "a.md", True),
        ("*.md", "a/b.md", False),
        ("**/*.md", "a/b.md", True),
        ("?.md", "a.md", True),
        ("?.md", "/.md", False),
        ("a.md", "axmd", False),
        ("[ab].md", "a.md", False),
        ("[ab].md", "[ab].md", True),
        ("{a,b}.md", "a.md", False),
        ("a b/**", "a b/c.md", True),
        ("a b/**", "a/b/c.md", False),
        ("a+(b)|c^$.md", "a+(b)|c^$.md", True),
        ("\\d.md", "1.md", False),
        ("Notes/**", "notes/a.md", False),
    ],
)
def test_a_glob_matches_what_it_says(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected


@given(PLAIN)
def test_all_but_stars_and_question_marks_is_literal(text: str) -> None:
    assert matches(text, text)
    assert not matches(text, text + "x")
    assert not matches(text, "x" + text)
    assert not matches(text, f"{text}/{text}")


@given(st.lists(PLAIN, min_size=1, max_size=5))
def test_one_star_fills_exactly_one_folder(parts: list[str]) -> None:
    path = "/".join(parts)
    for index in range(len(parts)):
        starred = [*parts[:index], "*", *parts[index + 1 :]]
        assert matches("/".join(starred), path)
        assert not matches("/".join([*starred, "more"]), path)
        if len(parts) > 1:
            assert not matches("/".join(starred[:-1]), path)


@given(PLAIN, st.lists(PLAIN, min_size=1, max_size=5))
def test_two_stars_reach_any_depth_below_and_nothing_beside(folder: str, parts: list[str]) -> None:
    assert matches(f"{folder}/**", "/".join([folder, *parts]))
    assert not matches(f"{folder}/**", "/".join([folder + "x", *parts]))
    assert not matches(f"{folder}/**", "/".join(["x" + folder, *parts]))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="*?"), min_size=1, max_size=20))
def test_composition_does_not_matter(text: str) -> None:
    for one in ("NFC", "NFD"):
        for other in ("NFC", "NFD"):
            assert matches(unicodedata.normalize(one, text), unicodedata.normalize(other, text))


def test_case_matters_only_where_the_filesystem_has_it() -> None:
    assert not matches("Straße/**", "STRASSE/a.md")
    assert matches("Straße/**", "STRASSE/a.md", fold_case=True)
    assert matches("CAFÉ/*", "cafe\u0301/a", fold_case=True)


def test_no_globs_match_nothing() -> None:
    assert globs.compiled([]).fullmatch("") is None


def test_a_glob_longer_than_any_sensible_one_is_a_configuration_error() -> None:
    assert matches("a" * 512, "a" * 512)
    with pytest.raises(ConfigError, match="longer than 512"):
        globs.compiled(["a" * 513])
