"""Lists: which lines belong to which item, and what is left of them inside it.

This follows the list algorithm Obsidian's cache is made with, which is older than CommonMark's: an item keeps lazy
lines of almost any kind, and the indentation taken from its lines is the least that all of them have.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from knapper.vault.markdown.grammar import RULE

LIST_START = re.compile(r"[ \t]*(?:[*+-]|[0-9]+[.)])(?:[ \t]|$)")
TASK = re.compile(r"\[(.)\][ \t]")
_MARKER = re.compile(r"[ \t]*(?:[*+-]|[0-9]+[.)])")
_BULLET = re.compile(r"([ \t]*)([*+-]|[0-9]+[.)])( {1,4}(?! )| |\t|$)")


class Item(NamedTuple):
    """The lines of an item; with a tail, the first blank line after them too."""

    first: int
    last: int
    tail: bool


def split_items(lines: list[str], first: int, last: int, ends: Callable[[int], bool]) -> list[Item]:
    """The items of the list that begins at `first`; `ends` tells whether a line that is not indented ends it."""
    items: list[Item] = []
    kind = ""
    begin = end = first
    indent = 0
    blank = was_blank = False
    for at in range(first, last):
        line = lines[at]
        was_blank, blank = blank, False
        size = _columns(line)
        marker = ""
        if not kind or size < indent:
            marker, size = _read_marker(line, size)
        if marker:
            if (kind and marker != kind) or (marker in "*-" and RULE.match(line.lstrip(" \t"))):
                break
            if kind:
                items.append(Item(begin, end, end < at))
            kind, begin, end, indent = marker, at, at + 1, size
            continue
        blank = not line or line.isspace()
        if size >= indent or size > 4:
            end = at + 1
        elif not blank:
            if was_blank or ends(at):
                break
            end = at + 1
    items.append(Item(begin, end, False))
    return items


def open_item(lines: list[str], item: Item) -> str | None:
    """Take marker, checkbox and indentation off an item's lines; the character of its checkbox."""
    line = lines[item.first]
    match = _BULLET.match(line)
    if match is None:
        return None
    space, mark, gap = match.groups()
    rest = line[match.end() :]
    task = TASK.match(rest)
    lines[item.first] = rest[task.end() :] if task else rest
    if item.last + item.tail > item.first + 1:
        # "1. " to "9. " let their lines indent by four, but "1) " does not: the app reads the mark as a number.
        wider = mark[-1] == "." and float(mark) < 10 and match.end() % 2 == 1
        _outdent(
            lines, item.first + 1, item.last + item.tail, _columns(space + " " * (len(mark) + wider) + gap)
        )
    return task[1] if task else None


def _outdent(lines: list[str], first: int, last: int, columns: int) -> None:
    for at in range(first, last):
        line = lines[at]
        if line and not line.isspace():
            columns = min(columns, _columns(line))
            if not columns:
                return
    for at in range(first, last):
        lines[at] = outdented(lines[at], columns)


def outdented(line: str, columns: int) -> str:
    """A line without its first columns of indentation, or without all where it has less."""
    if "\t" not in line[:columns]:
        return line[min(columns, len(line) - len(line.lstrip(" "))) :]
    size = 0
    for at, char in enumerate(line):
        if size >= columns or char not in " \t":
            return line[at:]
        size += 4 - size % 4 if char == "\t" else 1
    return ""


def _columns(line: str) -> int:
    """How far a line is indented, with tab stops of four."""
    if line[:1] not in (" ", "\t"):
        return 0
    space = line[: len(line) - len(line.lstrip(" \t"))]
    if "\t" not in space:
        return len(space)
    size = 0
    for char in space:
        size += 4 - size % 4 if char == "\t" else 1
    return size


def _read_marker(line: str, indent: int) -> tuple[str, int]:
    """The list marker a line begins with, "" for none, and the column its text begins at."""
    match = _MARKER.match(line)
    if match is None:
        return "", indent
    end = match.end()
    size = indent + len(match[0].lstrip(" \t"))
    after = line[end : end + 1]
    if not after:
        return line[end - 1], size
    if after == "\t":
        return line[end - 1], size + 4 - size % 4
    if after != " ":
        # No item, but what looked like a marker still counts as indentation: "1.5" continues an item.
        return "", size
    spaces = len(line) - end - len(line[end:].lstrip(" "))
    return line[end - 1], size + (1 if spaces > 4 else spaces)
