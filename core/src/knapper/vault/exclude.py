"""Which files are left out of the vault: patterns as in .gitignore, the last that matches decides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from knapper.vault import paths

LONGEST = 512
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class Pattern(NamedTuple):
    """One line: what it matches, whether only folders, and whether it takes back what an earlier one left out."""

    regex: re.Pattern[str]
    folders_only: bool
    takes_back: bool


class Excluded:
    """The patterns of one vault. A wrong one is a ValueError that says what is wrong with it."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self.lines = [line for line in patterns if not line.startswith("#")]
        self._patterns = [_compiled(line) for line in self.lines][::-1]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def matches(self, path: str, *, folder: bool) -> bool:
        """Whether this file or folder is left out, in a folder that is not."""
        subject = paths.nfc(path)
        for pattern in self._patterns:
            if (folder or not pattern.folders_only) and pattern.regex.fullmatch(subject):
                return not pattern.takes_back
        return False

    def covers(self, path: str, *, folder: bool) -> bool:
        """Whether this file or folder is left out, be it with a folder that it is in: from there nothing comes back."""
        if not self._patterns:
            return False
        parts = path.split("/")
        above = ("/".join(parts[:n]) for n in range(1, len(parts)))
        return any(self.matches(one, folder=True) for one in above) or self.matches(path, folder=folder)


def _compiled(line: str) -> Pattern:
    if len(line) > LONGEST:
        raise ValueError(f"the pattern {line[:32]!r}… is longer than {LONGEST} characters")
    pattern = paths.nfc(re.sub(r"(?<!\\)\s+$", "", line))
    takes_back = pattern.startswith("!")
    pattern = pattern[takes_back:]
    folders_only = pattern.endswith("/")
    pattern = pattern.rstrip("/") if folders_only else pattern
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        raise ValueError(f"the pattern {line!r} names nothing")
    body = _segments(pattern.split("/"), line)
    return Pattern(re.compile(body if anchored else f"(?:.*/)?{body}", re.DOTALL), folders_only, takes_back)


def _segments(segments: list[str], line: str) -> str:
    """`**` as a whole segment stands for any number of folders; at the end for everything inside."""
    found = ""
    last = len(segments) - 1
    for n, segment in enumerate(segments):
        if segment == "**":
            found += ".+" if n == last else "(?:.*/)?"
        else:
            found += _segment(segment, line) + ("" if n == last else "/")
    return found


def _segment(segment: str, line: str) -> str:
    found, at = "", 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            while segment[at : at + 1] == "*":
                at += 1
            found += "[^/]*"
        elif char == "?":
            found += "[^/]"
        elif char == "[":
            piece, at = _bracket(segment, at, line)
            found += piece
        elif char == "\\":
            if at == len(segment):
                raise ValueError(f"the pattern {line!r} ends in a backslash")
            found += re.escape(segment[at])
            at += 1
        else:
            found += re.escape(char)
    return found


def _bracket(segment: str, at: int, line: str) -> tuple[str, int]:
    """The class that begins after `[`, and where the pattern goes on."""
    negated = segment[at : at + 1] in ("!", "^")
    at += negated
    found, first = "", True
    while at < len(segment) and (segment[at] != "]" or first):
        first = False
        if segment.startswith("[:", at) and (end := segment.find(":]", at)) > 0:
            if (name := segment[at + 2 : end]) not in _CLASSES:
                raise ValueError(f"the pattern {line!r} names an unknown class {name!r}")
            found, at = found + _CLASSES[name], end + 2
            continue
        low, at = _character(segment, at, line)
        if segment[at : at + 1] == "-" and segment[at + 1 : at + 2] not in ("]", ""):
            high, at = _character(segment, at + 1, line)
            found += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        else:
            found += re.escape(low)
    if at >= len(segment):
        raise ValueError(f"the pattern {line!r} has a [ without its ]")
    if not found:
        return "[^/]" if negated else "(?!)", at + 1
    return (f"(?!/)[^{found}]" if negated else f"(?!/)[{found}]"), at + 1


def _character(segment: str, at: int, line: str) -> tuple[str, int]:
    if segment[at] == "\\":
        at += 1
    if at >= len(segment):
        raise ValueError(f"the pattern {line!r} ends in a backslash")
    return segment[at], at + 1
