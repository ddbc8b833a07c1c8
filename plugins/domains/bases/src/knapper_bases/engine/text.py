"""Values as texts, and as JSON."""

import math

from knapper_bases.engine.budget import Budget
from knapper_bases.engine.dates import date_text, humanized
from knapper_bases.engine.errors import BasesError
from knapper_bases.engine.values import Date, Duration, File, Image, Link, Regexp, RelativeDate


def text(value: object, budget: Budget) -> str:
    """Write a value as `toString` does; null is empty."""
    if isinstance(value, str):
        return f"![]({value})" if isinstance(value, Image) else str(value)
    if isinstance(value, list):
        return joined(value, ", ", budget)
    if isinstance(value, dict):
        return (
            "{" + joined([f"{key}: {text(item, budget)}" for key, item in value.items()], ", ", budget) + "}"
        )
    if isinstance(value, Link):
        return link_text(value, budget)
    return _simple_text(value)


def joined(items: list[object], separator: str, budget: Budget) -> str:
    """Join the texts of a list's items."""
    budget.spend(len(items) + 1)
    texts = [text(item, budget) for item in items]
    budget.check_length(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def link_text(link: Link, budget: Budget) -> str:
    """Write a link as a wikilink."""
    if link.display is None:
        return f"[[{link.target}]]"
    return f"[[{link.target}|{text(link.display, budget)}]]"


def number_text(number: float) -> str:
    """Write a number as JavaScript does."""
    if isinstance(number, int):
        return str(number)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    written = repr(number)
    if "e" not in written:
        return written
    digits, _, exponent = written.partition("e")
    if -6 <= int(exponent) < 0:
        return f"{number:.{len(digits.replace('.', '').lstrip('-')) - int(exponent) - 1}f}"
    return f"{digits}e{int(exponent):+d}"


def plain(value: object, budget: Budget) -> object:
    """Give a value as JSON: numbers, booleans, null, lists and objects as they are, all else as text."""
    if isinstance(value, BasesError):
        return {"error": value.message}
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _plain_number(value)
    if isinstance(value, list):
        budget.spend(len(value) + 1)
        return [plain(item, budget) for item in value]
    if isinstance(value, dict):
        budget.spend(len(value) + 1)
        return {key: plain(item, budget) for key, item in value.items()}
    return value.target if isinstance(value, Link) else text(value, budget)


def _simple_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, RelativeDate):
        return value.shown
    if isinstance(value, Date):
        return date_text(value)
    if isinstance(value, Duration):
        return humanized(value)
    if isinstance(value, File):
        return value.path
    if isinstance(value, Regexp):
        return f"/{value.source}/{value.flags}"
    raise TypeError(f"{type(value).__name__} is no value of the language")


def _plain_number(number: float) -> object:
    if isinstance(number, int):
        return number
    if not math.isfinite(number):
        return number_text(number)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
