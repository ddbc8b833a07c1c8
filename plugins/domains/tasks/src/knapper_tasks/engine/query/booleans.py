"""Booleans: filters joined by AND, OR, XOR and NOT.

Which text is a filter and which is the frame around it is decided as the plugin decides it, odd cases
included: a filter whose own text ends with the closing delimiter is not understood.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from knapper_tasks.engine.errors import QueryError

from . import facts
from .context import Search
from .model import Explanation, Filter, Predicate

_PAIRS = ("()", "[]", "{}", '""')
_OPEN = '[(\\[{"]'
_CLOSE = '[)\\]}"]'
_BOOLEAN = re.compile(rf"(?:AND|OR|XOR|NOT)\s*{_OPEN}|{_OPEN}.+{_CLOSE}")
_FRAME = re.compile(r"\s+|\(|\)|AND|OR|XOR|NOT|<([0-9]+)>")
_STRENGTH = {"OR": 1, "AND": 2, "XOR": 3}
_JOINED = {"OR": "At least one of", "AND": "All of", "XOR": "Exactly one of"}

ParseFilter = Callable[[str], Filter]


def boolean_filter(line: str, parse: ParseFilter) -> Filter | None:
    """A combination of filters, or None where the line is none."""
    if not _BOOLEAN.search(line):
        return None
    try:
        frame, filters = _taken_apart(line)
        whole = _Combination(frame, [_part(text, parse) for text in filters]).read()
    except QueryError as error:
        error.reason = (
            f"Could not interpret the following instruction as a Boolean combination:\n    {line}\n\n"
            f"The error message is:\n    {error.reason}"
        )
        raise
    return replace(whole, text=line)


def _part(text: str, parse: ParseFilter) -> Filter:
    try:
        return parse(text)
    except QueryError as error:
        error.reason = f"couldn't parse sub-expression '{text}': {error.reason}"
        raise


def _delimiters(line: str) -> str:
    inner = re.sub(r"^[A-Z ]*\s*", "", line.strip())
    for pair in _PAIRS:
        if inner and inner[0] == pair[0] and inner[-1] == pair[1]:
            return pair
    raise QueryError(
        "All filters in a Boolean instruction must be inside one of these pairs of delimiter characters: "
        '(...) or [...] or {...} or "...". Combinations of those delimiters are no longer supported.'
    )


def _taken_apart(line: str) -> tuple[str, list[str]]:
    """The frame of a combination, `<number>` standing for each filter, and the filters' texts."""
    pair = _delimiters(line)
    opening, closing = re.escape(pair[0]), re.escape(pair[1])
    pieces = re.split(rf"({closing}\s*(?:AND|OR|AND +NOT|OR +NOT|XOR)\s*{opening})", line)
    pieces = [part for piece in pieces for part in re.split(rf"(NOT\s*{opening})", piece) if part]
    frame: list[str] = []
    filters: list[str] = []
    is_frame = re.compile(
        rf"[ {opening}{closing}]+| *{closing} *(?:AND|OR|XOR) *{opening} *|(?:AND|OR|XOR|NOT) *{opening}"
        rf"|{closing} *(?:AND|OR|XOR)|AND|OR|XOR|NOT"
    )
    for piece in pieces:
        for part in _edges_apart(piece, *pair):
            if is_frame.fullmatch(part):
                frame.append(_round(part, pair))
            else:
                frame.append(f"<{len(filters)}>")
                filters.append(part)
    return "".join(frame), filters


def _edges_apart(piece: str, opening: str, closing: str) -> list[str]:
    rest = piece.lstrip(f"{opening} ")
    middle = rest.rstrip(f"{closing} ")
    return [part for part in (piece[: len(piece) - len(rest)], middle, rest[len(middle) :]) if part]


def _round(frame: str, pair: str) -> str:
    if pair == '""':
        return frame.replace('"', " ")
    return frame.replace(pair[0], "(").replace(pair[1], ")")


class _Combination:
    """Reads a frame: NOT binds strongest, then XOR, AND, OR."""

    def __init__(self, frame: str, filters: list[Filter]) -> None:
        self._tokens = [found[0] for found in _FRAME.finditer(frame) if found[0].strip()]
        self._filters = filters
        self._at = 0
        if "".join(self._tokens) != re.sub(r"\s+", "", frame):
            raise _malformed(f"unexpected text in {frame!r}")

    def read(self) -> Filter:
        whole = self._joined(1)
        if self._at < len(self._tokens):
            raise _malformed(f"unexpected {self._tokens[self._at]!r}")
        return whole

    def _joined(self, strength: int) -> Filter:
        left = self._operand()
        while (sign := self._peek()) in _STRENGTH and _STRENGTH[sign] >= strength:
            self._at += 1
            left = _JOIN[sign](left, self._joined(_STRENGTH[sign] + 1))
        return left

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _operand(self) -> Filter:
        token = self._peek()
        self._at += 1
        if token == "NOT":
            return _not(self._operand())
        if token == "(":
            inner = self._joined(1)
            if self._peek() != ")":
                raise _malformed("expected )")
            self._at += 1
            return inner
        if token.startswith("<"):
            return self._filters[int(token[1:-1])]
        raise _malformed(f"unexpected {token!r}" if token else "unexpected end of expression")


def _malformed(reason: str) -> QueryError:
    return QueryError(f"malformed boolean query -- {reason} (check the documentation for guidelines)")


def _combined(sign: str, left: Filter, right: Filter) -> Explanation:
    one, other = _explained(left), _explained(right)
    if sign != "XOR" and one.symbol == sign and not other.symbol:
        return Explanation(_JOINED[sign], (*one.parts, other), sign)
    return Explanation(_JOINED[sign], (one, other), sign)


def _explained(part: Filter) -> Explanation:
    return part.explanation if part.explanation.symbol else part.explained()


def _both(left: Filter, right: Filter) -> Filter:
    def bind(search: Search) -> Predicate:
        one, other = left.bind(search), right.bind(search)
        return lambda row: one(row) and other(row)

    return Filter("", bind, _combined("AND", left, right), facts.both((left.facts, right.facts)))


def _either(left: Filter, right: Filter) -> Filter:
    def bind(search: Search) -> Predicate:
        one, other = left.bind(search), right.bind(search)
        return lambda row: one(row) or other(row)

    return Filter("", bind, _combined("OR", left, right), facts.either(left.facts, right.facts))


def _one(left: Filter, right: Filter) -> Filter:
    def bind(search: Search) -> Predicate:
        one, other = left.bind(search), right.bind(search)
        return lambda row: one(row) != other(row)

    return Filter("", bind, _combined("XOR", left, right), facts.unknown(left.facts, right.facts))


def _not(inner: Filter) -> Filter:
    def bind(search: Search) -> Predicate:
        test = inner.bind(search)
        return lambda row: not test(row)

    explanation = Explanation("None of", (_explained(inner),), "NOT")
    return Filter("", bind, explanation, facts.unknown(inner.facts))


_JOIN: dict[str, Callable[[Filter, Filter], Filter]] = {"AND": _both, "OR": _either, "XOR": _one}
