"""Expressions, parsed as the original grammar does: alternatives in its order, each taking the first that fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import regex

from knapper_dataview.engine.cursor import Cursor
from knapper_dataview.engine.dates import DATE_WORD, match_date
from knapper_dataview.engine.durations import match_duration
from knapper_dataview.engine.numbers import parse_number
from knapper_dataview.engine.syntax import (
    Binary,
    Call,
    DateLiteral,
    Expression,
    Index,
    Lambda,
    ListOf,
    Literal,
    Negated,
    ObjectOf,
    Variable,
)
from knapper_dataview.engine.values import EMOJI, Link

Element = TypeVar("Element")

KEYWORDS = frozenset({"FROM", "WHERE", "LIMIT", "GROUP", "FLATTEN"})

_IDENTIFIER = regex.compile(rf"(?:\p{{L}}|{EMOJI})(?:[0-9\p{{L}}_-]|{EMOJI})*")
_STRING = regex.compile(r'"((?:\\.|[^"\\])*)"', regex.DOTALL)
_ESCAPE = regex.compile(r'\\(["\\])')
_NUMBER = regex.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_BOOLEAN = regex.compile(r"true|false|True|False")
_NULL = regex.compile(r"null")
_LINK = regex.compile(r"(!?)\[\[([^\[\]]*?)\]\]")
_OPERATOR = regex.compile(r"\s*(?:(and|or|&|\|)|(>=|<=|!=|>|<|=)|([+-])|([*/%]))\s*", regex.IGNORECASE)
_WORDS = {"and": "&", "or": "|"}


def expression(cursor: Cursor, level: int = 1) -> Expression | None:
    """Operators bind in four levels, all from the left: and/or, comparison, sum, product."""
    left = _postfix(cursor)
    if left is None:
        return None
    while True:
        found = _OPERATOR.match(cursor.text, cursor.at)
        if found is None:
            cursor.missing("an operator")
            return left
        binding = found.lastindex or 0
        if binding < level:
            return left
        start, cursor.at = cursor.at, found.end()
        right = expression(cursor, binding + 1)
        if right is None:
            # What looks like an operator may be a comment's slashes: the text before it stands.
            cursor.at = start
            return left
        sign = found[binding].lower()
        left = Binary(left, _WORDS.get(sign, sign), right)


def identifier(cursor: Cursor) -> str | None:
    """A name: a letter or emoji, then also digits, dashes and underscores."""
    found = cursor.take(_IDENTIFIER, "a name")
    return found[0] if found else None


def string(cursor: Cursor) -> str | None:
    """A text in double quotes; a backslash escapes a quote or itself and is kept before anything else."""
    found = cursor.take(_STRING, 'a text in "quotes"')
    return _ESCAPE.sub(r"\1", found[1]) if found else None


def link(cursor: Cursor, embeddable: bool = True) -> Link | None:
    """`[[target|display]]`, or with a `!` before it where that is allowed."""
    found = _LINK.match(cursor.text, cursor.at)
    if found is None or (found[1] and not embeddable):
        cursor.missing("a [[link]]")
        return None
    cursor.at = found.end()
    return Link.parse(found[2], bool(found[1]))


def _postfix(cursor: Cursor) -> Expression | None:
    node = _atom(cursor)
    while node is not None:
        following = _dot(cursor, node) or _subscript(cursor, node) or _call(cursor, node)
        if following is None:
            return node
        node = following
    return None


def _dot(cursor: Cursor, node: Expression) -> Expression | None:
    start = cursor.at
    if cursor.sign(".") and (name := identifier(cursor)) is not None:
        return Index(node, Literal(name))
    cursor.at = start
    return None


def _subscript(cursor: Cursor, node: Expression) -> Expression | None:
    inner = _enclosed(cursor, "[", "]")
    return Index(node, inner) if inner is not None else None


def _call(cursor: Cursor, node: Expression) -> Expression | None:
    arguments = _sequence(cursor, "(", ")")
    return Call(node, arguments) if arguments is not None else None


def _enclosed(cursor: Cursor, opening: str, closing: str) -> Expression | None:
    start = cursor.at
    if cursor.sign(opening):
        cursor.space()
        inner = expression(cursor)
        if inner is not None:
            cursor.space()
            if cursor.sign(closing):
                return inner
    cursor.at = start
    return None


def _sequence(cursor: Cursor, opening: str, closing: str) -> tuple[Expression, ...] | None:
    start = cursor.at
    if not cursor.sign(opening):
        return None
    cursor.space()
    elements: list[Expression] = separated(cursor, expression)
    cursor.space()
    if cursor.sign(closing):
        return tuple(elements)
    cursor.at = start
    return None


def separated(cursor: Cursor, element: Callable[[Cursor], Element | None]) -> list[Element]:
    """Elements with commas between, none at all included."""
    elements: list[Element] = []
    before = cursor.at
    while (found := element(cursor)) is not None:
        elements.append(found)
        before = cursor.at
        if not cursor.between(","):
            return elements
    cursor.at = before
    return elements


def _atom(cursor: Cursor) -> Expression | None:
    start = cursor.at
    if start in cursor.hopeless:
        return None
    for parser in _ATOMS:
        node = parser(cursor)
        if node is not None:
            return node
    cursor.hopeless.add(start)
    return None


def _link_literal(cursor: Cursor) -> Expression | None:
    found = link(cursor)
    return Literal(found) if found else None


def _negated(cursor: Cursor) -> Expression | None:
    start = cursor.at
    if cursor.sign("!") and (child := _postfix(cursor)) is not None:
        return Negated(child)
    cursor.at = start
    return None


def _list(cursor: Cursor) -> Expression | None:
    values = _sequence(cursor, "[", "]")
    return ListOf(values) if values is not None else None


def _object(cursor: Cursor) -> Expression | None:
    start = cursor.at
    if not cursor.sign("{"):
        return None
    cursor.space()
    pairs = separated(cursor, _pair)
    cursor.space()
    if cursor.sign("}"):
        return ObjectOf(tuple(dict(pairs).items()))
    cursor.at = start
    return None


def _pair(cursor: Cursor) -> tuple[str, Expression] | None:
    start = cursor.at
    name = identifier(cursor)
    if name is None:
        name = string(cursor)
    if name is not None and cursor.between(":"):
        value = expression(cursor)
        if value is not None:
            return name, value
    cursor.at = start
    return None


def _lambda(cursor: Cursor) -> Expression | None:
    start = cursor.at
    if cursor.between("("):
        names = separated(cursor, identifier)
        if cursor.between(")") and cursor.between("=>"):
            body = expression(cursor)
            if body is not None:
                return Lambda(tuple(names), body)
    cursor.at = start
    return None


def _parentheses(cursor: Cursor) -> Expression | None:
    return _enclosed(cursor, "(", ")")


def _boolean(cursor: Cursor) -> Expression | None:
    found = cursor.take(_BOOLEAN, "true or false")
    return Literal(found[0].lower() == "true") if found else None


def _number(cursor: Cursor) -> Expression | None:
    found = cursor.take(_NUMBER, "a number")
    return Literal(parse_number(found[0])) if found else None


def _text(cursor: Cursor) -> Expression | None:
    found = string(cursor)
    return Literal(found) if found is not None else None


def _date(cursor: Cursor) -> Expression | None:
    def inner() -> Expression | None:
        start = cursor.at
        word = DATE_WORD.match(cursor.text, start)
        found = (word[0], word.end()) if word else match_date(cursor.text, start)
        if found is None:
            cursor.missing("a date")
            return None
        cursor.at = found[1]
        return DateLiteral(cursor.text[start : cursor.at])

    return _literal_call(cursor, "date(", inner)


def _duration(cursor: Cursor) -> Expression | None:
    def inner() -> Expression | None:
        found = match_duration(cursor.text, cursor.at)
        if found is None:
            cursor.missing("a duration")
            return None
        cursor.at = found[1]
        return Literal(found[0])

    return _literal_call(cursor, "dur(", inner)


def _literal_call(cursor: Cursor, opening: str, inner: Callable[[], Expression | None]) -> Expression | None:
    start = cursor.at
    if not cursor.text.startswith(opening, start):
        return None
    cursor.at += len(opening)
    cursor.space()
    node = inner()
    if node is not None:
        cursor.space()
        if cursor.sign(")"):
            return node
    cursor.at = start
    return None


def _null(cursor: Cursor) -> Expression | None:
    return Literal(None) if cursor.take(_NULL, "null") else None


def _variable(cursor: Cursor) -> Expression | None:
    start = cursor.at
    name = identifier(cursor)
    if name is None:
        return None
    if name.upper() in KEYWORDS:
        cursor.at = start
        cursor.missing(f"a field (a field named {name!r} is written row[{name!r}])")
        return None
    return Variable(name)


_ATOMS: tuple[Callable[[Cursor], Expression | None], ...] = (
    _link_literal,
    _negated,
    _list,
    _object,
    _lambda,
    _parentheses,
    _boolean,
    _number,
    _text,
    _date,
    _duration,
    _null,
    _variable,
)
