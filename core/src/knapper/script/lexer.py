"""Lexer: JavaScript source as tokens."""

import re
from typing import NamedTuple

from knapper.script.errors import ScriptError

_SPACE = re.compile(r"\s+|//[^\n]*|/\*(?:.*?\*/)?", re.DOTALL)
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
    """A token: its kind (number, text, template, regex, name, sign, end) and what it holds.

    `line` counts from 1; `fresh` says that a line ended before it, which may end a statement.
    """

    kind: str
    text: str
    parts: "tuple[str | list[Token], ...]" = ()
    line: int = 1
    fresh: bool = False


def tokens_of(source: str, line: int = 1) -> list[Token]:
    """All tokens of a source whose first line has this number, an end token last."""
    tokens, end = _tokens(source, 0, "", line)
    return [*tokens, _end(line + source.count("\n", 0, end))]


def _end(line: int) -> Token:
    return Token("end", "the end", line=line, fresh=True)


def _tokens(source: str, position: int, until: str, line: int) -> tuple[list[Token], int]:
    tokens: list[Token] = []
    depth, fresh = 0, False
    while position < len(source):
        if space := _SPACE.match(source, position):
            if space[0] == "/*":  # found once, and not looked for again from every later one
                raise ScriptError(
                    "SyntaxError: Invalid or unexpected token: a comment is not closed", number=line
                )
            position = space.end()
            ended = space[0].count("\n")
            line, fresh = line + ended, fresh or ended > 0
            continue
        char = source[position]
        if until and char == until and not depth:
            return tokens, position
        depth += (char == "{") - (char == "}")
        token, after = _placed(source, position, tokens, line)
        tokens.append(token._replace(line=line, fresh=fresh))
        line, fresh = line + source.count("\n", position, after), False
        position = after
    if until:
        raise ScriptError("SyntaxError: Unterminated template literal", number=line)
    return tokens, position


def _placed(source: str, position: int, before: list[Token], line: int) -> tuple[Token, int]:
    try:
        return _token(source, position, before, line)
    except ScriptError as error:
        raise error.at("", line) from None


def _token(source: str, position: int, before: list[Token], line: int) -> tuple[Token, int]:
    char = source[position]
    if char in "'\"":
        return _text(source, position)
    if char == "`":
        return _template(source, position, line)
    if char == "/" and _begins_value(before) and (found := _REGEX.match(source, position)):
        return Token("regex", found[1], (found[2],)), found.end()
    for kind, pattern in (("number", _NUMBER), ("name", _NAME), ("sign", _SIGN)):
        if found := pattern.match(source, position):
            return Token(kind, found[0]), found.end()
    raise ScriptError(f"SyntaxError: Invalid or unexpected token {char!r}")


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
        raise ScriptError("SyntaxError: Invalid or unexpected token: a text is not closed")
    return Token("text", "".join(chars)), position + 1


def _template(source: str, position: int, line: int) -> tuple[Token, int]:
    parts: list[str | list[Token]] = []
    chars: list[str] = []
    opened = position
    position += 1
    while position < len(source) and source[position] != "`":
        if source.startswith("${", position):
            parts.append("".join(chars))
            here = line + source.count("\n", opened, position)
            inner, position = _tokens(source, position + 2, "}", here)
            parts.append([*inner, _end(here)])
            chars = []
            position += 1
        else:
            char, position = _char(source, position)
            chars.append(char)
    if position >= len(source):
        raise ScriptError("SyntaxError: Unterminated template literal")
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
