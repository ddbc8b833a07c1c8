"""The rows of a CSV file, its cells typed."""

from __future__ import annotations

import csv
import io
import re

from knapper_dataview.engine.inline_fields import frontmatter_value
from knapper_dataview.engine.numbers import parse_number
from knapper_dataview.engine.values import Record, canonical_name

_NUMBER = re.compile(r"\s*-?(?:\d+\.?|\.\d+|\d+\.\d+)(?:[eE][-+]?\d+)?\s*$", re.ASCII)
_BOOLEANS = {"true": True, "TRUE": True, "false": False, "FALSE": False}


def csv_rows(text: str) -> list[Record]:
    """One record a line, under the header's names and their canonical ones; `#` begins a comment line."""
    lines = [
        line for line in text.removeprefix("\ufeff").splitlines(keepends=True) if not line.startswith("#")
    ]
    reader = csv.reader(io.StringIO("".join(lines)), delimiter=_delimiter(lines))
    header = next(reader, [])
    return [_record(header, cells) for cells in reader if cells and cells != [""]]


def _delimiter(lines: list[str]) -> str:
    first = lines[0] if lines else ""
    return max(",\t|;", key=lambda sign: (first.count(sign), sign == ","))


def _record(header: list[str], cells: list[str]) -> Record:
    record = Record()
    for name, cell in zip(header, cells, strict=False):
        value = _cell(cell)
        record[name] = value
        record[canonical_name(name)] = value
    return record


def _cell(text: str) -> object:
    if not text:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return parse_number(text) if _NUMBER.match(text) else frontmatter_value(text)
