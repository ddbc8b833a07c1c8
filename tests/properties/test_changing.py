from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_properties import properties

NOTE = """---
# what it is
title:   "Old"   # quoted
zip: 00501
version: 1.10
due: 2026-01-05
when: 2026-01-05T10:00:00
deep:
  inner: {a: 1, b: [x, y]}
text: |
  kept

tags: [one, 'two']
---
body
"""


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(properties, tool, **arguments)
    return error.value


def update(call: Calls, mode: str, **arguments: Any) -> Any:
    return call(properties, "update_frontmatter", path="a.md", mode=mode, **arguments)


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(properties)


def test_all_properties_are_read_as_obsidian_sees_them(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    assert call(properties, "read_frontmatter", path="A") == {
        "path": "a.md",
        "frontmatter": {
            "title": "Old",
            "zip": "00501",
            "version": 1.1,
            "due": "2026-01-05",
            "when": "2026-01-05T10:00:00",
            "deep": {"inner": {"a": 1, "b": ["x", "y"]}},
            "text": "kept\n",
            "tags": ["one", "two"],
        },
        "format": "yaml",
        "content_hash": sha256(NOTE.encode()).hexdigest(),
    }


@pytest.mark.parametrize(
    ("text", "format", "values"),
    [
        ("no block", "missing", {}),
        ("---\n---\n", "yaml", {}),
        ('---\n{"a": 1}\n---\n', "json", {"a": 1}),
        ("text\n---\na: 1\n---\n", "missing", {}),
        ("\ufeff---\r\na: 1\r\n---\r\n", "yaml", {"a": 1}),
    ],
)
def test_the_format_is_told(
    call: Calls, vault: VaultFolder, text: str, format: str, values: dict[str, Any]
) -> None:
    vault["a.md"] = text
    got = call(properties, "read_frontmatter", path="a.md")
    assert (got["format"], got["frontmatter"]) == (format, values)


def test_what_is_wrong_with_the_properties_is_told(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\na: [1\n---\n"
    got = call(properties, "read_frontmatter", path="a.md")
    assert (got["frontmatter"], got["format"]) == ({}, "yaml")
    assert got["problem"]


@pytest.mark.parametrize(
    ("key", "nested", "value", "present"),
    [
        ("title", False, "Old", True),
        ("deep.inner.b.1", True, "y", True),
        ("deep.inner", False, None, False),
        ("deep.inner.c", True, None, False),
        ("nothing", False, None, False),
    ],
)
def test_one_property_is_read(
    call: Calls, vault: VaultFolder, key: str, nested: bool, value: Any, present: bool
) -> None:
    vault["a.md"] = NOTE
    got = call(properties, "read_property", path="a.md", key=key, nested=nested)
    assert got == {"path": "a.md", "key": key, "value": value, "present": present}


def test_a_property_of_null_is_present(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\na:\n---\n"
    got = call(properties, "read_property", path="a.md", key="a")
    assert (got["value"], got["present"]) == (None, True)


def test_a_note_that_is_not_there_has_suggestions(call: Calls, vault: VaultFolder) -> None:
    vault["alpha.md"] = ""
    for tool, more in (
        ("read_frontmatter", {}),
        ("read_property", {"key": "k"}),
        ("update_frontmatter", {"mode": "remove", "key": "k"}),
    ):
        error = failure(call, tool, path="alpah.md", **more)
        assert (error.code, error.details["suggestions"]) == ("note_not_found", ["alpha.md"])


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [
        ({"key": "title", "value": "New"}, '"Old"', '"New"'),
        ({"key": "zip", "value": 7}, "00501", "7"),
        ({"key": "due", "value": None}, "due: 2026-01-05\n", "due:\n"),
        ({"key": "deep.inner.a", "value": 2, "nested": True}, "a: 1", "a: 2"),
        ({"key": "tags", "value": ["one", "three"]}, "[one, 'two']", "[one, three]"),
        ({"key": "new key", "value": True}, "'two']\n", "'two']\nnew key: true\n"),
    ],
)
def test_setting_a_property_keeps_every_other_byte(
    call: Calls, vault: VaultFolder, arguments: dict[str, Any], old: str, new: str
) -> None:
    assert NOTE.count(old) == 1
    for shape in (NOTE, "\ufeff" + NOTE.replace("\n", "\r\n"), NOTE.removesuffix("\n")):
        vault["a.md"] = shape
        eol = "\r\n" if "\r" in shape else "\n"
        got = update(call, "set", **arguments)
        changed = shape.replace(old.replace("\n", eol), new.replace("\n", eol))
        assert vault.bytes("a.md") == changed.encode()
        assert got["mode_used"] == "set"
        assert got["content_hash"] == sha256(changed.encode()).hexdigest()


def test_the_value_before_is_told(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    assert update(call, "set", key="title", value="New")["prev_value"] == "Old"
    assert "prev_value" not in update(call, "set", key="fresh", value=1)
    gone = update(call, "remove", key="deep.inner.a", nested=True)
    assert (gone["prev_value"], gone["removed"]) == (1, True)
    assert update(call, "remove", key="nothing")["removed"] is False


def test_setting_in_a_note_without_properties_adds_a_block(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "\ufeffbody\r\n"
    update(call, "set", key="a.b", value=[1, "2"], nested=True)
    assert (
        vault.bytes("a.md").decode() == '\ufeff---\r\na:\r\n  b:\r\n    - 1\r\n    - "2"\r\n---\r\nbody\r\n'
    )


def test_removing_the_last_property_removes_the_block(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\na: 1\n---\nbody"
    update(call, "remove", key="a")
    assert vault["a.md"] == "body"


def test_merging_sets_what_the_patch_names(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    patch = {"title": "New", "deep": {"inner": {"a": 9}}, "gone": None}
    got = update(call, "merge", patch=patch, nested=True)
    assert got["applied"] == ["deep", "gone", "title"]
    expected = NOTE.replace('"Old"', '"New"').replace("a: 1", "a: 9")
    assert vault["a.md"] == expected.replace("'two']\n", "'two']\ngone:\n")


def test_replacing_all_properties_asks_a_person(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    new = {"zip": "00501", "only": "this"}
    error = failure(call, "update_frontmatter", path="a.md", mode="replace", frontmatter=new)
    assert error.code == "elicit_required"
    assert error.details["change"]["replaces"] == [
        *("deep", "due", "tags", "text", "title", "version", "when", "zip")
    ]
    assert vault["a.md"] == NOTE
    got = call.confirmed(properties, "update_frontmatter", path="a.md", mode="replace", frontmatter=new)
    assert got["prev_frontmatter"]["title"] == "Old"
    assert vault["a.md"] == "---\n# what it is\nzip: 00501\n\nonly: this\n---\nbody\n"


def test_a_change_is_bound_to_what_was_read(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    stale = sha256(b"stale").hexdigest()
    error = failure(call, "update_frontmatter", path="a.md", mode="set", key="a", value=1, prev_hash=stale)
    assert error.code == "concurrent_modification"
    assert error.details["actual"] == sha256(NOTE.encode()).hexdigest()
    assert vault["a.md"] == NOTE


def test_the_same_key_is_applied_once(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    first = update(call, "set", key="n", value=1, idempotency_key="k")
    vault["a.md"] = NOTE
    assert update(call, "set", key="n", value=1, idempotency_key="k") == first
    assert vault["a.md"] == NOTE


@pytest.mark.parametrize(
    ("mode", "arguments", "message"),
    [
        ("set", {"key": "a"}, "mode=set needs key and value"),
        ("set", {"value": 1}, "mode=set needs key and value"),
        ("remove", {}, "mode=remove needs key"),
        ("merge", {"key": "a", "value": 1}, "mode=merge needs patch"),
        ("replace", {"patch": {"a": 1}}, "mode=replace needs frontmatter"),
    ],
)
def test_a_mode_needs_its_arguments(
    call: Calls, vault: VaultFolder, mode: str, arguments: dict[str, Any], message: str
) -> None:
    vault["a.md"] = NOTE
    error = failure(call, "update_frontmatter", path="a.md", mode=mode, **arguments)
    assert (error.code, error.message) == ("invalid_input", message)
    assert vault["a.md"] == NOTE


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("---\na: [1\n---\n", {"key": "b", "value": 1}),
        ("---\n- a\n---\n", {"key": "b", "value": 1}),
        ("---\na: text\n---\n", {"key": "a.b", "value": 1, "nested": True}),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(
    call: Calls, vault: VaultFolder, text: str, arguments: dict[str, Any]
) -> None:
    vault["a.md"] = text
    error = failure(call, "update_frontmatter", path="a.md", mode="set", **arguments)
    assert error.code == "invalid_input"
    assert vault["a.md"] == text


def test_properties_are_written_to_notes_only(call: Calls, vault: VaultFolder) -> None:
    vault["a.canvas"] = "{}"
    error = failure(call, "update_frontmatter", path="a.canvas", mode="set", key="a", value=1)
    assert error.code == "invalid_input"
    assert vault["a.canvas"] == "{}"


def test_the_folder_rules_hold(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["In/**"], "write_paths": []}}
    vault["Out/a.md"] = NOTE
    vault["In/a.md"] = NOTE
    assert failure(call, "read_property", path="Out/a.md", key="title").code == "acl_denied"
    error = failure(call, "update_frontmatter", path="In/a.md", mode="remove", key="zip")
    assert error.code == "acl_denied"
