"""Inside of paragraphs, headings and cells: links, tags, footnotes, and the code, maths and comments around them."""

import re
from bisect import bisect_right
from string import punctuation
from typing import NamedTuple

from knapper.vault.markdown import targets
from knapper.vault.markdown.grammar import HTML_INLINE
from knapper.vault.markdown.model import Footnote, Link, Parsed, Range, Tag
from knapper.vault.markdown.tags import TAG, is_tag_name

# Each alternative begins with a letter of its own: the others of a text are then passed over four times as fast.
TRIGGER = re.compile(r"\\|`|<|\$|#|\[|!\[|%%|https?://")
_TICKS = re.compile("`+")
_BRACKETS = re.compile(r"\\.|[\[\]]", re.DOTALL)
_FOOTNOTE_REF = re.compile(r"\[\^([^\s\[\]]+)\](?!\()")
_MATHS = re.compile(r"\$\$(?:\\.|[^$\\])+\$\$|\$(?![\s$])(?:\\.|[^$\\])*(?<![\s\\])\$(?![0-9])", re.DOTALL)
_URL = re.compile(r"https?://[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+[^\s<]*")
_ESCAPABLE = frozenset(punctuation + "\n")
_MARKS = frozenset("*_~=")
_HTML_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))


class Place(NamedTuple):
    """Where a stretch of text stands in the note: in one piece, or line by line."""

    base: int
    breaks: list[int] | None = None
    origins: list[int] | None = None

    def at(self, index: int) -> int:
        """The note's offset of an index into the stretch."""
        if self.breaks is None or self.origins is None:
            return self.base + index
        line = bisect_right(self.breaks, index) - 1
        return self.origins[line] + index - self.breaks[line]


