import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from knapper.vault import frontmatter
from knapper.vault.frontmatter import FrontmatterError


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2024-07-21", "2024-07-21"),
        ("2024-07-21T12:37:00", "2024-07-21T12:37:00"),
        ("12:30", "12:30"),
        ("yes", "yes"),
        ("Off", "Off"),
        ("true", True),
        ("False", False),
        ("07", "07"),
        ("-07", "-07"),
        ("0123.5", "0123.5"),
        ("'5'", "5"),
        ("42", 42),
        ("-1.5", -1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("0x1F", 31),
        ("0o17", 15),
        ("1_000", "1_000"),
        ("1.2.3", "1.2.3"),
        ("18446744073709551615", 18446744073709551615),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        (".inf", float("inf")),
        ("", None),
        ("~", None),
        ("null", None),
        ('"[[Note]]"', "[[Note]]"),
        ("[[Note]]", [["Note"]]),
        ("[a, 1, 2024-01-01]", ["a", 1, "2024-01-01"]),
        ("{{title}}", {"{ title }": None}),
        ("x # remark", "x"),
        ("x#y", "x#y"),
        ("!!str 5", "5"),
        ("!unknown 5", "5"),
        ("!!python/object/apply:os.system [ls]", ["ls"]),
        ("a\u2028b", "a\u2028b"),
        ('"\\u00e9\\n"', "é\n"),
        ("|-\n  one\n  two", "one\ntwo"),
    ],
)
def test_a_value_is_read_as_the_app_reads_it(written: str, read: Any) -> None:
    loaded = frontmatter.load(f"key: {written}\n")
    assert loaded == {"key": read}
    assert type(loaded["key"]) is type(read)


@pytest.mark.parametrize("block", ["", "\n", "# only a remark\n", "~\n", "{}\n"])
def test_a_block_without_properties_is_none(block: str) -> None:
    assert frontmatter.load(block) is None


def test_names_keep_case_and_spaces_and_are_always_text() -> None:
    block = 'Creation Date: 1\nCAPITAL: 2\n2024: 3\ntrue: 4\n"quoted: key": 5\n1.0: 6\n[a, b]: 7\n'
    assert frontmatter.load(block) == {
        "Creation Date": 1,
        "CAPITAL": 2,
        "2024": 3,
        "true": 4,
        "quoted: key": 5,
        "1": 6,
        "[ a, b ]": 7,
    }


def test_the_last_of_two_equal_keys_counts() -> None:
    assert frontmatter.load("a: 1\nb: 2\na: 3\n") == {"a": 3, "b": 2}
    assert frontmatter.load("a: {x: 1}\nb: 2\na: [3]\n") == {"a": [3], "b": 2}


def test_a_json_object_is_accepted() -> None:
    assert frontmatter.load('{\n\t"a": [1, null],\n\t"b": {"c": true}\n}\n') == {
        "a": [1, None],
        "b": {"c": True},
    }
    assert frontmatter.load('{"smile": "\\ud83d\\ude00", "url": "http:\\/\\/x"}') == {
        "smile": "😀",
        "url": "http://x",
    }


def test_anchors_and_aliases_are_followed_and_merge_keys_are_not() -> None:
    assert frontmatter.load("a: &x {c: 1}\nb: *x\nd:\n  <<: *x\n") == {
        "a": {"c": 1},
        "b": {"c": 1},
        "d": {"<<": {"c": 1}},
    }


@pytest.mark.parametrize("blank", ["\t", "\t\t# a remark", "  \t", " \t # a remark", "\t\r"])
def test_a_tab_in_a_line_without_a_value_breaks_nothing(blank: str) -> None:
    block = f"{blank}\na: 1\n{blank}\nb:\n  - x\n{blank}\n  - y\n{blank}\n"
    assert frontmatter.load(block) == {"a": 1, "b": ["x", "y"]}
    changed = frontmatter.set_key(f"---\n{block}---\n", "a", 2)
    assert changed == f"---\n{block}---\n".replace("a: 1", "a: 2")
    with pytest.raises(FrontmatterError, match=r"tab|token"):
        frontmatter.load("a:\n\t- x\n")


@pytest.mark.parametrize(
    ("block", "reason", "line"),
    [
        ("ok: 1\nsecret: a: b\n", "mapping values are not allowed in this context", 2),
        ("a: @secret\n", "found character that cannot start any token", 1),
        ("a: *secret\n", "an alias names no anchor", 1),
        ("a: &a [*a]\n", "an alias holds itself", 1),
        ("- secret\n", "not a mapping of names to values", 1),
        ("secret\n", "not a mapping of names to values", 1),
        ("a: 1\n--- \nb: 2\n", "more than one YAML document", 2),
        ("a: " + "[" * 100_000, "nested too deeply", 1),
        ('{"a": ' * 100 + "1" + "}" * 100, "nested too deeply", 1),
    ],
)
def test_malformed_yaml_is_refused_without_quoting_it(block: str, reason: str, line: int) -> None:
    with pytest.raises(FrontmatterError) as caught:
        frontmatter.load(block)
    assert (caught.value.reason, caught.value.line) == (reason, line)
    assert "secret" not in str(caught.value)


def alias_bomb(one: str) -> str:
    names = "abcdefghijkl"
    lines = [f"a: &a [{', '.join(['x'] * 9)}]"]
    lines += [f"{new}: &{new} {one.format(old=old)}" for old, new in pairwise(names)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "one", ["[" + ", ".join(["*{old} "] * 9) + "]", "{{? [*{old} , *{old} , *{old} , *{old} ] : 1}}"]
)
def test_an_alias_bomb_does_not_go_off(one: str) -> None:
    with pytest.raises(FrontmatterError, match="too many values or aliases"):
        frontmatter.load(alias_bomb(one))


def test_what_the_app_recorded_is_read_alike(shared: Path) -> None:
    recorded = json.loads((shared / "conformance" / "obsidian-metadata-cache.json").read_text("utf-8"))
    compared = 0
    for case in recorded["cases"]:
        text = case["input"]["fileContents"]
        expected = case["expected"]["cachedMetadata"].get("frontmatter")
        assert (frontmatter.read(text) or None) == expected, case["id"]
        compared += expected is not None
    assert compared == 32


def test_a_block_is_found_only_between_fences() -> None:
    assert frontmatter.find("---\na: 1\n---\nBody") == (4, 9, 13, "\n")
    assert frontmatter.find("\ufeff---\r\na: 1\r\n---\r\n") == (6, 12, 17, "\r\n")
    assert frontmatter.find("---\n---") == (4, 4, 7, "\n")
    assert frontmatter.find("--- \na: 1\n---\t\n") == (5, 10, 15, "\n")
    assert frontmatter.find("\n---\na: 1\n---\n") is None
    assert frontmatter.find("---\na: 1\n") is None
    assert frontmatter.find("---\na: 1\n----\n") is None
