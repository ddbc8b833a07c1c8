"""Putting lines into a note, with blank lines where Markdown needs them to keep the parts apart."""

import re

from knapper.vault.edit.errors import ContentSpills
from knapper.vault.lines import line_start, with_line_ending
from knapper.vault.markdown import Parsed, parse

_ENDS_IN_ID = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+\s*\Z")
# What may follow what without a blank line, and both stay what they are.
_CLOSE = {
    ("paragraph", "paragraph"),
    ("paragraph", "list"),
    ("list", "list"),
    ("blockquote", "blockquote"),
    ("callout", "blockquote"),
}
_SENTINEL = "sentinel"


class Content:
    """A text to put into a note: in the note's line endings, knowing what it begins and ends with."""

    def __init__(self, text: str, eol: str) -> None:
        self.text = with_line_ending(text, eol)
        self.eol = eol
        # The line break before it, so that a `---` at its top is not taken for frontmatter.
        sections = parse(f"\n{self.text}\n\n{_SENTINEL}\n").sections
        self.spills = sections[-1].type != "paragraph" or sections[-1].end - sections[-1].start != len(
            _SENTINEL
        )
        self.kinds = [section.type for section in sections[:-1]] or ["paragraph"]

    @property
    def ended(self) -> str:
        """The text, its last line ended."""
        return self.text if not self.text or self.text.endswith("\n") else self.text + self.eol

    @property
    def lines(self) -> list[str]:
        """The lines, without the line ending of the last."""
        return self.text.removesuffix(self.eol).split(self.eol)

    def gap_after(self, kind: str, line: str) -> str:
        """The blank line needed between this and what ends above it in `line`, if any."""
        first = self.lines[0]
        if not first.strip() or kind in ("heading", "yaml") or self.kinds[0] == "heading":
            return ""
        named = _ENDS_IN_ID.search(line) and (kind, self.kinds[0]) != ("list", "list")
        goes_on = (kind == "table" and first.startswith("|")) or (kind == "list" and first[0] in " \t")
        return "" if (goes_on or (kind, self.kinds[0]) in _CLOSE) and not named else self.eol

    def gap_before(self, kind: str, line: str) -> str:
        """The blank line needed between this and what begins below it with `line`, if any."""
        last = self.lines[-1]
        if not last.strip() or self.kinds[-1] == "heading":
            return ""
        if kind == "heading":
            return "" if line.lstrip().startswith("#") else self.eol
        is_close = (self.kinds[-1], kind) in _CLOSE
        named = _ENDS_IN_ID.search(last) and (self.kinds[-1], kind) != ("list", "list")
        return "" if is_close and not named else self.eol


def put(text: str, parsed: Parsed, start: int, end: int, content: Content) -> str:
    """Replace whole lines by others, and keep what stands above and below apart from them."""
    if not content.text:
        return text[:start] + text[end:]
    if content.spills and text[end:].strip():
        raise ContentSpills("the content would swallow what follows it: something in it is not closed")
    above = text[line_start(text, start - 1) : start].strip("\r\n") if start else ""
    below = text[end:].split("\n", 1)[0]
    kind_above = _kind(parsed, start - len(above)) if above.strip() else "heading"
    upper = content.gap_after(kind_above, above)
    lower = content.gap_before(_kind(parsed, end), below) if below.strip() else ""
    return put_lines(text, start, end, content, upper, lower)


def put_lines(text: str, start: int, end: int, content: Content, upper: str = "", lower: str = "") -> str:
    """Replace whole lines by others; a file that did not end its last line goes on not to."""
    unended = end == len(text) and not text.endswith("\n") and text != ""
    if start and text[start - 1] != "\n":
        upper = content.eol + upper
    return text[:start] + upper + (content.text if unended else content.ended) + lower + text[end:]


def _kind(parsed: Parsed, offset: int) -> str:
    """What stands at an offset on the note's top level."""
    for section in parsed.sections:
        if offset <= section.end:
            return section.type
    return "paragraph"
