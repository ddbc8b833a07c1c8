"""Elements of a drawing: what a new one needs to be complete, and how elements refer to each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from knapper import ToolError
from knapper_excalidraw.drawing import Json, raw_text
from knapper_excalidraw.shapes import box, number

TYPES = frozenset(
    [
        "rectangle",
        "ellipse",
        "diamond",
        "line",
        "arrow",
        "freedraw",
        "text",
        "image",
        "frame",
        "magicframe",
        "embeddable",
        "iframe",
    ]
)
SHORT = re.compile(r"[A-Za-z0-9_-]{8}")
COMMON: Json = {
    "angle": 0,
    "strokeColor": "#1e1e1e",
    "backgroundColor": "transparent",
    "fillStyle": "solid",
    "strokeWidth": 2,
    "strokeStyle": "solid",
    "roughness": 1,
    "opacity": 100,
    "groupIds": [],
    "frameId": None,
    "roundness": None,
    "isDeleted": False,
    "boundElements": [],
    "link": None,
    "locked": False,
}
LINEAR: Json = {"lastCommittedPoint": None, "startBinding": None, "endBinding": None, "startArrowhead": None}
OWN: dict[str, Json] = {
    "line": LINEAR | {"endArrowhead": None},
    "arrow": LINEAR | {"endArrowhead": "arrow", "elbowed": False},
    "freedraw": {"pressures": [], "simulatePressure": True, "lastCommittedPoint": None},
    "text": {
        "fontSize": 20,
        "fontFamily": 5,
        "textAlign": "left",
        "verticalAlign": "top",
        "containerId": None,
        "autoResize": True,
        "lineHeight": 1.25,
    },
    "image": {"status": "pending", "scale": [1, 1], "fileId": None},
    "frame": {"name": None},
}
MIDDLE: Json = {"textAlign": "center", "verticalAlign": "middle"}  # as Excalidraw puts a text into a shape
NUMBERS = ("x", "y", "width", "height", "angle", "opacity", "strokeWidth", "fontSize", "lineHeight")
BINDINGS = ("startBinding", "endBinding")


def complete(given: Json, place: int, now_ms: int) -> Json:
    """A new element with everything Excalidraw expects of one; invalid_input where it makes no sense."""
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise _wrong(given, f"type is {kind!r}, not one of {', '.join(sorted(TYPES))}")
    check({"id": "new", "text": raw_text(given) or None, **given})
    digest = sha256(json.dumps([place, given], sort_keys=True).encode()).hexdigest()
    element: Json = {"id": digest[:8], "type": kind, "x": 0, "y": 0, **_size(given, kind)}
    inside = MIDDLE if kind == "text" and given.get("containerId") else {}
    element |= {**COMMON, **OWN.get(kind, {}), **inside, "seed": int(digest[8:15], 16), "version": 1}
    element |= {"versionNonce": int(digest[15:22], 16), "updated": now_ms, **given}
    if kind == "text":
        set_text(element, raw_text(given))
        element |= {name: given[name] for name in ("width", "height", "text") if name in given}
    check(element)
    return json.loads(json.dumps(element))  # type: ignore[no-any-return]  # nothing of it is shared with a default


def set_text(element: Json, text: str) -> None:
    """Give a text element another text, and the size it takes about."""
    lines = text.split("\n")
    size, height = number(element.get("fontSize"), 20), number(element.get("lineHeight"), 1.25)
    element |= {"text": text, "rawText": text, "originalText": text}
    element |= {
        "width": round(max(map(len, lines)) * size * 0.55, 2),
        "height": round(len(lines) * size * height, 2),
    }


def check(element: Json) -> None:
    """Raise invalid_input where an element's place, size, points or text could not be drawn."""
    if not isinstance(element.get("id"), str) or not element["id"]:
        raise _wrong(element, "id is not a text")
    for name in NUMBERS:
        if name in element and not _is_number(element[name]):
            raise _wrong(element, f"{name} is {element[name]!r}, not a number")
    points = element.get("points", [])
    if not isinstance(points, list) or not all(_is_point(point) for point in points):
        raise _wrong(element, "points is not a list of [x, y]")
    if element.get("type") == "text" and not isinstance(element.get("text"), str):
        raise _wrong(element, "a text element needs text")
    if element.get("boundElements") and not _bound(element):
        raise _wrong(element, "boundElements is not a list of objects")


