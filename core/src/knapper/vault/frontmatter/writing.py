"""YAML text for a value, as Obsidian would write it: plain where that is safe, double quotes where not."""

import json
import re
from typing import Any, NamedTuple

from knapper.vault.frontmatter.errors import FrontmatterError
from knapper.vault.frontmatter.scalars import resolve

_UNSAFE_START = re.compile(r"-(?=\s|$)|[?:,\[\]{}#&*!|>'\"%@`~\s]|---|\.\.\.")
_UNSAFE = re.compile("\\s\\Z|:(?=\\s|$)|\\s#|[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_UNSAFE_IN_FLOW = re.compile(r"[,\[\]{}:]")
_NUMBER_ELSEWHERE = re.compile(r"[-+]?(?:0[xob])?[0-9][0-9a-fA-F_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?\Z")
_NOT_LITERAL = re.compile(
    "\\A\\s|^[ \\t]+$|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff]", re.MULTILINE
)
_ESCAPED = re.compile('["\\\\\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Style(NamedTuple):
    """How the file around a value is written."""

    eol: str = "\n"
    json: bool = False
    list_indent: int = 2


class Rendered(NamedTuple):
    """A value's text: what follows the colon or dash, and the lines below it."""

    head: str
    body: list[str]


def render(value: Any, column: int, style: Style, quote: str = "") -> Rendered:
    """A value in block style, under a key or dash at `column`; `quote` is the style of what it replaces."""
    if isinstance(value, list) and value:
        return Rendered("", list_lines(value, column + style.list_indent, style))
    if isinstance(value, dict) and value:
        return Rendered("", mapping_lines(value, column + 2, style))
    if (
        isinstance(value, str)
        and "\n" in value
        and quote not in ("'", '"')
        and not _NOT_LITERAL.search(value)
    ):
        return _literal(value, column + 2)
    return Rendered("" if value is None else flow(value, style, quote, in_flow=False), [])


def list_lines(items: list[Any], column: int, style: Style, quote: str = "") -> list[str]:
    """One block sequence, dashes at `column`."""
    return [line for item in items for line in _item_lines(item, column, style, quote)]


def mapping_lines(values: dict[str, Any], column: int, style: Style) -> list[str]:
    """One block mapping, keys at `column`."""
    lines: list[str] = []
    for key, item in values.items():
        head, body = render(item, column, style)
        lines += [f"{' ' * column}{key_text(key, style)}: {head}".rstrip(" "), *body]
    return lines


def _item_lines(item: Any, column: int, style: Style, quote: str) -> list[str]:
    dash = " " * column + "- "
    if isinstance(item, dict) and item:
        lines = mapping_lines(item, column + 2, style)
    elif isinstance(item, list) and item:
        lines = list_lines(item, column + 2, style)
    else:
        head, body = render(item, column, style, quote)
        return [dash + (head or "null"), *body]
    return [dash + lines[0][column + 2 :], *lines[1:]]


def flow(value: Any, style: Style, quote: str = "", in_flow: bool = True) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return _string(value, style, quote, in_flow)
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value, style)
    if isinstance(value, list):
        return "[" + ", ".join(flow(item, style) for item in value) + "]"
    if isinstance(value, dict):
        pairs = (f"{key_text(key, style)}: {flow(item, style)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    raise FrontmatterError(f"a value of type {type(value).__name__} cannot be written")


def key_text(key: str, style: Style) -> str:
    """A property name as a YAML key."""
    if not isinstance(key, str):
        raise FrontmatterError("a property name must be text")
    return double_quoted(key) if style.json or not _is_plain(key, in_flow=True) else key


def double_quoted(text: str) -> str:
    """Text in double quotes, on one line."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04x}"


def _string(text: str, style: Style, quote: str, in_flow: bool) -> str:
    if style.json:
        return json.dumps(text, ensure_ascii=False)
    if quote == "'" and not _ESCAPED.search(text.replace('"', "").replace("\\", "")):
        return "'" + text.replace("'", "''") + "'"
    if quote == '"' or not _is_plain(text, in_flow) or (quote != "plain" and _NUMBER_ELSEWHERE.match(text)):
        return double_quoted(text)
    return text


def _is_plain(text: str, in_flow: bool) -> bool:
    if not text or resolve(text) is not text or _UNSAFE_START.match(text) or _UNSAFE.search(text):
        return False
    return not (in_flow and _UNSAFE_IN_FLOW.search(text))


def _float(value: float, style: Style) -> str:
    if value - value == 0:
        return repr(value)
    if style.json:
        raise FrontmatterError("JSON frontmatter cannot hold this number")
    return ".nan" if value != value else ".inf" if value > 0 else "-.inf"


def _literal(text: str, column: int) -> Rendered:
    stripped = text.rstrip("\n")
    ending = len(text) - len(stripped)
    lines = stripped.split("\n") + [""] * (ending - 1)
    chomp = "-" if ending == 0 else "" if ending == 1 else "+"
    return Rendered("|" + chomp, [" " * column + line if line else "" for line in lines])
