"""A place in the text being parsed, which remembers the furthest point reached and what was expected there."""

from __future__ import annotations

import regex

from knapper_dataview.engine.errors import DqlSyntaxError

_SPACE = regex.compile(r"\s*")
_SPACES = regex.compile(r"\s+")


class Cursor:
    """Parsers move `at` forward, or leave it and answer None.

    `hopeless` holds the places where no atom begins, so that a text with an error is not tried again from every level.
    """

    __slots__ = ("_expected", "_furthest", "at", "hopeless", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.hopeless: set[int] = set()
        self._furthest = 0
        self._expected: dict[str, None] = {}

    def missing(self, expected: str) -> None:
        """Note that this was expected here."""
        if self.at > self._furthest:
            self._furthest = self.at
            self._expected = {}
        if self.at == self._furthest:
            self._expected[expected] = None

    def take(self, pattern: regex.Pattern[str], expected: str) -> regex.Match[str] | None:
        """Move past a match, if there is one here."""
        found = pattern.match(self.text, self.at)
        if found is None:
            self.missing(expected)
        else:
            self.at = found.end()
        return found

    def sign(self, sign: str) -> bool:
        """Move past this very text."""
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        self.missing(repr(sign))
        return False

    def between(self, sign: str) -> bool:
        """Move past a sign and the space around it; without the sign, not at all."""
        start = self.at
        self.space()
        if self.sign(sign):
            self.space()
            return True
        self.at = start
        return False

    def space(self) -> None:
        """Move past space, if there is any."""
        found = _SPACE.match(self.text, self.at)
        if found:
            self.at = found.end()

    def spaces(self) -> bool:
        """Move past space, of which there has to be some."""
        return self.take(_SPACES, "a space") is not None

    def at_end(self) -> bool:
        """Whether all text is read."""
        return self.at >= len(self.text)

    def error(self, reason: str = "") -> DqlSyntaxError:
        """The error at the furthest point any parser reached."""
        return DqlSyntaxError(self.text, self._furthest, tuple(self._expected), reason)
