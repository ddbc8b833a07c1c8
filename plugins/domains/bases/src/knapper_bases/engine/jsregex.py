"""JavaScript's regular expressions on the `regex` module, which can be stopped by a clock."""

from collections.abc import Callable
from typing import Any, TypeVar

import regex

from knapper.repetition import repeats_too_much
from knapper_bases.engine.budget import Budget
from knapper_bases.engine.errors import BasesError, BudgetExceeded
from knapper_bases.engine.values import Regexp

SLOWEST = 0.25
LONGEST_PATTERN = 1_000

_T = TypeVar("_T")
_WORD = "A-Za-z0-9_"
_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}
_KNOWN_FLAGS = frozenset("dgimsuvy")
_OUTSIDE = {
    "d": "[0-9]",
    "D": "[^0-9]",
    "w": f"[{_WORD}]",
    "W": f"[^{_WORD}]",
    "b": f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    "B": f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
}
_INSIDE = {"d": "0-9", "w": _WORD, "b": "\\x08"}
_SAME_MEANING = frozenset("sSnrtvfxupPkDW0123456789")
_REPLACEMENT = regex.compile(r"\$(?:(\$)|(&)|(\d\d?)|<([^>]+)>)")


def compiled(source: str, flags: str) -> Regexp:
    """Compile a pattern; one that cannot be compiled is an error that says why."""
    if unknown := set(flags) - _KNOWN_FLAGS:
        raise BasesError(f"Unknown regular expression flag {min(unknown)!r}")
    if len(source) > LONGEST_PATTERN:
        raise BasesError(f"The regular expression is longer than {LONGEST_PATTERN} characters")
    if repeats_too_much(source):
        raise BasesError(f"The regular expression /{source}/ repeats too much")
    options = regex.V0
    for flag in set(flags) & _FLAGS.keys():
        options |= _FLAGS[flag]
    try:
        return Regexp(source, flags, regex.compile(_translated(source, "m" in flags), options))
    except regex.error as wrong:
        raise BasesError(f"Invalid regular expression /{source}/: {wrong}") from None


def matches(pattern: Regexp, text: str, budget: Budget) -> bool:
    """Tell whether the pattern is found in the text."""
    return _timed(budget, lambda left: pattern.pattern.search(text, timeout=left)) is not None


def replaced(pattern: Regexp, text: str, replacement: str, budget: Budget) -> str:
    """Replace the first match, or with the flag `g` every match."""
    count = 0 if "g" in pattern.flags else 1
    length = len(text)

    def expanded(found: Any) -> str:
        nonlocal length
        new = _REPLACEMENT.sub(lambda reference: _group(found, reference), replacement)
        length += len(new)
        budget.check_length(length)
        return new

    return _timed(budget, lambda left: pattern.pattern.sub(expanded, text, count=count, timeout=left))


def pieces(pattern: Regexp, text: str, budget: Budget) -> list[str]:
    """Split a text at the matches; captured groups become pieces as in JavaScript."""
    if not text:
        return [] if matches(pattern, text, budget) else [""]
    found: list[str] = []
    start = 0
    for match in _timed(budget, lambda left: list(pattern.pattern.finditer(text, timeout=left))):
        if match.end() == start or (match.start() == match.end() and match.end() == len(text)):
            continue
        found += [text[start : match.start()], *(group or "" for group in match.groups())]
        start = match.end()
    return [*found, text[start:]]


def _timed(budget: Budget, work: Callable[[float], _T]) -> _T:
    budget.spend(10)
    try:
        return work(min(SLOWEST, max(0.001, budget.seconds_left)))
    except TimeoutError:
        raise BudgetExceeded("The regular expression takes too long on this text") from None


def _group(found: Any, reference: Any) -> str:
    dollar, whole, number, name = reference.groups()
    if dollar:
        return "$"
    if whole:
        return str(found[0])
    if name:
        return str(found[name] or "") if name in found.re.groupindex else str(reference[0])
    groups = found.re.groups
    if 0 < int(number) <= groups:
        return str(found[int(number)] or "")
    if len(number) == 2 and 0 < int(number[0]) <= groups:
        return f"{found[int(number[0])] or ''}{number[1]}"
    return str(reference[0])


def _translated(source: str, multiline: bool) -> str:
    out: list[str] = []
    inside, place = False, 0
    while place < len(source):
        char = source[place]
        if char == "\\" and place + 1 < len(source):
            piece, used = _escape(source, place, inside)
        elif inside:
            piece, used = ("\\[" if char == "[" else char), 1
            inside = char != "]"
        else:
            piece, used, inside = _unescaped(source, place, multiline)
        out.append(piece)
        place += used
    return "".join(out)


def _unescaped(source: str, place: int, multiline: bool) -> tuple[str, int, bool]:
    if source.startswith("[^]", place):
        return "(?s:.)", 3, False
    if source.startswith("[]", place):
        return "(?!)", 2, False
    if source[place] == "$" and not multiline:
        return "\\Z", 1, False
    return source[place], 1, source[place] == "["


def _escape(source: str, place: int, inside: bool) -> tuple[str, int]:
    letter = source[place + 1]
    if source.startswith("\\u{", place) and (end := source.find("}", place)) > 0:
        code = source[place + 3 : end]
        if code and all(digit in "0123456789abcdefABCDEF" for digit in code) and int(code, 16) <= 0x10FFFF:
            return f"\\U{int(code, 16):08x}", end - place + 1
    if source.startswith("\\k<", place) and not inside:
        return "\\g<", 3
    if letter == "c" and place + 2 < len(source):
        return f"\\x{ord(source[place + 2]) % 32:02x}", 3
    meaning = (_INSIDE if inside else _OUTSIDE).get(letter)
    if meaning is not None:
        return meaning, 2
    if letter in _SAME_MEANING or not letter.isalpha():
        return f"\\{letter}", 2
    return letter, 2
