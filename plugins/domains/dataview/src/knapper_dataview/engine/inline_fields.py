"""Inline fields in a line of text, and the typing of their values."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import regex

from knapper_dataview.engine.cursor import Cursor
from knapper_dataview.engine.dates import match_date, parse_date
from knapper_dataview.engine.durations import match_duration, parse_duration
from knapper_dataview.engine.expression_parser import link, string
from knapper_dataview.engine.numbers import parse_number
from knapper_dataview.engine.query_parser import TAG
from knapper_dataview.engine.values import EMOJI

_SIGNS = {"[": regex.compile(r"\\.|[\[\]]", regex.DOTALL), "(": regex.compile(r"\\.|[()]", regex.DOTALL)}
_FULL_KEY = regex.compile(rf"[^0-9A-Za-z_\p{{L}}]*+((?:{EMOJI}|[0-9A-Za-z_\p{{L}}\s/-]++)*+)[_*~`]*+")
_SHORTHANDS = [
    (key, regex.compile(rf"(?:{signs})\s*([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"))
    for key, signs in (
        ("created", "➕"),
        ("start", "🛫"),
        ("scheduled", "[⏳⌛]"),
        ("due", "📅|📆|🗓\ufe0f?"),
        ("completion", "✅"),
    )
]
_ANY_SHORTHAND = regex.compile("[➕🛫⏳⌛📅📆🗓✅]")


class InlineField(NamedTuple):
    """A field as it is written, with the columns it covers."""

    key: str
    value: str
    start: int
    end: int


def bracketed_fields(line: str, shorthands: bool = False) -> list[InlineField]:
    """The `[key:: value]` and `(key:: value)` of a line, and for tasks the dates behind emoji, in order.

    A field that touches or overlaps the one before it is lost, as in Dataview.
    """
    found: list[InlineField] = []
    if "::" in line:
        for opening in _SIGNS:
            found.extend(_within(line, opening))
    if shorthands and _ANY_SHORTHAND.search(line):
        found.extend(_shorthands(line))
    found.sort(key=lambda field: field.start)
    kept: list[InlineField] = []
    for field in found:
        if not kept or kept[-1].end < field.start:
            kept.append(field)
    return kept


def _within(line: str, opening: str) -> list[InlineField]:
    found: list[InlineField] = []
    closing: _Closing | None = None
    start = line.find(opening)
    while start >= 0:
        separator = line.find("::", start + 1)
        if separator < 0:
            break
        inner = max(line.rfind(bracket, start + 1, separator) for bracket in "[]()")
        if inner >= 0:
            # No key holds a bracket, so nothing that begins before the last of them is a field.
            start = line.find(opening, inner)
            continue
        closing = closing or _Closing(line, opening)
        end = closing.of(separator + 2)
        if end is not None:
            value = line[separator + 2 : end].strip()
            found.append(InlineField(line[start + 1 : separator].strip(), value, start, end + 1))
        start = line.find(opening, start + 1 if end is None else end + 1)
    return found


class _Closing:
    """Where the brackets of a line close, found in one pass; a backslash takes a bracket out of the count."""

    def __init__(self, line: str, opening: str) -> None:
        self.places = [-1]
        depths = [0]
        for sign in _SIGNS[opening].finditer(line):
            if len(sign[0]) == 1:
                self.places.append(sign.start())
                depths.append(depths[-1] + (1 if sign[0] == opening else -1))
        self.below: list[int | None] = [None] * len(depths)
        waiting: list[int] = []
        for at, depth in enumerate(depths):
            while waiting and depths[waiting[-1]] > depth:
                self.below[waiting.pop()] = self.places[at]
            waiting.append(at)

    def of(self, start: int) -> int | None:
        """The place where what begins here is closed."""
        return self.below[bisect_left(self.places, start) - 1]


def _shorthands(line: str) -> list[InlineField]:
    return [
        InlineField(key, found[1], found.start(), found.end())
        for key, pattern in _SHORTHANDS
        if (found := pattern.search(line))
    ]


def full_line_field(line: str) -> InlineField | None:
    """`key:: value` over the whole line, Markdown around the key taken off."""
    separator = line.find("::")
    if separator < 0:
        return None
    key = _FULL_KEY.fullmatch(line[:separator].strip())
    return InlineField(key[1], line[separator + 2 :].strip(), 0, len(line)) if key else None


def line_fields(line: str) -> list[InlineField]:
    """The fields of a line outside lists: bracketed ones, else the whole line."""
    found = bracketed_fields(line)
    if found:
        return found
    whole = full_line_field(line)
    return [whole] if whole else []


_BOOLEAN = regex.compile(r"true|false|True|False")
_NUMBER = regex.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_TAG = regex.compile(TAG)
_NOTHING = object()


def inline_value(text: str) -> object:
    """The typed value of a field's text; dates without a zone come back naive."""
    if not text.strip():
        return None
    cursor = Cursor(text)
    first = _atom(cursor)
    if first is _NOTHING:
        return text
    if not cursor.between(","):
        return first if cursor.at_end() else text
    values = [first, *_further(cursor)]
    return values if cursor.at_end() else text


def _further(cursor: Cursor) -> list[object]:
    values: list[object] = []
    before = cursor.at
    while (value := _atom(cursor)) is not _NOTHING:
        values.append(value)
        before = cursor.at
        if not cursor.between(","):
            return values
    cursor.at = before
    return values


def _atom(cursor: Cursor) -> object:
    for parser in _ATOMS:
        value = parser(cursor)
        if value is not _NOTHING:
            return value
    return _NOTHING


def _date(cursor: Cursor) -> object:
    found = match_date(cursor.text, cursor.at)
    if found is None:
        return _NOTHING
    cursor.at = found[1]
    return found[0]


def _duration(cursor: Cursor) -> object:
    found = match_duration(cursor.text, cursor.at)
    if found is None:
        return _NOTHING
    cursor.at = found[1]
    return found[0].normalized()


def _string(cursor: Cursor) -> object:
    found = string(cursor)
    return _NOTHING if found is None else found


def _link(cursor: Cursor) -> object:
    found = link(cursor)
    return _NOTHING if found is None else found


def _pattern(pattern: regex.Pattern[str], read: Callable[[str], object]) -> Callable[[Cursor], object]:
    def parse(cursor: Cursor) -> object:
        found = cursor.take(pattern, "a value")
        return read(found[0]) if found else _NOTHING

    return parse


_ATOMS: tuple[Callable[[Cursor], object], ...] = (
    _date,
    _duration,
    _string,
    _pattern(_TAG, str),
    _link,
    _pattern(_BOOLEAN, lambda word: word.lower() == "true"),
    _pattern(_NUMBER, parse_number),
    # Dataview's grammar answers the word itself here, so the value is a text.
    _pattern(regex.compile("null"), str),
)

_WHOLE_LINK = regex.compile(r"!?\[\[[^\[\]]*\]\]")


def frontmatter_value(value: object) -> object:
    """A property's value: texts that are a date, a duration or a link become one, in lists and objects too."""
    if isinstance(value, str):
        return _property_text(value)
    if isinstance(value, list):
        return [frontmatter_value(element) for element in value]
    if isinstance(value, dict):
        return {str(key): frontmatter_value(element) for key, element in value.items()}
    return value if isinstance(value, (bool, int, float)) else None


def _property_text(text: str) -> object:
    if not text:
        return text
    if text[0].isdigit() or text[0] == "-":
        return parse_date(text) or parse_duration(text) or text
    return link(Cursor(text)) if _WHOLE_LINK.fullmatch(text) else text
