"""Syntax: a template cut into text and commands, and put together again as one program that builds `tR`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from knapper.script.errors import BudgetExceeded, ScriptError
from knapper.script.lexer import Token, tokens_of

# No honest template has so many characters of commands.
MOST_CODE = 200_000
# What a command costs beside its length.
_EACH = 32
_OPEN = re.compile(r"<%(?P<trim>[-_]?)(?P<kind>[*+]?)")
_LAST_NEWLINE = re.compile(r"\r?\n\Z")
_FIRST_NEWLINE = re.compile(r"\r?\n")
_KINDS: dict[str, Literal["output", "run"]] = {"": "output", "*": "run"}


class Piece(NamedTuple):
    """A stretch of a template: text, a command whose value is written, or statements; and its first line."""

    kind: Literal["text", "output", "run"]
    source: str
    line: int = 1


def pieces(template: str) -> list[Piece]:
    """A template's pieces, with the whitespace that its markers trim already gone."""
    found: list[Piece] = []
    for piece, before, after in _marked(template):
        if piece.kind != "text" and before and found and found[-1].kind == "text":
            found[-1] = found[-1]._replace(source=_trimmed_end(found[-1].source, before))
        if piece.kind == "text" and after:
            piece = piece._replace(source=_trimmed_start(piece.source, after))
        found.append(piece)
    return [piece for piece in found if piece.source or piece.kind != "text"]


def _marked(template: str) -> Iterator[tuple[Piece, str, str]]:
    """Each piece, the marker that opens it, and the one that closed the piece before."""
    at, line, closed, code = 0, 1, "", 0
    while opened := _OPEN.search(template, at):
        start = opened.start()
        end = template.find("%>", opened.end())
        first = line + template.count("\n", at, start)
        if end < 0:
            raise ScriptError("SyntaxError: a command is not closed with %>", number=first)
        yield Piece("text", template[at:start], line), "", closed
        source, closed = template[opened.end() : end], ""
        if opened["kind"] == "+":  # dynamic commands are the preview's: they stay as they are
            yield Piece("text", template[start : end + 2], first), "", ""
        else:
            closed = source[-1] if source[-1:] in ("-", "_") else ""
            yield Piece(_KINDS[opened["kind"]], source[: -1 if closed else None], first), opened["trim"], ""
            code += len(source) + _EACH
        if code > MOST_CODE:
            raise BudgetExceeded("it holds too many commands", number=first)
        at, line = end + 2, first + template.count("\n", start, end)
    yield Piece("text", template[at:], line), "", closed


def _trimmed_end(text: str, marker: str) -> str:
    return text.rstrip() if marker == "_" else _LAST_NEWLINE.sub("", text)


def _trimmed_start(text: str, marker: str) -> str:
    if marker == "_":
        return text.lstrip()
    newline = _FIRST_NEWLINE.match(text)
    return text[newline.end() :] if newline else text


def program_tokens(found: Iterable[Piece]) -> list[Token]:
    """The tokens of the program that a template's pieces make."""
    tokens: list[Token] = []
    line = 1
    for piece in found:
        line = piece.line
        if piece.kind == "run":
            first, *rest = tokens_of(piece.source, line)
            tokens += [first._replace(fresh=True), *rest][:-1]
        else:
            tokens += _written(piece)
    return [*tokens, Token("end", "the end", line=line, fresh=True)]


def _written(piece: Piece) -> list[Token]:
    """`tR += (…);` for a text or an expression."""
    signs = [Token("sign", sign, line=piece.line) for sign in ("+=", "(", ")", ";")]
    inner = [Token("text", piece.source, line=piece.line)]
    if piece.kind == "output":
        inner = tokens_of(piece.source, piece.line)[:-1]
        while inner and (inner[-1].kind, inner[-1].text) == ("sign", ";"):
            inner.pop()
    return [Token("name", "tR", line=piece.line, fresh=True), *signs[:2], *inner, *signs[2:]]
