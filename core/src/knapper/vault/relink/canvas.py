"""The links of a canvas: files and backgrounds its nodes name, and links in its cards."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from knapper.vault.markdown import Link, parse
from knapper.vault.relink.notes import Moves, Relinked, changed_links
from knapper.vault.relink.retarget import Retarget
from knapper.vault.relink.spelling import Spelled

_Changes: TypeAlias = tuple[list[tuple[Link, Spelled]], list[Link]]

_PATHS = {("file", "file"), ("background", "group")}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


def relink_canvas(text: str, source: str, moves: Moves) -> Relinked:
    """A canvas with its nodes naming moved files by their new paths; a ValueError where the text is no JSON."""
    return _rewritten(text, partial(changed_links, source=source, moves=moves), moves.paths.get)


def retarget_canvas(text: str, source: str, plan: Retarget) -> Relinked:
    """A canvas with nodes and links in cards naming another target; a ValueError where the text is no JSON."""
    return _rewritten(text, partial(plan.changes, source=source), plan.path)


def canvas_names(text: str) -> set[str]:
    """The paths that a canvas names, in its nodes and in the links of its cards; none where the text is no canvas."""
    try:
        nodes = [node for node in _nodes(text) if isinstance(node, dict)]
    except ValueError:  # no program could open it
        return set()
    names = {node.get(name) for name, kind in _PATHS for node in nodes if node.get("type") == kind}
    cards = [node.get("text") for node in nodes if node.get("type") == "text"]
    links = [
        link.path for card in cards if isinstance(card, str) and "[" in card for link in parse(card).links
    ]
    return {name for name in names if isinstance(name, str)} | set(links)


def _rewritten(
    text: str, change: Callable[[list[Link]], _Changes], path_of: Callable[[str], str | None]
) -> Relinked:
    nodes = _nodes(text)
    broken: list[Link] = []
    splices: list[tuple[int, int, str]] = []
    for index, name, start, raw in _texts(text) if nodes else ():
        node = nodes[index]
        kind = node.get("type") if isinstance(node, dict) else None
        value = json.loads(raw)
        if (name, kind) == ("text", "text"):
            found, failed = _in_card(value, raw, start, change)
            splices += found
            broken += failed
        elif (name, kind) in _PATHS and (new := path_of(value)) is not None:
            splices.append((start, start + len(raw), f'"{_escaped(new, raw)}"'))
    for start, end, written in sorted(splices, reverse=True):
        text = text[:start] + written + text[end:]
    return Relinked(text, len(splices), broken)


def _nodes(text: str) -> list[Any]:
    if not text.strip("\ufeff \t\r\n"):
        return []
    try:
        canvas = json.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    nodes = canvas.get("nodes") if isinstance(canvas, dict) else None
    return nodes if isinstance(nodes, list) else []


def _texts(text: str) -> Iterator[tuple[int, str, int, str]]:
    """The text values of the nodes: which node, under which name, where, and as written."""
    inside: list[str | int | None] = []  # of each open object the name just read, of each open list the index
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in "{[":
            inside.append(None if token == "{" else 0)
        elif token in "}]":
            inside.pop()
        elif token == ",":
            inside[-1] = inside[-1] + 1 if isinstance(inside[-1], int) else None
        elif token[0] == '"' and inside and inside[-1] is None:
            inside[-1] = json.loads(token)
        elif token[0] == '"' and len(inside) == 3:
            top, index, name = inside
            if top == "nodes" and isinstance(index, int) and isinstance(name, str):
                yield index, name, found.start(), token


def _in_card(
    value: str, raw: str, start: int, change: Callable[[list[Link]], _Changes]
) -> tuple[list[tuple[int, int, str]], list[Link]]:
    links = [link for link in parse(value).links if not link.in_frontmatter]
    changes, broken = change(links)
    if not changes:
        return [], broken
    at = [start + 1 + unit.start() for unit in _UNIT.finditer(raw[1:-1])]
    at.append(start + len(raw) - 1)
    spans = ((at[link.start + first], at[link.start + last], new) for link, (first, last, new) in changes)
    return [(first, last, _escaped(new, raw)) for first, last, new in spans], broken


def _escaped(text: str, like: str) -> str:
    """Text inside a JSON string, with characters escaped where the one it replaces has them escaped."""
    return json.dumps(text, ensure_ascii="\\u" in like)[1:-1]
