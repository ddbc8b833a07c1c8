"""Blocks that hold no blocks: paragraphs, headings, code, maths, comments, HTML, tables.

Lines are kept once for the whole note; entering a container takes its prefix off their front, so that what is left of
a line always ends where the line ends and its offset is known. Each method of a block type gets the line it may begin
at, adds its node and returns the line after it, or None where there is no such block.
"""

from typing import NamedTuple

from knapper.vault.markdown import grammar, tables
from knapper.vault.markdown.inline import TRIGGER, Inline, Place
from knapper.vault.markdown.model import Heading, Parsed, Range


class Node(NamedTuple):
    """A block: its type, span and block id."""

    type: str
    start: int
    end: int
    id: str | None = None


class Leaves:
    """The lines of a note, and the reading of what they hold outside of containers."""

    def __init__(self, text: str, lines: list[str], ends: list[int], found: Parsed) -> None:
        self.lines = lines
        self.ends = ends
        self.found = found
        self.inline = Inline(text, found)

    def start(self, at: int) -> int:
        """Where what is left of a line begins."""
        return self.ends[at] - len(self.lines[at])

    def leaf(self, at: int, last: int, body: str, depth: int, nodes: list[Node]) -> int | None:
        """The block other than a paragraph that begins with a line whose text is `body`."""
        char = body[0]
        end = None
        if char == "#":
            end = self._heading(at, body, depth, nodes)
        elif char in "`~":
            end = self._fence(at, last, body, nodes)
        elif char in "$%":
            end = self._delimited(at, last, body, nodes)
        if end is None and at + 1 < last and self.lines[at + 1][:1] in ("=", "-"):
            end = self._setext(at, depth, nodes)
        if end is None and char == "<":
            end = self._html(at, last, body, nodes)
        if end is None and "|" in body:
            end = self._table(at, last, nodes)
        return end

    def paragraph(self, at: int, after: int, last: int, nodes: list[Node]) -> int:
        """The paragraph that begins at a line and holds all lines before `after` at least."""
        start = self.start(at)
        while after < last and not self.ends_paragraph(after, last):
            after += 1
        text = self._scan_lines(at, after)
        id = None
        if "^" in text and (match := grammar.BLOCK_ID.search(self.lines[after - 1])):
            id = match[1]
            if nodes and text.strip() == f"^{id}":
                # An id alone names the block before it.
                nodes[-1] = nodes[-1]._replace(id=id)
                id = None
        nodes.append(Node("paragraph", start, self.ends[after - 1], id))
        return after

    def ends_paragraph(self, at: int, last: int) -> bool:
        """Whether a line ends the paragraph before it."""
        line = self.lines[at]
        body = line.lstrip(" \t")
        if not body:
            return True
        if body[0] not in grammar.MAY_END:
            return False
        space = line[: len(line) - len(body)]
        if "\t" in space or len(space) >= 4:
            return False
        return self.begins(grammar.ENDS_PARAGRAPH, at, last, body)

    def begins(self, ending: grammar.Pattern, at: int, last: int, body: str) -> bool:
        """Whether a line begins maths, a comment or a block that `ending` knows."""
        if body[0] in "$%":
            return self._delimited_end(at, last, body) > 0
        return body[0] in grammar.MAY_END and ending.match(body) is not None

    def indented(self, at: int, last: int, nodes: list[Node]) -> int:
        """Indented code."""
        end = at + 1
        for after in range(at + 1, last):
            line = self.lines[after]
            if line[:1] == "\t" or line.startswith("    "):
                end = after + 1
            elif line.lstrip(" \t"):
                break
        self._add_code("indented", at, end, "", nodes)
        return end

    def _heading(self, at: int, body: str, depth: int, nodes: list[Node]) -> int | None:
        match = grammar.HEADING.match(body)
        if match is None:
            return None
        content = grammar.without_closing_hashes(body[match.end() :])
        base = self.ends[at] - len(body) + match.end()
        self._add_heading(at, at + 1, len(match[1]), content, base, depth, nodes)
        return at + 1

    def _setext(self, at: int, depth: int, nodes: list[Node]) -> int | None:
        level = grammar.setext_level(self.lines[at + 1])
        if not level:
            return None
        body = self.lines[at].lstrip(" \t")
        self._add_heading(at, at + 2, level, body.rstrip(" \t"), self.ends[at] - len(body), depth, nodes)
        return at + 2

    def _add_heading(
        self, at: int, after: int, level: int, content: str, base: int, depth: int, nodes: list[Node]
    ) -> None:
        start, end = self.start(at), self.ends[after - 1]
        match = grammar.BLOCK_ID.search(content) if "^" in content else None
        nodes.append(Node("heading", start, end, match[1] if match else None))
        if not depth:
            self.found.headings.append(Heading(level, content, at, start, end))
        self._scan(content, base)

    def _fence(self, at: int, last: int, body: str, nodes: list[Node]) -> int | None:
        match = grammar.FENCE.match(body)
        if match is None:
            return None
        fence = match[1] or match[3]
        end = last
        for after in range(at + 1, last):
            line = self.lines[after]
            if fence in line and grammar.closes_fence(line, fence):
                end = after + 1
                break
        self._add_code("fenced", at, end, (match[2] or match[4] or "").strip(), nodes)
        return end

    def _add_code(self, kind: str, at: int, end: int, info: str, nodes: list[Node]) -> None:
        start, stop = self.start(at), self.ends[end - 1]
        nodes.append(Node("code", start, stop))
        self.found.code.append(Range(kind, start, stop, info))

    def _delimited(self, at: int, last: int, body: str, nodes: list[Node]) -> int | None:
        end = self._delimited_end(at, last, body)
        if not end:
            return None
        start, stop = self.start(at), self.ends[end - 1]
        if body[0] == "$":
            nodes.append(Node("math", start, stop))
            self.found.maths.append(Range("block", start, stop))
            return end
        nodes.append(Node("comment", start, stop))
        self.found.comments.append(Range("obsidian", start, stop))
        # Obsidian finds tags and links in its own comments, but no lists or headings.
        self.lines[at] = body[2:]
        self._scan_lines(at, end)
        return end

    def _delimited_end(self, at: int, last: int, body: str) -> int:
        """The line after a block of maths or comment, 0 where none begins: what closes it must end a line."""
        mark = body[:2]
        if mark not in ("$$", "%%"):
            return 0
        rest = body[2:]
        for after in range(at, last):
            found = rest.find(mark)
            if found >= 0:
                return 0 if rest[found + 2 :].strip() else after + 1
            if after + 1 < last:
                rest = self.lines[after + 1]
        # Nothing closes it: a comment hides the rest, and so does a line that only opens maths.
        return last if mark == "%%" or not body[2:].strip() else 0

    def _html(self, at: int, last: int, body: str, nodes: list[Node]) -> int | None:
        if not grammar.HTML_BLOCK.match(body) and not grammar.HTML_LINE.match(body):
            return None
        closing = next((end for begin, end in grammar.HTML_ENDS if begin.match(body)), None)
        end = at + 1
        if closing is None:
            while end < last and self.lines[end]:
                end += 1
        elif not closing.search(body):
            while end < last and not closing.search(self.lines[end]):
                end += 1
            end = min(end + 1, last)
        start, stop = self.start(at), self.ends[end - 1]
        nodes.append(Node("html", start, stop))
        if body.startswith("<!--"):
            self.found.comments.append(Range("html", start, stop))
        return end

    def _table(self, at: int, last: int, nodes: list[Node]) -> int | None:
        end = tables.table_end(self.lines, at, last)
        if not end:
            return None
        nodes.append(Node("table", self.start(at), self.ends[end - 1]))
        for row in (at, *range(at + 2, end)):
            line = self.lines[row]
            if TRIGGER.search(line):
                base = self.start(row)
                for begin, stop in tables.cells(line):
                    self._scan(line[begin:stop], base + begin)
        return end

    def _scan(self, text: str, base: int) -> None:
        if TRIGGER.search(text):
            self.inline.scan(text, Place(base))

    def _scan_lines(self, first: int, last: int) -> str:
        """Read whole lines as one text, and return it."""
        lines = self.lines
        text = lines[first] if last - first == 1 else "\n".join(lines[first:last])
        if TRIGGER.search(text):
            self.inline.scan(text, self._place(first, last, len(text)))
        return text

    def _place(self, first: int, last: int, length: int) -> Place:
        start = self.start(first)
        if self.ends[last - 1] - start == length:
            return Place(start)
        breaks = [0]
        for line in self.lines[first : last - 1]:
            breaks.append(breaks[-1] + len(line) + 1)
        return Place(start, breaks, [self.start(at) for at in range(first, last)])
