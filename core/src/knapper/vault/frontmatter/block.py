"""Where a note's frontmatter stands in its text."""

import re
from typing import NamedTuple

_OPEN = re.compile("\ufeff?---[ \t]*(\r?\n)")
_CLOSE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)


class Block(NamedTuple):
    """A frontmatter block: `text[start:end]` is what stands between its fences, `text[:after]` all of it."""

    start: int
    end: int
    after: int
    eol: str


def find(text: str) -> Block | None:
    """The frontmatter of a note: its first line is `---`, and a later line is too."""
    opening = _OPEN.match(text)
    if opening is None:
        return None
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        return None
    newline = text.find("\n", closing.start())
    after = len(text) if newline < 0 else newline + 1
    return Block(opening.end(), closing.start(), after, opening[1])
