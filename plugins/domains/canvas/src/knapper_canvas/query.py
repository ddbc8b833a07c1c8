"""Finding nodes in canvases by what they are and what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from knapper import Record
from knapper_canvas.canvas import Json

SNIPPET = 200


class Filter(Record, forbid_unknown_fields=True):
    """What a node must have; all of it."""

    type: Literal["text", "file", "link", "group"] | None = None
    color: str | None = None
    file_path_contains: str | None = None
    text_contains: str | None = None
    has_edge_to: str | None = None


class Hit(Record):
    """One node of one canvas."""

    terse: ClassVar[tuple[str, ...]] = ("canvas_path", "node_id", "snippet")
    canvas_path: str
    node_id: str
    type: str
    snippet: str | None = None


def hits(path: str, nodes: list[Json], edges: list[Json], wanted: Filter) -> Iterator[Hit]:
    """The nodes of one canvas that fit, in the order of their ids."""
    fitting = _leading_to(nodes, edges, wanted.has_edge_to)
    for node in sorted(nodes, key=lambda one: str(one.get("id"))):
        own = str(node.get("id"))
        if (fitting is None or own in fitting) and _fits(node, wanted):
            snippet = _snippet(_text(node), wanted.text_contains)
            yield Hit(canvas_path=path, node_id=own, type=str(node.get("type")), snippet=snippet)


def _leading_to(nodes: list[Json], edges: list[Json], target: str | None) -> set[str] | None:
    """Ids of the nodes with an edge to a node, which its id or the path of its file names."""
    if target is None:
        return None
    meant = {target} | {str(node.get("id")) for node in nodes if node.get("file") == target}
    return {str(edge.get("fromNode")) for edge in edges if str(edge.get("toNode")) in meant}


def _fits(node: Json, wanted: Filter) -> bool:
    return (
        wanted.type in (None, node.get("type"))
        and (wanted.color is None or str(node.get("color", "")).casefold() == wanted.color.casefold())
        and _contains(node.get("file"), wanted.file_path_contains)
        and _contains(_text(node), wanted.text_contains)
    )


def _contains(value: Any, part: str | None) -> bool:
    return part is None or (isinstance(value, str) and part.casefold() in value.casefold())


def _text(node: Json) -> str:
    """What a node shows: its text, its file and place in it, its address or its label."""
    if node.get("type") == "file":
        return f"{node.get('file', '')}{node.get('subpath', '')}"
    return str(node.get({"link": "url", "group": "label"}.get(str(node.get("type")), "text"), ""))


def _snippet(text: str, part: str | None) -> str | None:
    """The text on one line, cut around what was looked for."""
    line = " ".join(text.split())
    at = line.casefold().find(part.casefold()) if part else 0
    start = max(0, at - SNIPPET // 4)
    return line[start : start + SNIPPET] or None
