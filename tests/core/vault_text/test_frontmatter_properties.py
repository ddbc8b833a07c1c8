"""Laws that hold for any frontmatter, however it is written."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from knapper.vault import frontmatter
from knapper.vault.frontmatter import FrontmatterError, composing, plain, reading
from knapper.vault.frontmatter.nested import same
from knapper.vault.frontmatter.nodes import compose, value
from knapper.vault.frontmatter.scalars import key_text

ENTRIES = [
    "{}: plain words",
    "{}: 'single'",
    '{}: "double"  # remark',
    "{}: |\n  literal\n    more\n",
    "{}: |\n  literal\n\n",
    "{}: |+\n  kept\n\n",
    "{}: >-\n  folded\n  text",
    "{}: [a, 'b', \"c d\"]",
    "{}: [a,\n  b,\n  c,]  # remark",
    "{}: {{a: 1, b: [x]}}",
    "{}: {{\n    a: 1,\n    b: 2\n  }}",
    "{}:\n- a\n- b # remark",
    "{}:\n    - a\n\n    # between\n    - 'b'",
    "{}:\n  - 'a'\n  - 'b'",
    "{}:\n  - name: x\n    size: 1\n  - [1, 2]",
    "{}:\n  sub: 1\n  # inside\n  other:\n    deep: x",
    "{}:",
    "{}:   ",
    "{}:  # only a remark",
    "{}: # remark\n  below",
    "{}:\ttabbed\t",
    "{}: over\n  two lines",
    "{}: 2024-01-01",
    "{}: 007",
    "{}: 1.50",
    "{}: []",
    "{}: é\u2028ü",
    '"{}": quoted key',
    "'{}' : quoted key",
    "# remark",
    "",
    "   ",
]
HARD = ["? {}\n: explicit", "{}: &anchor x", "{}: *anchor", "{}: &other\n  - 1", "{}: !!str 5"]
KEYS = ["alpha", "beta", "gamma", "delta", "two words"]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        [
            "[[Note]]",
            "yes",
            "07",
            "12:30",
            "a: b",
            "# x",
            "- x",
            "1",
            "null",
            " x",
            "x\ny",
            "x\n\ny\n",
            "---",
            "\n",
        ]
    ),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def drawn_notes(draw: st.DrawFn, entries: tuple[str, ...]) -> str:
    chosen = draw(st.lists(st.sampled_from(entries), max_size=5))
    names = draw(st.permutations(KEYS))
    inner = "".join(entry.format(name) + "\n" for entry, name in zip(chosen, names, strict=False))
    if draw(st.booleans()) and draw(st.booleans()):
        inner = f"{names[0]}: first\n{inner}"
    text = f"---\n{inner}---\nBody\n\n---\nmore: x\n---\n"
    text = text.replace("\n", "\r\n") if draw(st.booleans()) else text
    return "\ufeff" + text if draw(st.booleans()) else text


def properties(text: str) -> dict[str, Any]:
    try:
        return frontmatter.read(text) or {}
    except FrontmatterError:
        assume(False)
        raise


def pieces(text: str) -> list[tuple[str, str]]:
    """Each top-level key with all the text from its line to the next key's."""
    block = frontmatter.find(text)
    assert block is not None
    inner = text[block.start : block.end]
    root = compose(inner)
    keys = root.keys if root is not None and root.kind == "mapping" else []
    starts = [inner.rfind("\n", 0, key.start) + 1 for key in keys]
    ends = [*starts[1:], len(inner)]
    return [("", inner[: starts[0]] if starts else inner)] + [
        (key_text(value(key)), inner[start:end]) for key, start, end in zip(keys, starts, ends, strict=False)
    ]


def body(text: str) -> str:
    block = frontmatter.find(text)
    return text.removeprefix("\ufeff") if block is None else text[block.after :]


@settings(max_examples=300, deadline=None)
@given(drawn_notes(tuple(ENTRIES)), st.sampled_from([*KEYS, "new", "a: b", "#x", "1"]), values)
def test_setting_a_key_changes_that_key_alone(text: str, key: str, new: Any) -> None:
    before = properties(text)
    after = frontmatter.set_key(text, key, new)
    assert same(frontmatter.read(after), {**before, key: new})
    assert body(after) == body(text)
    assert [piece for piece in pieces(after) if piece[0] != key] == [p for p in pieces(text) if p[0] != key]
    assert ("\r" in text) == ("\r\n" in after)


@settings(max_examples=200, deadline=None)
@given(drawn_notes(tuple(ENTRIES)), st.sampled_from(KEYS))
def test_removing_a_key_takes_out_only_lines_of_its_own(text: str, key: str) -> None:
    before = properties(text)
    after = frontmatter.remove_key(text, key)
    assert body(after) == body(text)
    left = {name: item for name, item in before.items() if name != key}
    assert same(frontmatter.read(after) or {}, left)
    if key not in before:
        assert after == text
    elif frontmatter.find(after) is not None:
        others = [
            line for name, piece in pieces(text) if name != key for line in piece.splitlines(keepends=True)
        ]
        rest = iter("".join(piece for _, piece in pieces(after)).splitlines(keepends=True))
        assert all(line in rest for line in others)


