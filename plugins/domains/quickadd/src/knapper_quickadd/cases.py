"""Cases: what the option `case:` of a value does to it."""

from __future__ import annotations

import re
from collections.abc import Callable

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+|[^\W_]+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _camel(text: str) -> str:
    first, *rest = _words(text) or [""]
    return first.lower() + "".join(word.capitalize() for word in rest)


CASES: dict[str, Callable[[str], str]] = {
    "kebab": lambda text: "-".join(_words(text)).lower(),
    "snake": lambda text: "_".join(_words(text)).lower(),
    "camel": _camel,
    "pascal": lambda text: "".join(word.capitalize() for word in _words(text)),
    "title": lambda text: re.sub(r"\S+", lambda word: word[0][:1].upper() + word[0][1:].lower(), text),
    "lower": str.lower,
    "upper": str.upper,
    "slug": lambda text: "-".join(_words(text)).lower(),
}
