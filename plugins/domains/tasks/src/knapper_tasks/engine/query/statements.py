"""Statements: the lines of a query, with those that end in a backslash joined."""

from collections.abc import Iterator
from typing import NamedTuple


class Statement(NamedTuple):
    """One instruction and the number (from 1) of the line on which it begins."""

    text: str
    number: int


def statements(source: str) -> Iterator[Statement]:
    """The instructions of a source; empty ones are left out."""
    text, number, continues = "", 1, False
    for index, line in enumerate(source.split("\n"), 1):
        line = line.rstrip("\r")
        escaped = line.endswith("\\\\")
        part = line.lstrip(" \t") if continues else line
        if escaped:
            part = part[:-1]
        elif line.endswith("\\"):
            part = part.removesuffix("\\").rstrip(" \t")
        text, number = (f"{text} {part}", number) if continues else (part, index)
        continues = line.endswith("\\") and not escaped
        if not continues and text.strip():
            yield Statement(text.strip(), number)
    if continues and text.strip():
        yield Statement(text.strip(), number)
