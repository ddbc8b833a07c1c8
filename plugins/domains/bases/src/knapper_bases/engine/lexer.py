"""Cutting an expression into tokens."""

import re
from typing import NamedTuple

from knapper_bases.engine.errors import UnreadableExpression

UNREADABLE = "Unable to parse formula."


class Token(NamedTuple):
    """A piece of an expression; `kind` is the text itself for operators."""

    kind: str
    text: str
    start: int
    end: int


# Any letter of any script may stand in a bare property name, and so may symbols beyond ASCII such as emoji.
_NAME = r"(?:[A-Za-z_$]|[^\x00-\x7f\s])(?:[\w$]|[^\x00-\x7f\s])*"
_TOKEN = re.compile(
    rf"""
      (?P<space>[\s\ufeff]+)
    | (?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>{_NAME})
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<operator>==|!=|<=|>=|&&|\|\||[-+*/%<>!().,\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/[A-Za-z]*")
_ENDS_OPERAND = {"number", "name", "string", "regex", ")", "]"}
_AFTER_NUMBER = re.compile(rf"\.|{_NAME}")


def tokenize(text: str) -> list[Token]:
    """Give the tokens of an expression, the last of them of kind `end`."""
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        token = _next_token(text, place, tokens[-1].kind if tokens else "")
        if token.kind != "space":
            tokens.append(token)
        place = token.end
    tokens.append(Token("end", "", place, place))
    return tokens


def _next_token(text: str, place: int, before: str) -> Token:
    if text[place] == "/" and before not in _ENDS_OPERAND and (found := _REGEX.match(text, place)):
        return Token("regex", found[0], place, found.end())
    found = _TOKEN.match(text, place)
    if found is None:
        raise UnreadableExpression(f"{UNREADABLE} Unexpected {text[place]!r}", text, place)
    kind = str(found.lastgroup)
    # The app reads `1.round()` no further than `1.`, so a number with a member needs parentheses.
    if kind == "number" and _AFTER_NUMBER.match(text, found.end()):
        raise UnreadableExpression(
            f"{UNREADABLE} Put the number {found[0]} in parentheses to use a member of it", text, found.end()
        )
    return Token(found[0] if kind == "operator" else kind, found[0], place, found.end())