class Inline:
    """A scan of one stretch of text, which adds what it finds to a Parsed."""

    __slots__ = (
        "_brackets", "_close", "_comment_close", "_missing", "_ticks", "found", "note", "place", "text",
    )  # fmt: skip

    def __init__(self, note: str, found: Parsed) -> None:
        self.note = note
        self.found = found

    def scan(self, text: str, place: Place) -> None:
        """Add what `text`, which stands at `place`, holds."""
        self.text = text
        self.place = place
        self._close = self._comment_close = -1
        self._ticks: dict[int, list[int]] | None = None
        self._brackets: dict[int, int] | None = None
        self._missing: set[str] = set()
        self._run(0, len(text), False)

    def _run(self, at: int, stop: int, in_link: bool) -> None:
        text = self.text
        search = TRIGGER.search
        # A tag may begin after white space, and where something else has just ended.
        edge = at
        while match := search(text, at, stop):
            at = match.start()
            char = text[at]
            if char == "#":
                end = 0 if in_link else self._tag(at, edge, stop)
            elif char in "[!":
                end = self._bracket(at, stop, in_link)
                if not end and char == "[" and self._is_reference(at):
                    edge = at + 1
            elif char == "`":
                end = self._code(at, stop)
            elif char == "\\":
                end = at + 2 if at + 1 < stop and text[at + 1] in _ESCAPABLE else 0
            elif char == "<":
                end = self._html(at, stop)
            elif char == "$":
                end = self._maths(at, stop)
            elif char == "%":
                end = self._comment(at, stop)
            else:
                url = _URL.match(text, at, stop)
                end = url.end() if url else 0
            if end:
                at = edge = end
            else:
                at += 1

    def _tag(self, at: int, edge: int, stop: int) -> int:
        text = self.text
        if at > edge:
            before = text[at - 1]
            if not before.isspace() and (before not in _MARKS or not self._is_mark(at)):
                return 0
        match = TAG.match(text, at, stop)
        if match is None:
            return 0
        tag = match[0]
        if at and text[at - 1] == "_":
            # The underscores that close emphasis are not the tag's.
            tag = tag.rstrip("_")
        if not is_tag_name(tag[1:]):
            return 0
        start = self.place.at(at)
        self.found.tags.append(Tag(tag, start, start + len(tag)))
        return at + len(tag)

    def _is_mark(self, at: int) -> bool:
        """Whether the emphasis marks before `at` have a partner, so that a tag may follow them."""
        begin = at
        while begin and self.text[begin - 1] in _MARKS:
            begin -= 1
        marks = self.text[begin:at]
        return len(marks) <= 8 and (
            self._find(marks, at, len(self.text)) >= 0 or self.text.find(marks, 0, begin) >= 0
        )

    def _bracket(self, at: int, stop: int, in_link: bool) -> int:
        text = self.text
        embed = text[at] == "!"
        inner = at + embed + 1
        if text.startswith("[", inner, stop):
            end = self._wikilink(at, inner + 1, stop, embed)
            if end:
                return end
        if not embed:
            if in_link:
                return 0
            if text.startswith("^", inner, stop) and (reference := _FOOTNOTE_REF.match(text, at, stop)):
                start = self.place.at(at)
                self.found.footnote_refs.append(Footnote(reference[1], start, self._end(reference.end())))
                return reference.end()
        return self._markdown(at, inner, stop, embed)

    def _wikilink(self, at: int, inner: int, stop: int, embed: bool) -> int:
        text = self.text
        if text.startswith("[", inner, stop):
            return 0
        if self._close < inner:
            self._close = text.find("]]", inner)
            if self._close < 0:
                self._close = len(text)
        close = self._close
        if close >= stop or text.find("[[", inner, close) >= 0 or text.find("\n", inner, close) >= 0:
            return 0
        target = targets.wikilink(text[inner:close])
        if target is None:
            return 0
        self._add("wikilink", embed, target, at, close + 2)
        return close + 2

    def _markdown(self, at: int, inner: int, stop: int, embed: bool) -> int:
        close = self._partner(inner - 1)
        if close < 0 or not self.text.startswith("](", close, stop):
            return 0
        found = targets.destination(self.text, close + 2, stop)
        if found is None:
            return 0
        destination, end = found
        target = targets.markdown(destination, self.text[inner:close])
        if target is not None:
            self._add("markdown", embed, target, at, end)
        if not embed:
            self._run(inner, close, True)
        return end

    def _is_reference(self, at: int) -> bool:
        close = self._partner(at)
        return close > 0 and self.text.find("[", at + 1, close) < 0

    def _add(self, kind: str, embed: bool, target: targets.Target, at: int, end: int) -> None:
        found = self.found
        start = self.place.at(at)
        stop = self._end(end)
        line = bisect_right(found.line_starts, start) - 1
        found.links.append(
            Link(
                kind,
                embed,
                target.target,
                target.path,
                target.subpath,
                target.display,
                self.note[start:stop],
                start,
                stop,
                line,
                start - found.line_starts[line],
            )
        )

    def _code(self, at: int, stop: int) -> int:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self.text):
                self._ticks.setdefault(run.end() - run.start(), []).append(run.start())
        after = at
        while after < stop and self.text[after] == "`":
            after += 1
        size = after - at
        closing = self._ticks.get(size, [])
        index = bisect_right(closing, at)
        if index == len(closing) or closing[index] + size > stop:
            return 0
        end = closing[index] + size
        self.found.code.append(self._range("inline", at, end))
        return end

    def _comment(self, at: int, stop: int) -> int:
        """Step over one of the marks of a comment; what is between them is read like the rest."""
        if at != self._comment_close:
            self._comment_close = self._find("%%", at + 2, stop)
            if self._comment_close < 0:
                return 0
            self.found.comments.append(self._range("obsidian", at, self._comment_close + 2))
        return at + 2

    def _html(self, at: int, stop: int) -> int:
        for opening, closing in _HTML_ENDS:
            if self.text.startswith(opening, at, stop):
                close = self._find(closing, at + len(opening), stop)
                end = close + len(closing) if close >= 0 else 0
                if end and opening == "<!--":
                    self.found.comments.append(self._range("html", at, end))
                return end
        tag = HTML_INLINE.match(self.text, at, stop)
        return tag.end() if tag else 0

    def _maths(self, at: int, stop: int) -> int:
        match = _MATHS.match(self.text, at, stop)
        if match is None:
            return 0
        self.found.maths.append(self._range("inline", at, match.end()))
        return match.end()

    def _find(self, what: str, at: int, stop: int) -> int:
        # What was once not found further on is not looked for again: a line of openers would cost its square.
        if what in self._missing:
            return -1
        found = self.text.find(what, at, stop)
        if found < 0 and stop == len(self.text):
            self._missing.add(what)
        return found

    def _partner(self, at: int) -> int:
        """Where the bracket opened at `at` closes, -1 where it does not."""
        if self._brackets is None:
            self._brackets = {}
            stack = []
            for match in _BRACKETS.finditer(self.text):
                char = match[0]
                if char == "[":
                    stack.append(match.start())
                elif char == "]" and stack:
                    self._brackets[stack.pop()] = match.start()
        return self._brackets.get(at, -1)

    def _range(self, kind: str, at: int, end: int) -> Range:
        return Range(kind, self.place.at(at), self._end(end))

    def _end(self, end: int) -> int:
        # The end of a line, not the beginning of the next.
        return self.place.at(end - 1) + 1
