"""The parts of a note that Dataview looks at, found in one walk over its lines: headings, list items, links, tags."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote

import regex

from knapper_dataview.engine.query_parser import TAG
from knapper_dataview.engine.values import Link

_LINE = regex.compile(
    r"[ \t]*+(?:>[ \t]?)*+(?:(?P<fence>```+|~~~+)|(?P<heading>#{1,6})[ \t]+(?P<title>.*)"
    r"|[ \t]*+(?P<symbol>[-*+]|\d+[.)])(?:(?P<gap>[ \t]+)(?:\[(?P<task>[^\[\]])\](?:[ \t]+|$))?(?P<text>.*)|$))"
)
_BLOCK_ID = regex.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*$")
_RULING = regex.compile(r"[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_TICKS = regex.compile(r"`+")
_BODY_TAG = regex.compile(rf"(?<!\S)({TAG}(?<!#))")
_WIKILINK = regex.compile(r"(!?)\[\[([^\[\]]+?)\]\]")
_MARKDOWN_LINK = regex.compile(
    r"(!?)\[([^\[\]]*)\]\((?:<([^<>]+)>|([^()\s]+(?:\([^()\s]*\)[^()\s]*)*))(?:\s+\"[^\"]*\")?\)"
)
_SCHEME = regex.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(slots=True)
class OutlineItem:
    """A list item: its lines, the line of its parent, and what its checkbox holds."""

    line: int
    end: int
    list_line: int
    symbol: str
    text: str
    task: str | None
    parent: int | None
    block: str | None = None
    content: int = 0
    quote: int = 0


@dataclass(slots=True)
class Outline:
    """What one walk found, all by line number from 0."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    items: list[OutlineItem] = field(default_factory=list)
    links: dict[int, list[Link]] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    in_lists: set[int] = field(default_factory=set)


def item_parts(line: str) -> tuple[str, str]:
    """The marker of a list item's first line, and its text without marker and checkbox."""
    found = _LINE.match(line)
    return (
        ("-", line.strip())
        if found is None or not found["symbol"]
        else (found["symbol"], found["text"] or "")
    )


def last_line(lines: list[str], first: int, last: int) -> int:
    """The last line of an item that a parser of Markdown lets end here: text at the margin does not go on with it."""
    end = first
    for number in range(first + 1, last + 1):
        text = lines[number]
        if text.strip(" \t>"):
            if _margin(text)[1] < 2:
                break
            end = number
    return end


def outline(lines: list[str], body: int) -> Outline:
    """Walk the lines of a note, of which the body begins at this one."""
    walk = _Walk(lines)
    for number in range(body, len(lines)):
        walk.line(number)
    return walk.found


