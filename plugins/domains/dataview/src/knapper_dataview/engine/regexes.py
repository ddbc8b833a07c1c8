"""JavaScript's regular expressions, run by the `regex` module under a time limit."""

from __future__ import annotations

from functools import lru_cache

import regex

from knapper.repetition import repeats_too_much
from knapper_dataview.engine.budget import Budget
from knapper_dataview.engine.errors import BudgetExceeded, EvaluationError

_WORD = "A-Za-z0-9_"
_BOUNDARY = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
_NO_BOUNDARY = f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))"
_CLASSES = {"d": "0-9", "w": _WORD, "s": r"\s\uFEFF"}
_QUANTIFIER = regex.compile(r"\{[0-9]+(?:,[0-9]*)?\}")
_REFERENCE = regex.compile(r"\$(?:(\$)|(&)|(`)|(')|([0-9]{1,2})|<([^>]*)>)")
_LONGEST = 4096
_SLOWEST = 0.5  # seconds for one text: no pattern that means well comes near


@lru_cache(maxsize=64)
def compiled(pattern: str, ignore_case: bool = False) -> regex.Pattern[str]:
    """A pattern in JavaScript's dialect, ready to run."""
    if len(pattern) > _LONGEST:
        raise EvaluationError(f"a regular expression may have {_LONGEST} characters")
    if repeats_too_much(pattern):
        raise EvaluationError(f"the regular expression {pattern[:100]!r} repeats too much")
    try:
        return regex.compile(_Translation(pattern).text(), regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError) as problem:
        raise EvaluationError(f"invalid regular expression {pattern!r}: {problem}") from problem


class _Translation:
    """One walk over a pattern: ASCII classes, an end that is the end, and no syntax JavaScript does not have."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def text(self) -> str:
        parts: list[str] = []
        while self.at < len(self.pattern):
            parts.append(self._next())
        return "".join(parts)

    def _next(self) -> str:
        char = self.pattern[self.at]
        if char == "\\":
            return self._escape(in_class=False)
        if char == "[":
            return self._class()
        if char == "{":
            quantifier = _QUANTIFIER.match(self.pattern, self.at)
            self.at = quantifier.end() if quantifier else self.at + 1
            return quantifier[0] if quantifier else r"\{"
        self.at += 1
        if char == ".":
            return r"[^\n\r\u2028\u2029]"
        return r"\Z" if char == "$" else char

    def _escape(self, in_class: bool) -> str:
        following = self.pattern[self.at + 1 : self.at + 2]
        self.at += 2
        if following in ("b", "B"):
            return r"\x08" if in_class else _BOUNDARY if following == "b" else _NO_BOUNDARY
        if following and following in "dws":
            return _CLASSES[following] if in_class else f"[{_CLASSES[following]}]"
        if following and following in "DWS":
            return rf"\{following}" if in_class else f"[^{_CLASSES[following.lower()]}]"
        if following == "0" and not self.pattern[self.at : self.at + 1].isdigit():
            return r"\x00"
        if (following and following in "nrtvfxu") or (following.isdigit() and not in_class):
            return "\\" + following
        if following == "k" and (name := regex.compile(r"<(\w+)>").match(self.pattern, self.at)):
            self.at = name.end()
            return f"(?P={name[1]})"
        if not following:
            raise EvaluationError("a regular expression ends in a backslash")
        return regex.escape(following, special_only=False) if not following.isalnum() else following

    def _class(self) -> str:
        negated = self.pattern.startswith("[^", self.at)
        self.at += 2 if negated else 1
        parts: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] != "]":
            char = self.pattern[self.at]
            if char == "\\":
                parts.append(self._escape(in_class=True))
            else:
                parts.append("\\" + char if char in "[&~|" else char)
                self.at += 1
        if self.at >= len(self.pattern):
            raise EvaluationError("a regular expression has an unclosed character class")
        self.at += 1
        if not parts:
            return r"[\s\S]" if negated else "(?!)"
        return f"[{'^' if negated else ''}{''.join(parts)}]"


def search(pattern: str, text: str, budget: Budget, ignore_case: bool = False) -> bool:
    """Whether the pattern matches anywhere."""
    try:
        return compiled(pattern, ignore_case).search(text, timeout=_seconds(budget)) is not None
    except TimeoutError:
        raise _too_slow(pattern) from None


def replace_all(pattern: str, text: str, replacement: str, budget: Budget) -> str:
    """Replace every match, with JavaScript's `$1`, `$&` and `$<name>`."""
    found = compiled(pattern)
    plain = "$" not in replacement
    try:
        result = found.sub(
            lambda match: replacement if plain else _expand(match, replacement),
            text,
            timeout=_seconds(budget),
        )
    except TimeoutError:
        raise _too_slow(pattern) from None
    budget.grow(len(result))
    return result


def _expand(match: regex.Match[str], replacement: str) -> str:
    def reference(sign: regex.Match[str]) -> str:
        if sign[1]:
            return "$"
        if sign[2]:
            return match[0]
        if sign[3]:
            return match.string[: match.start()]
        if sign[4]:
            return match.string[match.end() :]
        return _group(match, sign)

    return _REFERENCE.sub(reference, replacement)


def _group(match: regex.Match[str], sign: regex.Match[str]) -> str:
    if sign[6] is not None:
        names = match.groupdict()
        return (names.get(sign[6]) or "") if names else sign[0]
    groups = match.re.groups
    number, rest = int(sign[5]), ""
    if number > groups and len(sign[5]) == 2:
        number, rest = int(sign[5][0]), sign[5][1]
    return (match[number] or "") + rest if 0 < number <= groups else sign[0]


def split(pattern: str, text: str, limit: float | None, budget: Budget) -> list[object]:
    """Split as JavaScript does: captures are kept, and a group that took no part is an empty text."""
    found = compiled(pattern)
    pieces: list[object] = []
    last = at = 0
    try:
        if not text:
            return [] if found.match("", timeout=_seconds(budget)) else [""]
        while at < len(text):
            budget.spend()
            match = found.search(text, at, timeout=_seconds(budget))
            if match is None or match.start() >= len(text):
                break
            if match.end() == last:
                at += 1
                continue
            pieces += [text[last : match.start()], *(group or "" for group in match.groups())]
            last = match.end()
            at = last
    except TimeoutError:
        raise _too_slow(pattern) from None
    pieces.append(text[last:])
    return pieces if limit is None or limit < 0 else pieces[: int(limit)]


def _seconds(budget: Budget) -> float:
    return min(_SLOWEST, budget.remaining())


def _too_slow(pattern: str) -> BudgetExceeded:
    return BudgetExceeded(f"the regular expression {pattern!r} took too long")
