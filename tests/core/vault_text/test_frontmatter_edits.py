from collections.abc import Callable
from typing import Any

import pytest

from knapper.vault import frontmatter
from knapper.vault.frontmatter import FrontmatterError, set_key


def note(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "Body", ""])


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        (["a: 1 # why"], 2, ["a: 2 # why"]),
        (["a: 1 # why"], [1, 2], ["a: # why", "  - 1", "  - 2"]),
        (["a: 1 # why"], None, ["a: # why"]),
        (["a: 1"], None, ["a:"]),
        (["a: x  "], "y", ["a: y"]),
        (["a: 1"], "two\nlines", ["a: |-", "  two", "  lines"]),
        (["a: 'x'"], "it's", ["a: 'it''s'"]),
        (["a: 'x'"], "two\nlines", ['a: "two\\nlines"']),
        (['a: "x"'], "y", ['a: "y"']),
        (["a: x"], "[[y]]", ['a: "[[y]]"']),
        (["a: x"], "2024-01-01", ["a: 2024-01-01"]),
        (["a: x"], "5", ['a: "5"']),
        (["a: 00501"], "00502", ["a: 00502"]),
        (["a:"], "00502", ['a: "00502"']),
        (["a:"], "v", ["a: v"]),
        (["a:   "], "v", ["a: v"]),
        (["a:  # why"], "v", ["a: v  # why"]),
        (["a: # why", "  below"], "v", ["a: # why", "  v"]),
        (["a: [x, 'y']"], ["x", "z"], ["a: [x, z]"]),
        (["a: [x, y, z]"], ["x", "z"], ["a: [x, z]"]),
        (["a: [", "  x, # one", "  y", "]"], ["x", "y", "z"], ["a: [", "  x, # one", "  y, z", "]"]),
        (["a: ['x', 'y']"], ["x", "y", "z"], ["a: ['x', 'y', 'z']"]),
        (["a: []"], ["x"], ["a: [x]"]),
        (["a:", "- x", "- y # why"], ["y", "z"], ["a:", "- y # why", "- z"]),
        (["a:", "    - x"], ["x", "y"], ["a:", "    - x", "    - y"]),
        (["a:", '  - "x"'], ["x", "y"], ["a:", '  - "x"', '  - "y"']),
        (["a:", "  - x"], [], ["a: []"]),
        (["a:", "  - x"], "x", ["a: x"]),
        (["a: |", "  x", "", "# next"], "y", ["a: y", "", "# next"]),
        (["a: {x: 1, y: 2}"], {"x": 1, "y": 3}, ["a: {x: 1, y: 3}"]),
        (["a:", "  x: 1", "  # why", "  y: 2"], {"y": 2, "z": 3}, ["a:", "  # why", "  y: 2", "  z: 3"]),
        (["'a' : x"], "y", ["'a' : y"]),
        (["a:\tx"], "y", ["a:\ty"]),
    ],
)
def test_a_new_value_keeps_the_manner_of_the_old(old: list[str], new: Any, written: list[str]) -> None:
    text = note("# top", "before: 'x'", *old, "after:   y  ")
    assert set_key(text, "a", new) == note("# top", "before: 'x'", *written, "after:   y  ")


def test_a_value_set_to_what_it_is_changes_no_byte() -> None:
    text = note("a:   'x'  # why", "b: [ 1,2 ]")
    assert set_key(set_key(text, "a", "x"), "b", [1, 2]) == text


def test_a_new_key_goes_to_the_end_in_the_manner_of_the_note() -> None:
    assert set_key(note("a: 1", "# end"), "b", "x") == note("a: 1", "# end", "b: x")
    assert set_key(note("a:", "- 1"), "b", ["x"]) == note("a:", "- 1", "b:", "- x")
    assert set_key(note("  a: 1"), "b", {"c": {"d": [1]}}) == note(
        "  a: 1", "  b:", "    c:", "      d:", "        - 1"
    )


