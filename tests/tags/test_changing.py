from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_tags import tags
from tests.known_vaults import notes_of


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(tags, tool, path="a.md", **arguments)
    return error.value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("body", "---\ntags:\n  - neu\n---\nbody"),
        ("---\nk: 1 # c\n---\nbody\n", "---\nk: 1 # c\ntags:\n  - neu\n---\nbody\n"),
        ("---\ntags: [a, 'b']  # c\n---\n", "---\ntags: [a, 'b', neu]  # c\n---\n"),
        ("---\ntags:\n- a\n- b # c\nz: 007\n---\n", "---\ntags:\n- a\n- b # c\n- neu\nz: 007\n---\n"),
        ("---\nTags: a\n---\n", "---\nTags:\n  - a\n  - neu\n---\n"),
        ("---\ntags:\n---\n", "---\ntags:\n  - neu\n---\n"),
        ("\ufeff---\r\ntags: [a]\r\n---\r\nx", "\ufeff---\r\ntags: [a, neu]\r\n---\r\nx"),
    ],
)
def test_a_tag_is_added_to_the_properties(call: Calls, vault: VaultFolder, old: str, new: str) -> None:
    vault["a.md"] = old
    got = call(tags, "add_tag", path="a.md", tag="#neu")
    assert vault.bytes("a.md") == new.encode()
    assert got.pop("updated_at").endswith("Z")
    assert got == {"path": "a.md", "added": True, "content_hash": sha256(new.encode()).hexdigest()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("text\n", "text\n#日本\n"),
        ("text", "text\n#日本"),
        ("", "#日本\n"),
        ("text\r\nmore\r\n", "text\r\nmore\r\n#日本\r\n"),
    ],
)
def test_a_tag_is_added_as_a_last_line(call: Calls, vault: VaultFolder, old: str, new: str) -> None:
    vault["a.md"] = old
    assert call(tags, "add_tag", path="a.md", tag="日本", location="inline-end")["added"] is True
    assert vault.bytes("a.md") == new.encode()


@pytest.mark.parametrize("location", ["frontmatter", "inline-end"])
@pytest.mark.parametrize("text", ["#Neu", "---\ntags: neu\n---\n", "---\ntags: ['#NEU']\n---\n"])
def test_a_tag_that_is_there_is_not_added_again(
    call: Calls, vault: VaultFolder, location: str, text: str
) -> None:
    vault["a.md"] = text
    assert call(tags, "add_tag", path="a.md", tag="neu", location=location)["added"] is False
    assert vault["a.md"] == text


