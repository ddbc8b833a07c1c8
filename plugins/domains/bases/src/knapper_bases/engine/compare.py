"""Truth, equality and order of values."""

import re
import unicodedata
from typing import Any

from knapper_bases.engine.convert import read_link
from knapper_bases.engine.dates import read_date, read_duration, total
from knapper_bases.engine.run import Run
from knapper_bases.engine.text import text
from knapper_bases.engine.values import Date, Duration, File, Link, Regexp, Tag

_PLAIN = frozenset((str, int, float, bool, type(None)))
_NUMBERS = frozenset((int, float))
_DIGITS = re.compile(r"(\d+)")


def truthy(value: object) -> bool:
    """Tell whether a value counts as true."""
    if isinstance(value, float):
        return value == value and value != 0
    if isinstance(value, Duration):
        return total(value) != 0
    return bool(value) if value is None or isinstance(value, int | str | list | dict) else True


def empty(value: object) -> bool:
    """Tell whether a value is absent: null, or a text, list or object without content."""
    return value is None or (isinstance(value, str | list | dict) and not value)


def equal(a: object, b: object, run: Run) -> bool:
    """Tell whether two values are loosely equal."""
    ta, tb = type(a), type(b)
    if ta is tb and ta in _PLAIN:
        return a == b
    if ta in _NUMBERS and tb in _NUMBERS:
        return a == b
    if a is None or b is None or ta in _NUMBERS or tb in _NUMBERS:
        return isinstance(a, Duration) and isinstance(b, int | float) and total(a) == b
    if isinstance(a, Link | File) or isinstance(b, Link | File):
        return _same_target(a, b, run)
    if isinstance(a, Date) or isinstance(b, Date):
        return _same_date(a, b, run)
    if isinstance(a, str) and isinstance(b, str):
        return _folded_tag(a) == _folded_tag(b) if Tag in (ta, tb) else a == b
    return _same_structure(a, b, run)


def compare(a: object, b: object, run: Run) -> int | None:
    """Order two values: -1, 0 or 1, or None where they have no order."""
    if type(a) in _NUMBERS and type(b) in _NUMBERS:
        return _sign(a, b)
    if isinstance(a, Date) or isinstance(b, Date):
        one, other = _as_date(a, run), _as_date(b, run)
        return _sign(one.when, other.when) if one and other else None
    if isinstance(a, Duration) or isinstance(b, Duration):
        length, than = _as_length(a), _as_length(b)
        return None if length is None or than is None else _sign(length, than)
    if isinstance(a, bool) and isinstance(b, bool):
        return _sign(a, b)
    one_text, other_text = string_of(a), string_of(b)
    return None if one_text is None or other_text is None else _sign(one_text, other_text)


def string_of(value: object) -> str | None:
    """Give the string that a value is, as a link is its target, or None."""
    if isinstance(value, str):
        return str(value)
    return value.target if isinstance(value, Link) else None


def sort_key(value: object, run: Run) -> tuple[int, Any]:
    """Give a key that orders values of all types: booleans, numbers, dates, durations, texts, lists."""
    kind = type(value)
    if kind is str:
        return 4, collation(str(value))
    if kind is int or kind is float:
        return 1, value if value == value else float("-inf")
    if kind is bool:
        return 0, value
    if isinstance(value, Date):
        return 2, value.when
    if isinstance(value, Duration):
        return 3, total(value)
    if isinstance(value, list):
        run.budget.spend(len(value) + 1)
        return 5, [sort_key(item, run) for item in value if item is not None]
    return 4, collation(_shown(value, run))


def collation(written: str) -> tuple[tuple[str | int, ...], str]:
    """Give the key of a text in a reader's order: case and accents last, numbers by their size."""
    folded = written.casefold()
    if not folded.isascii():
        folded = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c))
    parts = _DIGITS.split(folded)
    if len(parts) == 1:
        return (folded,), written.swapcase()
    numbered = (int(part[:300]) if place % 2 else part for place, part in enumerate(parts))
    return tuple(numbered), written.swapcase()


def identity(value: object, run: Run) -> tuple[str, str]:
    """Give what makes a value one of a kind to `unique` and to grouping: its type and its text."""
    kind = "Number" if type(value) in _NUMBERS else type(value).__name__
    return kind, text(value, run.budget)


def tag_matches(tag: str, wanted: str) -> bool:
    """Tell whether a tag is the wanted one or nested in it."""
    have, want = _folded_tag(tag), _folded_tag(wanted)
    return have == want or have.startswith(f"{want}/")


def _shown(value: object, run: Run) -> str:
    if isinstance(value, File):
        return value.name
    if isinstance(value, Link):
        return text(value.display, run.budget) if value.display is not None else value.target
    return text(value, run.budget)


def _folded_tag(tag: str) -> str:
    return tag.removeprefix("#").casefold()


def _same_target(a: object, b: object, run: Run) -> bool:
    one, other = _as_target(a), _as_target(b)
    if one is None or other is None:
        return False
    path = one.path if isinstance(one, File) else run.resolve(one)
    than = other.path if isinstance(other, File) else run.resolve(other)
    if path is None and than is None:
        return isinstance(one, Link) and isinstance(other, Link) and one.target == other.target
    return path == than


def _as_target(value: object) -> Link | File | None:
    if isinstance(value, Link | File):
        return value
    return read_link(value, "") if isinstance(value, str) else None


def _same_date(a: object, b: object, run: Run) -> bool:
    one, other = _as_date(a, run), _as_date(b, run)
    if one is None or other is None:
        return False
    if one.timed and other.timed:
        return one.when == other.when
    return one.when.date() == other.when.date()


def _same_structure(a: object, b: object, run: Run) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        run.budget.spend(len(a) + 1)
        return len(a) == len(b) and all(equal(x, y, run) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        run.budget.spend(len(a) + 1)
        return a.keys() == b.keys() and all(equal(item, b[key], run) for key, item in a.items())
    if isinstance(a, Duration) and isinstance(b, Duration):
        return total(a) == total(b)
    if isinstance(a, Regexp) and isinstance(b, Regexp):
        return (a.source, a.flags) == (b.source, b.flags)
    return False


def _as_date(value: object, run: Run) -> Date | None:
    if isinstance(value, str):
        return read_date(value, run)
    return value if isinstance(value, Date) else None


def _as_length(value: object) -> float | None:
    if isinstance(value, str):
        value = read_duration(value)
    if isinstance(value, Duration):
        return total(value)
    # Older bases compare the difference of two dates with a number of milliseconds.
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _sign(a: Any, b: Any) -> int | None:
    if a < b:
        return -1
    if a > b:
        return 1
    return 0 if a == b else None
