"""Lexer: JavaScript source as tokens."""

import re
from typing import NamedTuple

from knapper_tasks.engine.errors import QueryError

_SPACE = re.compile(r"\s+|//.*|/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_REGEX = re.compile(r"/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/([a-z]*)")
_SIGN = re.compile(
    r">>>=|===|!==|\*\*=|<<=|>>=|>>>|\.\.\.|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?![0-9])|\+\+|--"
    r"|\+=|-=|\*=|/=|%=|&=|\|=|\^=|\*\*|<<|>>|[-+*/%<>=!?:;,.(){}\[\]&|^~@#]"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_ESCAPE = re.compile(r"u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.)", re.DOTALL)


class Token(NamedTuple):
    """A token: its kind (number, text, template, regex, name, sign, end) and what it holds."""

    kind: str
    text: str
    parts: "tuple[str | list[Token], ...]" = ()


END = Token("end", "the end")


def tokens_of(source: str) -> list[Token]:
    """All tokens of a source, an end token last."""
    tokens, _ = _tokens(source, 0, until="")
    return [*tokens, END]


def _tokens(source: str, position: int, until: str) -> tuple[list[Token], int]:
    tokens: list[Token] = []
    depth = 0
    while position < len(source):
        if space := _SPACE.match(source, position):
            position = space.end()
            continue
        char = source[position]
        if until and char == until and not depth:
            return tokens, position
        depth += (char == "{") - (char == "}")
        token, position = _token(source, position, tokens)
        tokens.append(token)
    if until:
        raise QueryError("SyntaxError: Unterminated template literal")
    return tokens, position


def _token(source: str, position: int, before: list[Token]) -> tuple[Token, int]:
    char = source[position]
    if char in "'\"":
        return _text(source, position)
    if char == "`":
        return _template(source, position)
    if char == "/" and _begins_value(before) and (found := _REGEX.match(source, position)):
        return Token("regex", found[1], (found[2],)), found.end()
    for kind, pattern in (("number", _NUMBER), ("name", _NAME), ("sign", _SIGN)):
        if found := pattern.match(source, position):
            return Token(kind, found[0]), found.end()
    raise QueryError(f"SyntaxError: Invalid or unexpected token {char!r}")


def _begins_value(before: list[Token]) -> bool:
    """Whether a value may stand here, so that a slash opens a regular expression."""
    if not before:
        return True
    last = before[-1]
    if last.kind == "name":
        return last.text in ("return", "typeof")
    return last.kind == "sign" and last.text not in (")", "]", "}")


def _text(source: str, position: int) -> tuple[Token, int]:
    quote, chars = source[position], []
    position += 1
    while position < len(source) and source[position] != quote:
        char, position = _char(source, position)
        chars.append(char)
    if position >= len(source):
        raise QueryError("SyntaxError: Invalid or unexpected token: a text is not closed")
    return Token("text", "".join(chars)), position + 1


def _template(source: str, position: int) -> tuple[Token, int]:
    parts: list[str | list[Token]] = []
    chars: list[str] = []
    position += 1
    while position < len(source) and source[position] != "`":
        if source.startswith("${", position):
            parts.append("".join(chars))
            inner, position = _tokens(source, position + 2, until="}")
            parts.append([*inner, END])
            chars = []
            position += 1
        else:
            char, position = _char(source, position)
            chars.append(char)
    if position >= len(source):
        raise QueryError("SyntaxError: Unterminated template literal")
    return Token("template", "`", (*parts, "".join(chars))), position + 1


def _char(source: str, position: int) -> tuple[str, int]:
    if source[position] != "\\" or position + 1 >= len(source):
        return source[position], position + 1
    found = _ESCAPE.match(source, position + 1)
    assert found is not None
    code = found[1] or found[2] or found[3]
    if code:
        number = int(code, 16)
        return (chr(number) if number <= 0x10FFFF else "\ufffd"), found.end()
    return _ESCAPES.get(found[4], found[4]), found.end()