def test_a_note_without_frontmatter_gets_a_block_at_the_top() -> None:
    assert set_key("Body", "a", "x") == "---\na: x\n---\nBody"
    assert set_key("", "a", "x") == "---\na: x\n---\n"
    assert set_key("\ufeffBody\r\n", "a", "x") == "\ufeff---\r\na: x\r\n---\r\nBody\r\n"
    assert set_key("---\n---\nBody", "a", "x") == "---\na: x\n---\nBody"
    assert set_key("---\n# why\n---\n", "a", "x") == "---\n# why\na: x\n---\n"


def test_blanks_after_a_fence_do_not_lead_to_a_second_block() -> None:
    assert set_key("--- \na: 1\n---\t\nBody", "b", 2) == "--- \na: 1\nb: 2\n---\t\nBody"


def test_the_last_of_two_equal_keys_is_the_one_that_is_set() -> None:
    assert set_key(note("a: 1", "a: 2"), "a", 3) == note("a: 1", "a: 3")
    assert frontmatter.remove_key(note("a: 1", "b: 0", "a: 2"), "a") == note("b: 0")


def test_removing_a_key_leaves_the_remarks_around_it() -> None:
    text = note("# one", "a: |", "  x", "", "# two", "b: 2 # gone", "# three")
    assert frontmatter.remove_key(text, "a") == note("# one", "", "# two", "b: 2 # gone", "# three")
    assert frontmatter.remove_key(text, "b") == note("# one", "a: |", "  x", "", "# two", "# three")
    assert frontmatter.remove_key(text, "c") == text


def test_the_block_goes_with_its_last_key() -> None:
    assert frontmatter.remove_key("---\na: 1\n---\n\nBody", "a") == "\nBody"
    assert frontmatter.remove_key("---\na: 1\n# why\n---\nBody", "a") == "---\n# why\n---\nBody"


def test_an_empty_block_stays_where_the_body_would_become_one() -> None:
    assert frontmatter.remove_key("---\na: 1\n---\n---\nb: 2\n---\n", "a") == "---\n---\n---\nb: 2\n---\n"


def test_a_nested_key_is_reached_with_dots() -> None:
    text = note("a:", "  b: {c: 1, d: 2} # why", "  l:", "    - x", "    - y")
    assert set_key(text, "a.b.c", 5, nested=True) == text.replace("c: 1", "c: 5")
    assert set_key(text, "a.l.1", "z", nested=True) == text.replace("- y", "- z")
    assert set_key(text, "a.e.f", 1, nested=True) == text.replace("    - y\n", "    - y\n  e:\n    f: 1\n")
    assert frontmatter.remove_key(text, "a.b.d", nested=True) == text.replace(", d: 2", "")
    assert set_key(note("a.b: 1"), "a.b", 2) == note("a.b: 2")
    assert frontmatter.remove_key(note("a:", "  b: 1", "c: 2"), "a.b", nested=True) == note("a: {}", "c: 2")


def test_a_path_through_a_plain_value_is_refused() -> None:
    with pytest.raises(FrontmatterError, match="leads through a value that is no mapping"):
        set_key(note("a: 1"), "a.b", 2, nested=True)


def test_merging_sets_only_what_the_patch_names() -> None:
    text = note("a: 'x'", "m:", "  x: 1", "  y: 2", "z: 0")
    assert frontmatter.merge(text, {"a": "y", "n": None}) == note(
        "a: 'y'", "m:", "  x: 1", "  y: 2", "z: 0", "n:"
    )
    assert frontmatter.merge(text, {"m": {"x": 5}}, nested=True) == text.replace("x: 1", "x: 5")
    assert frontmatter.merge(text, {"m": {"x": 5}}) == note("a: 'x'", "m:", "  x: 5", "z: 0")