def check_references(elements: Iterable[Json], known: set[str]) -> None:
    """Raise invalid_input where an element is bound to one that is not there."""
    for element in elements:
        for name, target in _references(element):
            if target not in known:
                raise _wrong(element, f"{name} names {target!r}, and there is no such element")


def place(new: list[Json], given: list[Json], elements: list[Json]) -> None:
    """Put texts whose place nobody gave into the middle of what they are bound to."""
    by_id = {str(element.get("id")): element for element in elements}
    for element, asked in zip(new, given, strict=True):
        holder = by_id.get(str(element.get("containerId"))) if element["type"] == "text" else None
        if holder is not None and not {"x", "y"} & asked.keys():
            x, y, width, height = box(holder)
            element["x"] = round(x + (width - element["width"]) / 2, 2)
            element["y"] = round(y + (height - element["height"]) / 2, 2)


def tie(new: list[Json], elements: list[Json]) -> None:
    """Let what new arrows and texts are bound to know of them; Excalidraw keeps each binding on both sides."""
    by_id = {str(element.get("id")): element for element in elements}
    for element in new:
        for name, target in _references(element):
            if name == "frameId":
                continue
            if name in BINDINGS:
                element[name].setdefault("focus", 0)
                element[name].setdefault("gap", 1)
            other = by_id.get(target)
            if other is not None and all(one.get("id") != element["id"] for one in _bound(other)):
                own = {"id": element["id"], "type": element["type"]}
                other["boundElements"] = [*(other.get("boundElements") or []), own]


def untie(elements: list[Json], gone: set[str]) -> None:
    """Forget elements that are gone, wherever others refer to them."""
    for element in elements:
        for name, target in _references(element):
            if target in gone:
                element[name] = None
        left = [one for one in _bound(element) if str(one.get("id")) not in gone]
        if len(left) < len(_bound(element)):
            element["boundElements"][:] = left


def shorten(new: list[Json], others: list[Json]) -> dict[str, str]:
    """Give texts and linked elements ids of eight letters, which is what a note's sections can hold."""
    taken = {str(element.get("id")) for element in (*new, *others)}
    renamed: dict[str, str] = {}
    for element in new:
        own = element["id"]
        if (element["type"] == "text" or element.get("link")) and not SHORT.fullmatch(own):
            short, number = sha256(own.encode()).hexdigest()[:8], 0
            while short in taken:
                number += 1
                short = sha256(f"{own}{number}".encode()).hexdigest()[:8]
            taken.add(short)
            renamed[own] = element["id"] = short
    for element in new if renamed else ():
        _rename(element, renamed)
    return renamed


def _rename(element: Json, renamed: dict[str, str]) -> None:
    for name, target in _references(element):
        if target in renamed and name in BINDINGS:
            element[name]["elementId"] = renamed[target]
        elif target in renamed:
            element[name] = renamed[target]
    for one in _bound(element):
        one["id"] = renamed.get(str(one.get("id")), one.get("id"))


def _bound(element: Json) -> list[Json]:
    listed = element.get("boundElements")
    return listed if isinstance(listed, list) and all(isinstance(one, dict) for one in listed) else []


def _references(element: Json) -> list[tuple[str, str]]:
    found = [(name, element.get(name)) for name in ("containerId", "frameId")]
    for name in BINDINGS:
        binding = element.get(name)
        found.append((name, binding.get("elementId") if isinstance(binding, dict) else None))
    return [(name, target) for name, target in found if isinstance(target, str)]


def _size(given: Json, kind: str) -> Json:
    """The size of an element whose points or kind say it, and the points of one whose size says them."""
    if kind not in ("line", "arrow", "freedraw"):
        return {"width": 100, "height": 100}
    points = given.get("points")
    if not isinstance(points, list) or not points:
        width, height = given.get("width", 100), given.get("height", 0)
        return {"width": abs(width), "height": abs(height), "points": [[0, 0], [width, height]]}
    if not all(_is_point(point) for point in points):
        raise _wrong(given, "points is not a list of [x, y]")
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    return {"width": max(xs) - min(xs), "height": max(ys) - min(ys)}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e7


def _is_point(point: Any) -> bool:
    return isinstance(point, list) and len(point) >= 2 and all(_is_number(part) for part in point[:2])


def _wrong(element: Json, reason: str) -> ToolError:
    return ToolError("invalid_input", f"element {element.get('id')!r}: {reason}", id=element.get("id"))
