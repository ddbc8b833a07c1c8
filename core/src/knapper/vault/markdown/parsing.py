"""From the text of a note to what it holds."""

import re
from itertools import accumulate

from knapper.vault.markdown.blocks import Blocks
from knapper.vault.markdown.model import Parsed, Section
from knapper.vault.markdown.properties import read_frontmatter

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def parse(text: str) -> Parsed:
    """Everything Obsidian's metadata cache holds of a note, and the code, comments and maths in it."""
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    starts.pop()
    found = Parsed(len(text), starts, _astral(text))
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
    ends = [start + len(line) for start, line in zip(starts, lines, strict=True)]
    first = read_frontmatter(text, found)
    if found.frontmatter_span:
        found.sections.append(Section("yaml", *found.frontmatter_span))
    elif text.startswith("\ufeff"):
        lines[0] = lines[0][1:]
    for node in Blocks(text, lines, ends, found).read(first, len(lines)):
        found.sections.append(Section(node.type, node.start, node.end, node.id))
        if node.id:
            found.add_block(node.id, node.start, node.end)
    return found


def _astral(text: str) -> list[int]:
    return [] if text.isascii() else [found.start() for found in _ASTRAL.finditer(text)]