def test_replacing_all_keeps_the_bytes_of_what_stays() -> None:
    text = note("a:   'x' # why", "b: 2", "c: [ 1 ]")
    assert frontmatter.replace_all(text, {"c": [1], "a": "x", "d": 4}) == note(
        "a:   'x' # why", "c: [ 1 ]", "d: 4"
    )
    assert frontmatter.replace_all(text, {}) == "Body\n"


def test_json_frontmatter_stays_json() -> None:
    text = '---\n{\n  "tags": "journal",\n  "publish": false\n}\n---\n'
    assert set_key(text, "publish", None) == text.replace("false", "null")
    assert set_key(text, "x", ["a", {"b": 1.5}]) == text.replace("false", 'false,\n  "x": ["a", {"b": 1.5}]')
    assert frontmatter.remove_key(text, "tags") == '---\n{\n  "publish": false\n}\n---\n'
    assert set_key('---\n{"a": 1}\n---\n', "b", "x") == '---\n{"a": 1, "b": "x"}\n---\n'


def test_a_value_that_others_refer_to_is_not_edited() -> None:
    text = note("a: &x 1", "b: *x")
    with pytest.raises(FrontmatterError, match="cannot edit safely"):
        set_key(text, "a", 2)
    assert set_key(text, "b", 2) == note("a: &x 1", "b: 2")
    assert set_key(text, "c", 3) == note("a: &x 1", "b: *x", "c: 3")


def test_malformed_frontmatter_is_not_edited_and_the_line_is_the_notes() -> None:
    with pytest.raises(FrontmatterError) as caught:
        set_key(note("ok: 1", "bad: a: b"), "a", 2)
    assert caught.value.line == 3


@pytest.mark.parametrize("value", [object(), {1: 2}, 2**70, b"x", [{"a": object()}]])
def test_a_value_that_yaml_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(FrontmatterError):
        set_key(note("a: 1"), "a", value)


@pytest.mark.parametrize(
    ("edit", "old", "written"),
    [
        (frontmatter.add_to_list, ["tags:", "  - a # x"], ["tags:", "  - a # x", "  - new"]),
        (frontmatter.add_to_list, ["tags: [a]"], ["tags: [a, new]"]),
        (frontmatter.add_to_list, ["tags: a"], ["tags:", "  - a", "  - new"]),
        (frontmatter.add_to_list, ["tags:"], ["tags:", "  - new"]),
        (frontmatter.add_to_list, ["x: 1"], ["x: 1", "tags:", "  - new"]),
        (frontmatter.add_to_list, ["tags: [ new ]"], ["tags: [ new ]"]),
        (
            frontmatter.remove_from_list,
            ["tags:", "  - a # x", "  - new", "  - c"],
            ["tags:", "  - a # x", "  - c"],
        ),
        (frontmatter.remove_from_list, ["tags: [new, b, new]"], ["tags: [b]"]),
        (frontmatter.remove_from_list, ["tags: [new]"], ["tags: []"]),
        (frontmatter.remove_from_list, ["tags: new"], ["tags:"]),
        (frontmatter.remove_from_list, ["tags: newer"], ["tags: newer"]),
        (frontmatter.remove_from_list, ["x: 1"], ["x: 1"]),
    ],
)
def test_a_list_gains_and_loses_items_where_they_stand(
    edit: Callable[[str, str, str], str], old: list[str], written: list[str]
) -> None:
    assert edit(note(*old), "tags", "new") == note(*written)


def test_windows_line_endings_are_kept() -> None:
    text = "---\r\na: 1\r\nl:\r\n  - x\r\n---\r\nBody\r\n"
    assert frontmatter.add_to_list(text, "l", "y") == "---\r\na: 1\r\nl:\r\n  - x\r\n  - y\r\n---\r\nBody\r\n"
    assert set_key(text, "a", "x\ny") == "---\r\na: |-\r\n  x\r\n  y\r\nl:\r\n  - x\r\n---\r\nBody\r\n"
