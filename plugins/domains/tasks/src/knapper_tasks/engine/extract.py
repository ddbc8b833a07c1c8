"""Extract: the tasks of a note, for the index."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from knapper_tasks.row import TaskRow

from .fallback import date_of_name
from .line import parse_line
from .settings import Settings

_FENCE = re.compile(r"[\s>]*(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_COMMENT = re.compile(r"<!--|-->|%%")


class Heading(NamedTuple):
    """A heading and the line it stands on."""

    line: int
    text: str


def extract(
    path: str,
    text: str | Sequence[str],
    settings: Settings,
    *,
    lines: Iterable[int] | None = None,
    headings: Iterable[Heading | tuple[int, str]] | None = None,
) -> list[TaskRow]:
    """The tasks of a note in order.

    A Markdown parser's answers may be handed in: `lines`, where list items stand (code and comments left
    out), and `headings`. What is not handed in is found by scanning the lines here.
    """
    content = text.split("\n") if isinstance(text, str) else text
    if lines is None or headings is None:
        scanned = _scan(content)
        lines = scanned.lines if lines is None else lines
        headings = scanned.headings if headings is None else headings
    above = _Above(headings)
    fallback = date_of_name(path, settings)
    rows = (
        parse_line(
            content[number].rstrip("\r"),
            settings,
            path=path,
            line=number,
            heading=above.heading(number),
            fallback=fallback,
        )
        for number in sorted(set(lines))
    )
    return [row for row in rows if row is not None]


class _Above:
    """The headings above lines that are asked for in ascending order."""

    def __init__(self, headings: Iterable[tuple[int, str]]) -> None:
        self._coming = sorted(headings, reverse=True)
        self._text: str | None = None

    def heading(self, line: int) -> str | None:
        while self._coming and self._coming[-1][0] < line:
            self._text = self._coming.pop()[1]
        return self._text


class _Scanned(NamedTuple):
    lines: list[int]
    headings: list[Heading]


def _scan(content: Sequence[str]) -> _Scanned:
    scanned = _Scanned([], [])
    fence = comment = ""
    for number in range(_after_frontmatter(content), len(content)):
        line = content[number].rstrip("\r")
        if fence:
            if line.strip(" \t>").startswith(fence) and not line.strip(" \t>").strip(fence[0]):
                fence = ""
        elif not comment and (found := _FENCE.match(line)) and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        else:
            before, comment = comment, _comment_after(line, comment)
            if not before:
                _note(line, number, scanned)
    return scanned


def _note(line: str, number: int, scanned: _Scanned) -> None:
    if heading := _HEADING.match(line):
        scanned.headings.append(Heading(number, (heading[1] or "").strip()))
    elif "[" in line:
        scanned.lines.append(number)


def _after_frontmatter(content: Sequence[str]) -> int:
    if not content or content[0].rstrip() != "---":
        return 0
    return next((number + 1 for number, line in enumerate(content) if number and line.rstrip() == "---"), 0)


def _comment_after(line: str, comment: str) -> str:
    """The end of the block comment that a line leaves open, or nothing."""
    ends = {"<!--": "-->", "%%": "%%"}
    for sign in _COMMENT.findall(line):
        if comment:
            comment = "" if sign == comment else comment
        elif sign in ends:
            comment = ends[sign]
    return comment
