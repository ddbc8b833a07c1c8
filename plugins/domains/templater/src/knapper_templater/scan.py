"""Scan: what a template uses, learnt without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from knapper.script.errors import ScriptError
from knapper_templater.syntax import pieces
from knapper_templater.system import CLIPBOARD

_USED = re.compile(r"(?<![\w.$])tp((?:\s*\??\.\s*[A-Za-z_$][\w$]*){1,2})")
_ASKED = re.compile(
    r"tp\s*\.\s*system\s*\.\s*(?:(prompt)\s*\(\s*(?:\"([^\"\\\n]*)\"|'([^'\\\n]*)')|(clipboard)\s*\()"
)


class Use(NamedTuple):
    """A part of `tp`, such as tp.date.now, and the line it stands on."""

    name: str
    line: int


def uses(template: str) -> Iterator[Use]:
    """The parts of `tp` in the order they stand; of a template that is broken, those before the break."""
    for source, line in _commands(template):
        for found in _USED.finditer(source):
            name = "tp" + re.sub(r"[\s?]", "", found[1])
            yield Use(name, line + source.count("\n", 0, found.start()))


def questions(template: str) -> list[str]:
    """The texts of the questions a template asks, as far as they are written out."""
    found = (asked for source, _ in _commands(template) for asked in _ASKED.finditer(source))
    return list(dict.fromkeys(CLIPBOARD if asked[4] else asked[2] or asked[3] or "" for asked in found))


def _commands(template: str) -> list[tuple[str, int]]:
    try:
        return [(piece.source, piece.line) for piece in pieces(template) if piece.kind != "text"]
    except ScriptError:
        return []
