"""Whatever the frontmatter looks like, a change to one key leaves every byte of the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from knapper.testing import Calls, VaultFolder
from knapper_properties import properties
from tests.known_vaults import notes_of

KEY = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s#'"\-\[{&?][^:#]*?)[ \t]*:(?=\s|$)""")
ODD = [
    "# top\n\nalpha: 1 # one\n# between\nbeta:   'two'\n\ngamma: 3\n",
    'alpha: &anchor {x: 1}\nbeta: *anchor\n"gamma": "quoted key"\n',
    "'alpha' : x\nbeta: |+\n  kept\n\n\ngamma: >-\n  folded\n  text\n",
    "alpha:\n- a\n- b # remark\nbeta:\n    - a\n\n    # inside\n    - 'b'\ngamma: []\n",
    "alpha:\ttabbed\t\nbeta: over\n  two lines\ngamma: [a,\n  b,]  # remark\n",
    "alpha: 007\nbeta: 1.50\ngamma: 2024-01-01\ndelta: yes\n",
    "alpha:\nbeta:   \ngamma:  # only a remark\n",
    "alpha: 日本\nbeta: 'é'\nÜber: \"ñ\"\n",
    "alpha: {a: 1, b: [x]}\nbeta: !!str 5\ngamma: 12:30\n",
]


class Entry(NamedTuple):
    key: str
    start: int
    end: int


def entries(text: str) -> Iterator[Entry]:
    """The keys of a block and the span of each, up to the next key or comment at the margin."""
    start = text.index("\n") + 1
    stop = re.compile(r"^---[ \t]*\r?$", re.MULTILINE).search(text, start)
    assert stop is not None
    lines = list(re.finditer(r"[^\n]*\n", text[start : stop.start()]))
    marks = [line for line in lines if KEY.match(line[0]) or line[0].startswith("#")]
    ends = [mark.start() for mark in marks[1:]] + [stop.start() - start]
    for mark, end in zip(marks, ends, strict=True):
        if (found := KEY.match(mark[0])) is not None:
            key = found[0].rstrip(": \t").strip("\"'")
            yield Entry(key, start + mark.start(), start + end)


def check_other_bytes(before: str, after: str, entry: Entry) -> None:
    assert after.startswith(before[: entry.start])
    assert after.endswith(before[entry.end :])
    assert len(after) >= entry.start + len(before) - entry.end


def check_added(before: str, after: str) -> None:
    extra = len(after) - len(before)
    assert extra > 0
    same = next(at for at in range(len(before) + 1) if at == len(before) or before[at] != after[at])
    assert any(after[:at] + after[at + extra :] == before for at in range(same + 1))


def check_every_key(call: Calls, vault: VaultFolder, path: str, most: int = 3) -> int:
    """Set, remove and add keys of one note, each from its first state; how many changes were made."""
    before = vault.bytes(path).decode()
    found = list(entries(before))
    made = 0
    for entry in found[:most]:
        changes: list[dict[str, Any]] = [{"mode": "set", "value": "Ein: neuer Wert"}, {"mode": "remove"}]
        for change in changes:
            vault[path] = before
            outcome = call.outcome(properties, "update_frontmatter", path=path, key=entry.key, **change)
            after = vault.bytes(path).decode()
            if outcome.error is not None:
                assert (outcome.error["code"], after) == ("invalid_input", before)
            elif change["mode"] == "remove" and len(found) == 1:
                assert before.endswith(after)  # the block goes with its last key
            else:
                made += 1
                check_other_bytes(before, after, entry)
    vault[path] = before
    call(properties, "update_frontmatter", path=path, mode="merge", patch={"neu: eins": [1, "a"]})
    check_added(before, vault.bytes(path).decode())
    vault[path] = before
    return made


@pytest.mark.parametrize("block", ODD)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("body", ["\n# Body\n", "no newline at the end"])
def test_odd_frontmatter_keeps_its_other_bytes(
    call: Calls, vault: VaultFolder, block: str, mark: str, eol: str, body: str
) -> None:
    vault["a.md"] = mark + f"---\n{block}---\n{body}".replace("\n", eol)
    assert check_every_key(call, vault, "a.md") >= 4


def test_the_frontmatter_of_real_notes_keeps_its_other_bytes(call: Calls, real_vault: VaultFolder) -> None:
    found = [path for path in notes_of(real_vault.path) if re.match(r"---\n[^\-]", real_vault[path])]
    made = sum(check_every_key(call, real_vault, path, most=2) for path in found[::4])
    assert made > 20


def test_of_two_keys_of_one_name_the_other_keys_keep_their_bytes(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\na: 1 # first\nb:  x\na: 2\n---\n"
    call(properties, "update_frontmatter", path="a.md", mode="set", key="b", value="y")
    assert vault["a.md"] == "---\na: 1 # first\nb:  y\na: 2\n---\n"
    call(properties, "update_frontmatter", path="a.md", mode="remove", key="a")
    assert vault["a.md"] == "---\nb:  y\n---\n"
