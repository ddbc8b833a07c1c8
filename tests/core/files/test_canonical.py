from __future__ import annotations

import os
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.errors import ToolError
from knapper.vault import paths

NAMES = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/\\%:"), min_size=1, max_size=12
).filter(lambda name: bool(name.strip(" .")) and paths.usable(name))


@pytest.mark.parametrize(
    ("given_path", "expected"),
    [
        ("", ""),
        (".", ""),
        ("a.md", "a.md"),
        ("./a//b/./c.md", "a/b/c.md"),
        ("a\\b\\c.md", "a/b/c.md"),
        ("folder/", "folder"),
        ("Ünïcode/日本.md", "Ünïcode/日本.md"),
        ("a..b/..c/d...md", "a..b/..c/d...md"),
        ("100%.md", "100%.md"),
        ("%20%2E.md", "%20%2E.md"),
        ("console/null.md", "console/null.md"),
    ],
)
def test_a_path_has_one_spelling(given_path: str, expected: str) -> None:
    assert paths.canonical(given_path) == expected


@pytest.mark.parametrize(
    "given_path",
    [
        "..",
        "../a.md",
        "a/../b.md",
        "a\\..\\b.md",
        "a/..\\b.md",
        "a/.. /b.md",
        "a/.../b.md",
        "a/. ./b.md",
        "%2e%2e/a.md",
        "a/%2E%2E%2fb.md",
        "a/..%5cb.md",
        "/etc/passwd",
        "\\\\host\\share",
        "//host/share",
        "C:\\a.md",
        "C:/a.md",
        "c:",
        "a\x00.md",
        "a\nb.md",
        "a\x7fb.md",
        "a\x85b.md",
        "a\ud800.md",
        "CON",
        "nul.md",
        "a/aux/b.md",
        "com1.tar.gz",
        "LPT¹.md",
        "a" * 1025,
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(given_path: str) -> None:
    with pytest.raises(ToolError) as caught:
        paths.canonical(given_path)
    assert caught.value.code == "path_invalid"
    assert "/etc" not in caught.value.message
    assert len(caught.value.details["path"]) <= 1024
    caught.value.details["path"].encode()


@pytest.mark.skipif(os.name == "nt", reason="there it is a drive")
@pytest.mark.parametrize("path", ["Q: why.md", "Q:why.md", "deep/Q: why.md", "Q: folder/a.md"])
def test_a_name_like_a_drive_is_a_name_where_there_are_no_drives(path: str) -> None:
    assert paths.canonical(path) == path
    assert paths.usable(path.rpartition("/")[2])


@given(st.text())
def test_a_canonical_path_is_safe_or_there_is_none(text: str) -> None:
    try:
        found = paths.canonical(text)
    except ToolError:
        return
    assert not found.startswith("/")
    assert "\\" not in found
    assert not {"", ".", ".."} & set(found.split("/")) or found == ""
    assert paths.canonical(found) == found


@given(st.lists(NAMES, min_size=1, max_size=6), st.sampled_from(["/", "\\", "//", "/./", "\\.\\"]))
def test_separators_do_not_matter(names: list[str], separator: str) -> None:
    if separator.join(names)[1:2] == ":":
        return
    assert paths.canonical(separator.join(names)) == "/".join(names)


@given(
    st.lists(NAMES, min_size=1, max_size=4), st.integers(0, 4), st.sampled_from(["..", ".. ", "...", ". ."])
)
def test_a_parent_folder_anywhere_is_refused(names: list[str], where: int, dots: str) -> None:
    names.insert(where, dots)
    with pytest.raises(ToolError):
        paths.canonical("/".join(names))


@pytest.mark.parametrize(
    ("path", "control"),
    [
        (".obsidian/app.json", ".obsidian"),
        (".OBSIDIAN/app.json", ".obsidian"),
        (".Git", ".git"),
        (".trash/a.md", ".trash"),
        (".obsidian./x", ".obsidian"),
        (".git /config", ".git"),
        (".g\u200cit/config", ".git"),
        ("\ufeff.git/config", ".git"),
        (".obſidian/x", ".obsidian"),
        ("sub/.git/config", ".git"),
        ("obsidian/a.md", None),
        ("a.obsidian/b.md", None),
        (".gitignore", None),
    ],
)
def test_control_folders_are_known_in_every_spelling(path: str, control: str | None) -> None:
    assert paths.control_folder(path) == control


@given(st.text(string.ascii_letters + "éÉßſK日", max_size=8))
def test_folding_forgets_case_and_composition(text: str) -> None:
    for form in ("NFC", "NFD"):
        assert paths.folded(unicodedata.normalize(form, text.swapcase())) == paths.folded(text.swapcase())
    assert paths.folded(paths.folded(text)) == paths.folded(text)


@pytest.mark.parametrize(
    ("name", "unfinished"),
    [
        ("a.md", False),
        ("a.sync-conflict-20260101-120000-ABC.md", False),
        ("a (conflicted copy).md", False),
        ("Report.tmp.md", False),
        ("swp.md", False),
        ("a.md.tmp", True),
        ("a.md.tmp.1234.9f8e", True),
        ("a.md~", True),
        ("~$a.docx", True),
        ("~syncthing~a.md.tmp", True),
        ("a.swp", True),
        ("#a.md#", True),
        ("film.mp4.crdownload", True),
        ("film.mp4.part", True),
        ("a.md.icloud", True),
    ],
)
def test_what_another_program_is_working_on_is_known_by_its_name(name: str, unfinished: bool) -> None:
    assert paths.unfinished(name) is unfinished


def test_a_label_goes_before_the_extension() -> None:
    assert paths.labelled("a/b.c.md", "2") == "a/b.c (2).md"
    assert paths.labelled("a/README", "2") == "a/README (2)"
    assert paths.labelled(".env", "2") == ".env (2)"


def test_a_label_makes_no_name_too_long_for_a_filesystem() -> None:
    assert paths.labelled(f"a/{'x' * 252}.md", "12") == f"a/{'x' * 247} (12).md"
    assert paths.labelled(f"{'長' * 84}.md", "1") == f"{'長' * 82} (1).md"