@settings(max_examples=300, deadline=None)
@given(drawn_notes((*ENTRIES, *HARD, *HARD)), st.sampled_from([*KEYS, "new"]), values)
def test_a_hard_block_is_edited_rightly_or_not_at_all(text: str, key: str, new: Any) -> None:
    before = properties(text)
    try:
        after = frontmatter.set_key(text, key, new)
    except FrontmatterError:
        return
    assert same(frontmatter.read(after), {**before, key: new})
    assert [piece for piece in pieces(after) if piece[0] != key] == [p for p in pieces(text) if p[0] != key]


@settings(max_examples=300, deadline=None)
@given(drawn_notes(tuple(ENTRIES)), st.dictionaries(st.sampled_from([*KEYS, "new"]), values, max_size=4))
def test_replacing_all_leaves_exactly_the_new_properties(text: str, mapping: dict[str, Any]) -> None:
    before = properties(text)
    after = frontmatter.replace_all(text, mapping)
    assert same(frontmatter.read(after) or {}, mapping)
    kept = {key for key in mapping if key in before and same(before[key], mapping[key])}
    old = {name: piece.split("\n")[0] for name, piece in pieces(text) if name in kept}
    if kept:
        assert {name: piece.split("\n")[0] for name, piece in pieces(after) if name in kept} == old


@settings(max_examples=300, deadline=None)
@given(values)
def test_a_note_without_frontmatter_gets_it_and_loses_it_again(new: Any) -> None:
    text = "\ufeffBody\r\n\r\nmore\r\n"
    after = frontmatter.set_key(text, "key", new)
    assert same(frontmatter.read(after), {"key": new})
    assert frontmatter.remove_key(after, "key") == text


PLAIN_PARTS = ["a", "key", "x y", ":", ": ", " ", "  ", "\n", "\n", "- ", "\n- ", "\n  - ", "#", " #", '"', "'", "[", "]", ",", ", ",
               "{", "}", "-", "1", "0", ".5", "true", "null", "~", "|", ">", "&", "*", "!", "%", "@", "?", "\\", "é", "\xa0", "\t", "\r\n", "\r", "(", "/", "..."]  # fmt: skip


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.sampled_from(PLAIN_PARTS), max_size=14).map("".join))
def test_the_short_way_agrees_with_the_parser_where_it_answers(block: str) -> None:
    quick = plain.read(block)
    if quick is not None:
        assert same(quick, reading._parsed(block))


@settings(max_examples=800, deadline=None)
@given(
    st.lists(st.sampled_from(PLAIN_PARTS), max_size=8).map("".join),
    st.sampled_from(["k: {}", "k: [{}, b]", "k:\n  - {}\n  - b"]),
)
def test_the_short_way_agrees_with_the_parser_on_a_value(text: str, frame: str) -> None:
    block = frame.replace("{}", text)
    quick = plain.read(block)
    if quick is not None:
        assert same(quick, reading._parsed(block))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_any_text_loads_or_raises_the_one_error(block: str) -> None:
    try:
        loaded = frontmatter.load(block)
    except FrontmatterError:
        return
    assert loaded is None or isinstance(loaded, dict)


def recorded(shared: Path) -> list[str]:
    folders = [shared / "vaults", shared / "conformance" / "dv-mini"]
    texts = [path.read_bytes().decode() for folder in folders for path in sorted(folder.rglob("*.md"))]
    return [text for text in texts if frontmatter.find(text) is not None]


def test_every_recorded_note_survives_every_edit(shared: Path) -> None:
    texts = recorded(shared)
    assert len(texts) > 100
    for text in texts:
        before = properties(text)
        for key in [*before, "fresh property"]:
            for new in ("text", 5, None, True, ["a", "[[b]]"], {"x": [1]}, "two\nlines", []):
                after = frontmatter.set_key(text, key, new)
                assert same(frontmatter.read(after), {**before, key: new})
                if "---\n{" not in text:
                    others = [piece for piece in pieces(text) if piece[0] != key]
                    assert [piece for piece in pieces(after) if piece[0] != key] == others
                assert body(after) == body(text)
            gone = frontmatter.remove_key(text, key)
            assert same(frontmatter.read(gone) or {}, {k: v for k, v in before.items() if k != key})


def test_not_a_number_is_read_back() -> None:
    loaded = frontmatter.load(".nan: x\nkey: .nan\n")
    assert loaded is not None
    assert math.isnan(loaded["key"])


@pytest.mark.parametrize("key", ["a.b", "x:y", "", " ", "'", "\n", "null", "{", "[[x]]", "é"])
def test_any_name_can_be_a_key(key: str) -> None:
    after = frontmatter.set_key("---\nother: 1\n---\n", key, "v")
    assert frontmatter.read(after) == {"other": 1, key: "v"}
    assert re.sub(r"\A---\nother: 1\n", "", after).endswith("---\n")


def test_without_the_c_library_frontmatter_is_read_and_edited_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    def outcomes() -> list[str]:
        results = []
        # The pure parser refuses a tab after a colon, which the C library takes.
        for entry in [entry for entry in [*ENTRIES, *HARD] if "\t" not in entry]:
            text = f"---\nfirst: 1\n{entry.format('alpha')}\nlast: 'x'\n---\nBody\n"
            for new in ("text", ["a"], None):
                try:
                    results.append(frontmatter.set_key(text, "alpha", new))
                except FrontmatterError as error:
                    results.append(f"{error.line}")
        return results

    fast = outcomes()
    monkeypatch.setattr(composing, "_Parser", yaml.SafeLoader)
    assert outcomes() == fast
