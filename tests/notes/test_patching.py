from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_notes import notes

NOTE = """---
status: draft  # mine
---
# Plan

Intro. ^intro

## Tasks

- one
- two

## Notes

Old text.

# Archive

## Tasks

- done
"""


def patch(call: Calls, **arguments: Any) -> Any:
    return call(notes, "patch_note", path="a.md", **arguments)


def failure(call: Calls, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        patch(call, **arguments)
    return error.value


def heading(name: str) -> dict[str, str]:
    return {"type": "heading", "heading": name}


def test_an_exact_string_is_replaced(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    got = patch(call, old_string="Old text.", new_string="New text.")
    assert vault["a.md"] == NOTE.replace("Old text.", "New text.")
    assert got.pop("updated_at").endswith("Z")
    assert got == {
        "path": "a.md",
        "occurrences_replaced": 1,
        "content_hash": sha256(vault.bytes("a.md")).hexdigest(),
    }


def test_a_string_is_replaced_as_often_as_expected_or_not_at_all(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    error = failure(call, old_string="## Tasks", new_string="x")
    assert (error.code, error.message) == ("invalid_input", "old_string was found 2 times, expected 1")
    assert error.details == {"path": "a.md", "found": 2}
    error = failure(call, old_string="Old  text.", new_string="x")
    assert (error.message, error.details["found"]) == ("old_string was not found", 0)
    assert vault["a.md"] == NOTE
    got = patch(call, old_string="## Tasks", new_string="## Todo", expected_occurrences=2)
    assert got["occurrences_replaced"] == 2
    assert vault["a.md"] == NOTE.replace("## Tasks", "## Todo")


@pytest.mark.parametrize("old", ["b\nc", "b\r\nc"])
def test_line_breaks_are_those_of_the_file(call: Calls, vault: VaultFolder, old: str) -> None:
    vault["a.md"] = "\ufeffa\r\nb\r\nc"
    patch(call, old_string=old, new_string="x\ny\nz")
    assert vault.bytes("a.md") == b"\xef\xbb\xbfa\r\nx\r\ny\r\nz"
    vault["a.md"] = "a\nb\nc\n"
    patch(call, old_string=old, new_string="x\r\ny")
    assert vault.bytes("a.md") == b"a\nx\ny\n"


def test_mixed_line_breaks_stay_mixed(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "a\r\nb\nc\r\n"
    patch(call, old_string="b", new_string="B")
    assert vault.bytes("a.md") == b"a\r\nB\nc\r\n"


@pytest.mark.parametrize(
    "arguments",
    [
        {"old_string": "- two", "new_string": "- two"},
        {"anchor": heading("Notes"), "operation": "replace", "content": "Old text.\n"},
        {"anchor": heading("Notes"), "operation": "append", "content": ""},
        {"anchor": {"type": "line", "line": 6}, "operation": "replace", "content": "Intro. ^intro"},
    ],
)
def test_a_patch_that_changes_nothing_is_an_error(
    call: Calls, vault: VaultFolder, arguments: dict[str, Any]
) -> None:
    vault["a.md"] = NOTE
    error = failure(call, **arguments)
    assert error.code == "invalid_input"
    assert error.message == "the note already has this text there: nothing was changed"


@pytest.mark.parametrize(
    ("anchor", "operation", "content", "old", "new", "used"),
    [
        (heading("Notes"), "replace", "New.", "Old text.", "New.", "Plan::Notes"),
        (heading("Notes"), "append", "More.", "Old text.", "Old text.\nMore.", "Plan::Notes"),
        (heading("Plan::Tasks"), "append", "- three", "- two\n", "- two\n- three\n", "Plan::Tasks"),
        (heading("## Notes"), "prepend", "- x", "Old text.", "- x\n\nOld text.", "Plan::Notes"),
        ({"type": "block", "block_id": "^intro"}, "replace", "Hi.", "Intro.", "Hi.", "^intro"),
        (
            {"type": "frontmatter"},
            "append",
            "due: 2026-01-01",
            "# mine\n",
            "# mine\ndue: 2026-01-01\n",
            "frontmatter",
        ),
        ({"type": "line", "line": 10}, "replace", "- ONE", "- one", "- ONE", "line 10"),
    ],
)
def test_only_what_is_at_the_anchor_changes(
    call: Calls,
    vault: VaultFolder,
    anchor: dict[str, Any],
    operation: str,
    content: str,
    old: str,
    new: str,
    used: str,
) -> None:
    vault["a.md"] = "\ufeff" + NOTE.replace("\n", "\r\n")
    got = patch(call, anchor=anchor, operation=operation, content=content)
    expected = "\ufeff" + NOTE.replace(old, new).replace("\n", "\r\n")
    assert vault.bytes("a.md") == expected.encode()
    assert got["anchor_used"] == used
    assert "occurrences_replaced" not in got


def test_an_ambiguous_heading_names_its_candidates(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    error = failure(call, anchor=heading("Tasks"), operation="append", content="x")
    assert error.code == "invalid_input"
    assert error.message == "2 headings have this name (lines 8, 19): use the full path, or a line"
    assert error.details == {"path": "a.md", "candidates": ["Plan::Tasks", "Archive::Tasks"]}
    assert vault["a.md"] == NOTE


@pytest.mark.parametrize(
    ("anchor", "candidates"),
    [
        (heading("Tusks"), ["Plan::Tasks", "Archive::Tasks"]),
        ({"type": "block", "block_id": "intrp"}, ["^intro"]),
        ({"type": "line", "line": 99}, None),
    ],
)
def test_a_missing_anchor_names_the_nearest(
    call: Calls, vault: VaultFolder, anchor: dict[str, Any], candidates: list[str] | None
) -> None:
    vault["a.md"] = NOTE
    error = failure(call, anchor=anchor, operation="append", content="x")
    assert error.code == "invalid_input"
    assert error.details.get("candidates") == candidates
    assert vault["a.md"] == NOTE


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"old_string": "a"},
        {"old_string": "", "new_string": "x"},
        {"old_string": "a", "new_string": "b", "anchor": heading("Plan")},
        {"anchor": heading("Plan"), "content": "x"},
        {"anchor": heading("Plan"), "operation": "append"},
        {"anchor": heading("Plan"), "operation": "append", "content": "```\nopen"},
        {"anchor": {"type": "frontmatter"}, "operation": "append", "content": "a: [1"},
        {"anchor": {"type": "frontmatter"}, "operation": "append", "content": "status: twice"},
    ],
)
def test_half_a_patch_or_a_harmful_one_is_refused(
    call: Calls, vault: VaultFolder, arguments: dict[str, Any]
) -> None:
    vault["a.md"] = NOTE
    assert failure(call, **arguments).code == "invalid_input"
    assert vault["a.md"] == NOTE


def test_a_patch_is_bound_to_what_was_read(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    stale = sha256(b"stale").hexdigest()
    for change in (
        {"old_string": "two", "new_string": "2"},
        {"anchor": heading("Notes"), "operation": "replace", "content": "x"},
    ):
        error = failure(call, prev_hash=stale, **change)
        assert error.code == "concurrent_modification"
        assert error.details["actual"] == sha256(NOTE.encode()).hexdigest()
    patch(call, old_string="two", new_string="2", prev_hash=sha256(NOTE.encode()).hexdigest())
    assert vault["a.md"] == NOTE.replace("two", "2")


def test_replacing_most_of_a_note_asks_a_person(call: Calls, vault: VaultFolder) -> None:
    long = "# Only\n\n" + "".join(f"line {n}\n\n" for n in range(21))
    vault["a.md"] = "---\nk: 1\n---\n" + long
    change = {"anchor": heading("Only"), "operation": "replace", "content": "short"}
    error = failure(call, **change)
    assert error.code == "elicit_required"
    assert error.details["change"] == {"path": "a.md", "lines_dropped": 21}
    assert vault["a.md"].count("line") == 21
    call.confirmed(notes, "patch_note", path="a.md", **change)
    assert vault["a.md"] == "---\nk: 1\n---\n# Only\n\nshort\n\n"


@pytest.mark.parametrize(("inside", "outside"), [(20, 0), (21, 22)])
def test_replacing_little_or_less_than_half_asks_nobody(
    call: Calls, vault: VaultFolder, inside: int, outside: int
) -> None:
    rest = "".join(f"other {n}\n" for n in range(outside))
    vault["a.md"] = "# Part\n" + "".join(f"line {n}\n" for n in range(inside)) + "# Rest\n" + rest
    patch(call, anchor=heading("Part"), operation="replace", content="short")
    assert vault["a.md"] == "# Part\nshort\n# Rest\n" + rest


def test_a_patch_of_no_note_suggests_the_nearest(call: Calls, vault: VaultFolder) -> None:
    vault["ab.md"] = ""
    error = failure(call, old_string="a", new_string="b")
    assert (error.code, error.details["suggestions"]) == ("note_not_found", ["ab.md"])
