"""Whatever the text, parsing does not fail, and what it reports lies in the text."""

import pickle

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.vault.markdown import Parsed, parse

PIECES = [
    "[[", "]]", "![[", "|", "[", "](", ")", "<", ">", "> ", "- ", "- [ ] ", "1. ", "* ", "#", "# ", "#tag", "`", "```",
    "~~~", "$", "$$", "%%", "<!--", "-->", "<div>", "^", " ^id", "[^1]", "[^1]: ", "\\", "\n", "\n\n", "\r\n", "\r",
    "\t", " ", "    ", "---", "---\n", "===", "a", "b c", "é", "日本", "😀", "\u200b", "\x00", "\ufeff", "key: v\n",
    "https://a.b/c", "| a | b |", "|---|---|", "[!note]", "'", '"', "%20", "&amp;", "**", "_", "==",
]  # fmt: skip
texts = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@given(texts)
def test_every_range_lies_in_the_text_and_in_order(text: str) -> None:
    note = parse(text)
    for starts in (
        [span.start for span in note.sections],
        [span.start for span in note.headings],
        [span.start for span in note.footnotes],
        [span.start for span in note.code],
        [span.start for span in note.maths],
        [span.start for span in note.comments],
        [tag.start for tag in note.tags],
        [link.start for link in note.links if not link.in_frontmatter],
    ):
        assert starts == sorted(starts)
    ranges = [(span.start, span.end) for span in note.sections]
    ranges += [(span.start, span.end) for span in note.headings]
    ranges += [(span.start, span.end) for span in note.list_items]
    ranges += [(span.start, span.end) for span in note.blocks.values()]
    ranges += [(span.start, span.end) for span in note.footnotes + note.footnote_refs]
    ranges += [(span.start, span.end) for span in note.code + note.maths + note.comments]
    assert all(0 <= start <= end <= len(text) for start, end in ranges)
    for before, after in zip(note.sections, note.sections[1:], strict=False):
        assert before.end <= after.start


@given(texts)
def test_links_and_tags_are_what_stands_at_their_offsets(text: str) -> None:
    note = parse(text)
    for link in note.links:
        if link.start >= 0:
            assert text[link.start : link.end] == link.original
            assert note.line_col(link.start) == (link.line, link.col)
        else:
            assert link.in_frontmatter
    for tag in note.tags:
        assert text[tag.start : tag.end] == tag.tag


@given(texts)
def test_list_items_point_at_items_that_stand_before_them(text: str) -> None:
    note = parse(text)
    lines = [item.line for item in note.list_items]
    assert lines == sorted(lines)
    assert {item.parent for item in note.list_items if item.parent >= 0} <= set(lines)


@given(texts)
def test_offsets_convert_to_lines_and_to_utf16(text: str) -> None:
    note = parse(text)
    for offset in range(len(text) + 1):
        line, col = note.line_col(offset)
        assert line == text.count("\n", 0, offset)
        assert note.line_starts[line] + col == offset
        assert note.utf16(offset) == len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


@given(texts)
def test_a_note_keeps_its_value_through_pickle_and_msgpack(text: str) -> None:
    note = parse(text)
    assert pickle.loads(pickle.dumps(note)) == note  # noqa: S301 - our own bytes
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(note), type=Parsed) == note


# Each of these made some parser of Markdown fall over or take the square of its length.
HOSTILE = {
    "one long line": "a" * 1_000_000,
    "brackets": "[" * 100_000,
    "embeds": "![[" * 50_000,
    "links without end": "[a](" * 50_000,
    "pointed links without end": "[](<" * 50_000,
    "code without end": "".join("`" * (n % 50 + 1) + " " for n in range(20_000)),
    "comments without end": "<!--" * 50_000,
    "tags without end": '<a b="' * 30_000,
    "dollars": "$a " * 50_000,
    "percents": "%% a %% b\n" * 20_000,
    "questions in links": "[<?](x)" * 30_000 + "?>",
    "escapes": "\\" * 200_000,
    "marked hashes": "a**#b " * 30_000,
    "lists in lists on one line": "- " * 50_000,
    "quotes in quotes on one line": ">" * 100_000,
    "lists in lists": "\n".join("  " * n + "- x" for n in range(500)),
    "quotes in quotes": "\n".join(">" * n + " x" for n in range(500)),
    "lazy lines": "- a\n" + "b\n" * 50_000,
    "fences": "~~~\n```\n" * 20_000,
    "frontmatter without end": "---\n" + "a: b\n" * 50_000,
    "many links in frontmatter": "---\n" + "".join(f'k{n}: "[[a{n}]]"\n' for n in range(3_000)) + "---\n",
    "nothing": "",
    "a byte order mark": "\ufeff",
    "nul": "\x00",
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_read_to_its_end(text: str) -> None:
    assert parse(text).length == len(text)