class _Walk:
    """The state between two lines: inside which fence or comment, and below which list items."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.found = Outline()
        self.open: list[OutlineItem] = []
        self.fence = ""
        self.comment = ""
        self.list_start = 0

    def line(self, number: int) -> None:
        text = self.lines[number]
        if self.fence:
            self._inside_fence(number, text)
            return
        if self.comment:
            self._inside_comment(number, text)
            return
        found = _LINE.match(text)
        if found is None:
            self._text(number, text)
        elif found["fence"]:
            self.fence = found["fence"]
            self._continue_list(number, text)
        elif found["heading"]:
            self.open.clear()
            self.found.headings.append(
                (number, found["title"].rstrip().rstrip("#").rstrip() or found["title"])
            )
            self._marks(number, text)
        elif _RULING.match(text):
            self.open.clear()
        else:
            self._item(number, found)

    def _inside_fence(self, number: int, text: str) -> None:
        if text.lstrip(" \t>").startswith(self.fence):
            self.fence = ""
        if self.open:
            self._continue_list(number, text)

    def _inside_comment(self, number: int, text: str) -> None:
        if self.comment == "%%":
            self._marks(number, text)
        if self.comment in text:
            self.comment = ""

    def _text(self, number: int, text: str) -> None:
        bare = text.strip()
        if bare.startswith("%%") and bare.count("%%") == 1:
            self.comment = "%%"
        elif bare.startswith("<!--"):
            self.comment = "" if "-->" in bare else "-->"
            return
        if bare:
            self._continue_list(number, text)
            self._marks(number, text)

    def _continue_list(self, number: int, text: str) -> None:
        """Text indented below an item belongs to it; text at the margin ends the list."""
        quote, width = _margin(text)
        while self.open and (self.open[-1].quote != quote or width < min(self.open[-1].content, 2)):
            self.open.pop()
        if self.open:
            item = self.open[-1]
            self.found.in_lists.update(range(item.end + 1, number + 1))
            item.end = number
            item.block = _block_id(text) or item.block

    def _item(self, number: int, found: regex.Match[str]) -> None:
        text = found.string
        quote, width = _margin(text)
        if not self.open and width > 3:
            self._marks(number, text)
            return
        while self.open and (self.open[-1].quote != quote or width < self.open[-1].content):
            self.open.pop()
        if not self.open and not (self.found.items and self._same_list(number, quote)):
            self.list_start = number
        gap = len((found["gap"] or " ").expandtabs(4))
        item = OutlineItem(
            line=number,
            end=number,
            list_line=self.list_start,
            symbol=found["symbol"],
            text=found["text"] or "",
            task=found["task"],
            parent=self.open[-1].line if self.open else None,
            block=_block_id(text),
            content=width + len(found["symbol"]) + (gap if gap <= 4 else 1),
            quote=quote,
        )
        self.open.append(item)
        self.found.items.append(item)
        self.found.in_lists.add(number)
        self._marks(number, text)

    def _same_list(self, number: int, quote: int) -> bool:
        last = self.found.items[-1]
        between = self.lines[last.end + 1 : number]
        return last.quote == quote and not any(line.strip() for line in between)

    def _marks(self, number: int, text: str) -> None:
        if "`" in text:
            text = _without_code(text)
        if "#" in text:
            self.found.tags += [tag for tag in _BODY_TAG.findall(text) if not tag[1:].isdigit()]
        if "](" in text or "[[" in text:
            links = find_links(text)
            if links:
                self.found.links[number] = links


def _without_code(text: str) -> str:
    """The line with blanks for its code spans: from a run of backticks to the next run of the same length."""
    runs = [(run.start(), run.end()) for run in _TICKS.finditer(text)]
    next_of: dict[int, int] = {}
    closing: list[int | None] = [None] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        length = runs[at][1] - runs[at][0]
        closing[at] = next_of.get(length)
        next_of[length] = at
    parts: list[str] = []
    kept = at = 0
    while at < len(runs):
        end = closing[at]
        if end is None:
            at += 1
            continue
        parts += [text[kept : runs[at][0]], " " * (runs[end][1] - runs[at][0])]
        kept, at = runs[end][1], end + 1
    return "".join([*parts, text[kept:]])


def _margin(text: str) -> tuple[int, int]:
    """How deep a line is quoted, and how far it is indented inside the quote."""
    inner = text.lstrip(" \t")
    if not inner.startswith(">"):
        return 0, len(text.expandtabs(4)) - len(inner.expandtabs(4)) if inner is not text else 0
    marks = text[: len(text) - len(text.lstrip(" \t>"))]
    rest = marks.rsplit(">", 1)[1].expandtabs(4)
    return marks.count(">"), max(len(rest) - 1, 0)


def _block_id(text: str) -> str | None:
    if "^" not in text:
        return None
    found = _BLOCK_ID.search(text)
    return found[1] if found else None


def find_links(text: str) -> list[Link]:
    """The links inside the vault of one line: plain ones first, then embeds, each with the text it shows."""
    found: list[Link] = []
    for mark in _WIKILINK.finditer(text):
        target, bar, shown = mark[2].replace("\\|", "|").partition("|")
        found.append(Link.infer(target.strip(), shown if bar else _shown(target.strip()), bool(mark[1])))
    if "](" in text:
        for mark in _MARKDOWN_LINK.finditer(text):
            target = mark[3] or mark[4]
            if not _SCHEME.match(target):
                found.append(Link.infer(unquote(target), mark[2], bool(mark[1])))
    return found


def _shown(target: str) -> str:
    return target.removeprefix("#").replace("#", " > ")
