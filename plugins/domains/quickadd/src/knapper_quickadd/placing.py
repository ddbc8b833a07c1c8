"""Placing: where a capture goes in a note's text; no line that is there is ever run into."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from knapper import ToolError
from knapper.vault.insert import insert
from knapper.vault.markdown import parse
from knapper_quickadd.choices import flag, text
from knapper_quickadd.sources import NeedsPlugin

_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")


class Anchored(NamedTuple):
    """A capture beside a line: the line's text with its formats filled in, and the settings about it."""

    line: str
    rules: dict[str, Any]
    before: bool = False


def at_edge(note: str, content: str, *, top: bool) -> str:
    """The note with a capture at its top, behind the frontmatter, or at its bottom."""
    return insert(note, content, at_start=top, after_frontmatter=True, own_line=True)


def beside(note: str, content: str, anchored: Anchored) -> str:
    """The note with a capture before or after the line that holds a text."""
    lines = note.split("\n")
    found = _find(lines, anchored.line, _body(note))
    if found is None:
        return _without_line(note, content, anchored)
    if flag(anchored.rules, "inline") and not anchored.before:
        lines[found] = _inline(lines[found], content, anchored)
        return "\n".join(lines)
    at = found if anchored.before else _place(lines, found, anchored.rules)
    added = content.removesuffix("\n").split("\n")
    return "\n".join([*lines[:at], *added, *lines[at:]])


def _body(note: str) -> int:
    """The first line behind the frontmatter, in which nothing is captured."""
    parsed = parse(note)
    return parsed.line(parsed.body) if parsed.frontmatter_span else 0


def _find(lines: list[str], wanted: str, first: int) -> int | None:
    """The line that is this text, else the first that holds it."""
    for fits in (lambda line: line.strip() == wanted.strip(), lambda line: wanted.strip() in line):
        found = next((n for n, line in enumerate(lines) if n >= first and fits(line)), None)
        if found is not None:
            return found
    return None


def _place(lines: list[str], found: int, rules: dict[str, Any]) -> int:
    """The line that a capture after another one becomes."""
    if flag(rules, "insertAtEnd"):
        return _end_of_section(lines, found, flag(rules, "considerSubsections"))
    mode = text(rules, "blankLineAfterMatchMode", "none")
    at = found + 1
    if mode == "skip" or (mode == "auto" and _level(lines[found])):
        while at < len(lines) - 1 and not lines[at].strip():
            at += 1
        if not lines[at : at + 1] or not lines[at].strip():
            at = found + 1
    return at


def _end_of_section(lines: list[str], found: int, with_deeper: bool) -> int:
    """Behind the last line with text before the next heading; deeper ones may belong to the section."""
    own = _level(lines[found])
    headings = _headings(lines)
    end = next(
        (n for n in sorted(headings) if n > found and not (with_deeper and own and headings[n] > own)),
        len(lines),
    )
    while end - 1 > found and not lines[end - 1].strip():
        end -= 1
    return end


def _headings(lines: list[str]) -> dict[int, int]:
    """The levels of the headings by line; what looks like one in code is none."""
    return {heading.line: heading.level for heading in parse("\n".join(lines)).headings}


def _level(line: str) -> int:
    found = _HEADING.match(line)
    return len(found[1]) if found else 0


def _inline(line: str, content: str, anchored: Anchored) -> str:
    if "\n" in content.removesuffix("\n"):
        raise ToolError("invalid_input", "a capture within a line has no line breaks", field="args")
    at = line.index(anchored.line.strip()) + len(anchored.line.strip())
    rest = "" if flag(anchored.rules, "replaceExisting") else line[at:]
    return line[:at] + content.removesuffix("\n") + rest


def _without_line(note: str, content: str, anchored: Anchored) -> str:
    """What becomes of a capture whose line is not there."""
    if not flag(anchored.rules, "createIfNotFound"):
        message = f"no line holds {anchored.line[:200]!r}, and the choice does not create it"
        raise ToolError("invalid_input", message, line=anchored.line[:200])
    where = text(anchored.rules, "createIfNotFoundLocation", "top")
    if where not in ("top", "bottom"):
        raise NeedsPlugin(f"creating a line at {where!r}")
    glue = "" if flag(anchored.rules, "inline") and not anchored.before else "\n"
    parts = (content.removesuffix("\n"), anchored.line) if anchored.before else (anchored.line, content)
    return at_edge(note, glue.join(parts), top=where == "top")