def test_a_child_tag_does_not_stand_for_its_parent(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "#neu/kind"
    assert call(tags, "add_tag", path="a.md", tag="neu")["added"] is True


@pytest.mark.parametrize("tag", ["", "#", "two words", "123", "a,b", "a.b", "##a", "a#b"])
def test_what_is_no_tag_is_refused(call: Calls, vault: VaultFolder, tag: str) -> None:
    vault["a.md"] = "text"
    for tool in ("add_tag", "remove_tag"):
        assert failure(call, tool, tag=tag).code == "invalid_input"
    assert vault["a.md"] == "text"


@pytest.mark.parametrize("text", ["```\nopen", "<!--\nopen"])
def test_a_tag_is_not_put_where_it_would_be_none(call: Calls, vault: VaultFolder, text: str) -> None:
    vault["a.md"] = text
    assert failure(call, "add_tag", tag="neu", location="inline-end").code == "invalid_input"
    assert vault["a.md"] == text


def test_broken_properties_are_left_alone(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\ntags: [a\n---\n#b"
    for tool, tag in (("add_tag", "c"), ("remove_tag", "b")):
        error = failure(call, tool, tag=tag)
        assert error.code == "invalid_input"
        assert "cannot be changed" in error.message
    assert vault["a.md"] == "---\ntags: [a\n---\n#b"


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ("---\ntags: [a, x, 'b']  # c\n---\n", "---\ntags: [a, 'b']  # c\n---\n", ["frontmatter"]),
        ("---\ntags:\n- '#X' # c\n- a\n---\n", "---\ntags:\n- a\n---\n", ["frontmatter"]),
        ("---\nTAGS: [x, x/y]\n---\n", "---\nTAGS: [x/y]\n---\n", ["frontmatter"]),
        ("---\ntags: x\nk: 1\n---\n", "---\ntags:\nk: 1\n---\n", ["frontmatter"]),
        ("a #x b\n", "a b\n", ["inline"]),
        ("#x b\n", "b\n", ["inline"]),
        ("a #x\n", "a\n", ["inline"]),
        ("a\n#x\nb\n", "a\nb\n", ["inline"]),
        ("a\n#x", "a", ["inline"]),
        ("a\r\n#x\r\nb\r\n", "a\r\nb\r\n", ["inline"]),
        ("#x, #x/y #xy (#x) `#x`\n", ", #x/y #xy (#x) `#x`\n", ["inline"]),
        ("#x #X\na\n", "a\n", ["inline"]),
        (
            "\ufeff---\ntags: [x, a]\n---\nt #x",
            "\ufeff---\ntags: [a]\n---\nt",
            ["frontmatter", "inline"],
        ),
        ("nothing\n", "nothing\n", []),
    ],
)
def test_exactly_this_tag_is_removed(
    call: Calls, vault: VaultFolder, old: str, new: str, places: list[str]
) -> None:
    vault["a.md"] = old
    got = call(tags, "remove_tag", path="a.md", tag="x")
    assert vault.bytes("a.md") == new.encode()
    assert got["removed_from"] == places
    assert got["content_hash"] == sha256(new.encode()).hexdigest()


@pytest.mark.parametrize(
    ("place", "new"),
    [
        ("frontmatter", "---\ntags: [a]\n---\nt #x"),
        ("inline", "---\ntags: [x, a]\n---\nt"),
    ],
)
def test_a_tag_is_removed_only_where_asked(call: Calls, vault: VaultFolder, place: str, new: str) -> None:
    vault["a.md"] = "---\ntags: [x, a]\n---\nt #x"
    assert call(tags, "remove_tag", path="a.md", tag="#x", from_=place)["removed_from"] == [place]
    assert vault["a.md"] == new


def test_a_change_is_bound_to_what_was_read(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "#x"
    stale = sha256(b"stale").hexdigest()
    for tool in ("add_tag", "remove_tag"):
        error = failure(call, tool, tag="x", prev_hash=stale)
        assert error.code == "concurrent_modification"
        assert error.details["actual"] == sha256(b"#x").hexdigest()
    call(tags, "remove_tag", path="a.md", tag="x", prev_hash=sha256(b"#x").hexdigest())
    assert vault["a.md"] == ""


def test_tags_keep_to_notes_and_folder_rules(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"write_paths": ["In/**"]}}
    vault["a.md"] = ""
    vault["In/b.canvas"] = "{}"
    assert failure(call, "add_tag", tag="x").code == "acl_denied"
    assert failure(call, "remove_tag", tag="x").code == "acl_denied"
    with pytest.raises(ToolError) as error:
        call(tags, "add_tag", path="In/b.canvas", tag="x")
    assert error.value.code == "invalid_input"
    with pytest.raises(ToolError) as error:
        call(tags, "add_tag", path="In/nil.md", tag="x")
    assert error.value.code == "note_not_found"


def test_a_tag_added_to_real_notes_and_removed_again_leaves_every_other_line(
    call: Calls, real_vault: VaultFolder
) -> None:
    for path in notes_of(real_vault.path)[::5]:
        before = real_vault.bytes(path).decode()
        outcome = call.outcome(tags, "add_tag", path=path, tag="added/here")
        if outcome.error is not None:
            assert (outcome.error["code"], real_vault[path]) == ("invalid_input", before)
            continue
        with_tag = real_vault.bytes(path).decode()
        body = before.split("---\n", 2)[-1] if before.startswith("---\n") else before
        assert with_tag.endswith(body)
        call(tags, "remove_tag", path=path, tag="added/here")
        after = real_vault.bytes(path).decode()
        assert after.endswith(body)
        lost = [line for line in before.splitlines() if line not in after.splitlines()]
        assert all(re.match(r"tags:", line, re.IGNORECASE) for line in lost)
