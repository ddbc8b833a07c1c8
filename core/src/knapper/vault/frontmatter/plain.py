"""The short way through everyday frontmatter: `key: word` lines and simple lists, without a YAML parser.

It answers only where it is certain, and says nothing (None) anywhere else.
"""

import re
from typing import Any

from knapper.vault.frontmatter.scalars import WORDS, resolve

_UNSAFE = re.compile("[\t\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_KEY = re.compile(r"[^\W\d](?:[\w-]| (?=[\w-])){0,120}")
_FLOW_UNSAFE = re.compile(r"[\[\]{}:#\"']")
_SAFE_START = frozenset("/.(+$_")
_UNSURE = object()


def read(block: str) -> dict[str, Any] | None:
    """The mapping a simple block stands for, or None where only the parser can tell."""
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    if _UNSAFE.search(block):
        return None
    result: dict[str, Any] = {}
    open_key: str | None = None
    items: list[Any] = []
    indent = 0
    for line in block.split("\n"):
        body = line.strip(" ")
        if not body:
            continue
        if body[0] == "-" or line[0] == " ":
            if open_key is None or body[:2] != "- ":
                return None
            at = line.index("-")
            if not items:
                indent = at
                result[open_key] = items
            value = _value(body[2:].lstrip(" "))
            if at != indent or value is _UNSURE:
                return None
            items.append(value)
            continue
        key, colon, rest = line.partition(":")
        if not colon or key in WORDS or not _KEY.fullmatch(key):
            return None
        text = rest.strip(" ")
        if not text:
            open_key, items = key, []
            result[key] = None
            continue
        value = _value(text) if rest[0] == " " else _UNSURE
        if value is _UNSURE:
            return None
        open_key = None
        result[key] = value
    return result


def _value(text: str) -> Any:
    """The value of one line's text, stripped; _UNSURE where it may mean something else."""
    first = text[0]
    if first in "\"'":
        return _quoted(text, first)
    if first == "[":
        return _flow(text)
    if not (first.isalnum() or first in _SAFE_START or (first == "-" and text[1:2] not in ("", " ", "-"))):
        return _UNSURE
    if ": " in text or " #" in text or text[-1] == ":":
        return _UNSURE
    return resolve(text)


def _quoted(text: str, quote: str) -> Any:
    inner = text[1:-1]
    if len(text) < 2 or text[-1] != quote or quote in inner or "\\" in inner:
        return _UNSURE
    return inner


def _flow(text: str) -> Any:
    inner = text[1:-1].strip(" ")
    if text[-1] != "]":
        return _UNSURE
    values = [_flow_item(piece.strip(" ")) for piece in inner.split(",")] if inner else []
    return _UNSURE if _UNSURE in values else values


def _flow_item(text: str) -> Any:
    if not text:
        return _UNSURE
    if text[0] in "\"'":
        return _quoted(text, text[0])
    if _FLOW_UNSAFE.search(text):
        return _UNSURE
    return _value(text)
