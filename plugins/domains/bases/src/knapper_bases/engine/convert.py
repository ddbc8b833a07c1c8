"""What stands in a note's frontmatter, as values of the language."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from knapper_bases.engine.dates import read_date
from knapper_bases.engine.run import Run
from knapper_bases.engine.values import Date, Link, Tag

Converter = Callable[[Any, str, Run], object]

_WIKILINK = re.compile(r"\s*\[\[((?:(?!\[\[|\]\])[^\n])+)\]\]\s*")
_MAY_BE_SPECIAL = frozenset("[0123456789 \t")
_KEPT = frozenset((bool, float, type(None)))
_TEXT_TYPES = frozenset(("text", "multitext", "aliases"))
_EXACT = 2**53

MISSING = object()


def lookup(properties: Mapping[str, Any], name: str, folded: str) -> Any:
    """Find a property, whatever the case of its name, or MISSING."""
    found = properties.get(name, MISSING)
    if found is MISSING:
        for key, value in properties.items():
            if len(key) == len(name) and key.casefold() == folded:
                return value
    return found


def converter(name: str, types: Mapping[str, str]) -> Converter:
    """Choose how the values of a property are read, by its name and registered type."""
    kind = types.get(name, "")
    if name == "tags" or kind == "tags":
        return _tags
    return _undated if kind in _TEXT_TYPES else _value


def convert_all(properties: Mapping[str, Any], source_path: str, run: Run) -> dict[str, object]:
    """Read a whole frontmatter."""
    run.budget.spend(len(properties))
    return {
        str(key): converter(str(key).casefold(), run.types)(raw, source_path, run)
        for key, raw in properties.items()
    }


def read_link(text: str, source_path: str) -> Link | None:
    """Read a text that is a wikilink and nothing else, or answer None."""
    found = _WIKILINK.fullmatch(text)
    if found is None:
        return None
    target, bar, display = found[1].partition("|")
    return Link(target.strip(), display.strip() if bar and display.strip() else None, source_path)


def _value(raw: Any, source_path: str, run: Run) -> object:
    if type(raw) is str:
        if not raw or raw[0] not in _MAY_BE_SPECIAL:
            return raw
        return read_link(raw, source_path) or _dated(raw, run)
    return _structured(raw, source_path, run, _value)


def _undated(raw: Any, source_path: str, run: Run) -> object:
    if type(raw) is str:
        return (read_link(raw, source_path) or raw) if raw[:1] in ("[", " ") else raw
    return _structured(raw, source_path, run, _undated)


def _tags(raw: Any, source_path: str, run: Run) -> object:
    if type(raw) is str:
        return Tag(raw.removeprefix("#"))
    return _structured(raw, source_path, run, _tags)


def _dated(raw: str, run: Run) -> object:
    # A year and month alone is what `date()` reads, but in frontmatter more often a version or a range.
    return (read_date(raw, run) or raw) if len(raw) >= 10 else raw


def _structured(raw: Any, source_path: str, run: Run, each: Converter) -> object:
    if type(raw) in _KEPT:
        return raw
    if type(raw) is int:
        return raw if -_EXACT < raw < _EXACT else _as_float(raw)
    if isinstance(raw, list | tuple):
        return [each(item, source_path, run) for item in raw]
    if isinstance(raw, Mapping):
        return {str(key): each(item, source_path, run) for key, item in raw.items()}
    if isinstance(raw, datetime):
        return Date(run.local(raw.timestamp()) if raw.tzinfo else raw, True)
    if isinstance(raw, date):
        return Date(datetime(raw.year, raw.month, raw.day), False)
    return str(raw)


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
