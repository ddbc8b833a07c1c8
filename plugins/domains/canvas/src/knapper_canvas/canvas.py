"""A canvas as JSON Canvas 1.0 has it: what it must hold, and what is wrong with one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from knapper import ToolError
from knapper.vault.jsontext import Document

EMPTY = '{\n\t"nodes":[],\n\t"edges":[]\n}'
LEVELS = 2  # Obsidian gives each node and each edge one line
COLOR = re.compile(r"[1-6]|#[0-9a-fA-F]{6}")
NUMBERS = ("x", "y", "width", "height")
NEEDED = {"text": ("text",), "file": ("file",), "link": ("url",), "group": ()}
TEXTS = ("text", "file", "subpath", "url", "label", "background")
SIDES = ("top", "right", "bottom", "left")
ENDS = ("none", "arrow")
CHOICES = {
    "backgroundStyle": ("cover", "ratio", "repeat"),
    "fromSide": SIDES,
    "toSide": SIDES,
    "fromEnd": ENDS,
    "toEnd": ENDS,
}
Json = dict[str, Any]


def opened(text: str, path: str) -> Document:
    """A canvas to be changed, with its lists of nodes and edges in place; an empty file is an empty canvas."""
    try:
        document = Document(text if text.strip() else EMPTY, broken=LEVELS)
    except ValueError as error:
        raise _broken(path, str(error)) from None
    _check_shape(document.value, path)
    return document


def read(text: str, path: str) -> tuple[list[Json], list[Json]]:
    """The nodes and edges of a canvas."""
    try:
        value = _decoded(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise _broken(path, "it does not parse") from None
    _check_shape(value, path)
    return value.get("nodes", []), value.get("edges", [])


def _decoded(text: str) -> Any:
    """The quick way, but for texts that may spell half a character."""
    return Document(text).value if "\\ud" in text.lower() else json.loads(text)


def _check_shape(value: Any, path: str) -> None:
    if not isinstance(value, dict):
        raise _broken(path, "it is not an object")
    for name in ("nodes", "edges"):
        listed = value.get(name, [])
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise _broken(path, f"{name} is not a list of objects")


def _broken(path: str, reason: str) -> ToolError:
    return ToolError("invalid_input", f"{path!r} is not a canvas: {reason}", path=path)


def named(given: Iterable[Json], kind: str) -> list[Json]:
    """What is to be added, each with an id; one that is made up depends on the content, so a repeat makes the same."""
    made = []
    for place, one in enumerate(given):
        if "id" not in one:
            facts = json.dumps([kind, place, one], sort_keys=True)
            one = {"id": sha256(facts.encode()).hexdigest()[:16], **one}
        made.append(one)
    return made


def refuse(problems: Iterable[str]) -> None:
    """Raise invalid_input with everything that is wrong, if something is."""
    found = list(problems)
    if found:
        raise ToolError("invalid_input", "; ".join(found[:5]), issues=found[:50])


def node_problems(node: Json) -> Iterator[str]:
    """What is wrong with a node, each as a sentence that names it."""
    who, kind = f"node {node.get('id')!r}", node.get("type")
    if not _is_id(node.get("id")):
        yield f"{who}: id is not a text"
    if not isinstance(kind, str) or kind not in NEEDED:
        yield f"{who}: type is {kind!r}, not one of text, file, link, group"
    else:
        yield from (f"{who}: a {kind} node needs {name}" for name in NEEDED[kind] if name not in node)
    if missing := [name for name in NUMBERS if name not in node]:
        yield f"{who}: needs {', '.join(missing)}, numbers of pixels"
    for name in NUMBERS:
        if name in node and not _is_number(node[name]):
            yield f"{who}: {name} is {node[name]!r}, not a number"
        elif name in ("width", "height") and node.get(name, 0) < 0:
            yield f"{who}: {name} is negative"
    subpath = node.get("subpath")
    if isinstance(subpath, str) and not subpath.startswith("#"):
        yield f"{who}: subpath {subpath!r} does not start with #"
    yield from _field_problems(node, who)


def edge_problems(edge: Json, nodes: set[str]) -> Iterator[str]:
    """What is wrong with an edge between nodes of these ids."""
    who = f"edge {edge.get('id')!r}"
    if not _is_id(edge.get("id")):
        yield f"{who}: id is not a text"
    for name in ("fromNode", "toNode"):
        end = edge.get(name)
        if end is None:
            yield f"{who}: needs {name}, the id of a node"
        elif not isinstance(end, str) or end not in nodes:
            yield f"{who}: {name} is {end!r}, and there is no such node"
    yield from _field_problems(edge, who)


def _field_problems(one: Json, who: str) -> Iterator[str]:
    color = one.get("color")
    if color is not None and not (isinstance(color, str) and COLOR.fullmatch(color)):
        yield f"{who}: color is {color!r}, neither '1' to '6' nor '#RRGGBB'"
    for name in TEXTS:
        if name in one and not isinstance(one[name], str):
            yield f"{who}: {name} is not a text"
    for name, allowed in CHOICES.items():
        if name in one and one[name] not in allowed:
            yield f"{who}: {name} is {one[name]!r}, not one of {', '.join(allowed)}"


def repeated(listed: Iterable[Json], kind: str) -> Iterator[str]:
    """Ids that more than one of these have."""
    seen: set[str] = set()
    for one in listed:
        own = str(one.get("id"))
        if own in seen:
            yield f"{kind} {own!r}: the id is taken"
        seen.add(own)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
