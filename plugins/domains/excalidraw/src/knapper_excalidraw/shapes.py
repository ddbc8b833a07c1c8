"""The shapes of a drawing as SVG: each element's outline, and the heads of arrows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from knapper_excalidraw.drawing import Json

Point = tuple[float, float]


def number(value: Any, default: float = 0.0) -> float:
    """A coordinate, or the default where it is none that can be drawn."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e7:
        return float(value)
    return default


def short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value != 0 else "0"


def box(element: Json) -> tuple[float, float, float, float]:
    """Left, top, width and height; of lines by their points, which may lie on any side of the origin."""
    x, y = number(element.get("x")), number(element.get("y"))
    corners = points(element)
    if corners:
        xs, ys = [px for px, _ in corners], [py for _, py in corners]
        return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
    width, height = number(element.get("width")), number(element.get("height"))
    return min(x, x + width), min(y, y + height), abs(width), abs(height)


def points(element: Json) -> list[Point]:
    """The points of a line, an arrow or a stroke, on the canvas."""
    listed = element.get("points")
    if element.get("type") not in ("line", "arrow", "freedraw") or not isinstance(listed, list):
        return []
    x, y = number(element.get("x")), number(element.get("y"))
    return [(x + number(p[0]), y + number(p[1])) for p in listed if isinstance(p, list) and len(p) >= 2]


def rectangle(element: Json) -> str:
    x, y, width, height = box(element)
    radius = min(32.0, min(width, height) * 0.25) if element.get("roundness") else 0.0
    corner = f' rx="{short(radius)}"' if radius else ""
    return f'<rect x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"{corner}'


def ellipse(element: Json) -> str:
    x, y, width, height = box(element)
    middle = f'cx="{short(x + width / 2)}" cy="{short(y + height / 2)}"'
    return f'<ellipse {middle} rx="{short(width / 2)}" ry="{short(height / 2)}"'


def diamond(element: Json) -> str:
    x, y, width, height = box(element)
    middle_x, middle_y = x + width / 2, y + height / 2
    corners = [(middle_x, y), (x + width, middle_y), (middle_x, y + height), (x, middle_y)]
    return f'<polygon points="{_listed(corners)}"'


def line(element: Json) -> str:
    """Straight from point to point, or a smooth curve through them where the element is round."""
    listed = points(element)
    if len(listed) < 2:
        listed = listed * 2 or [box(element)[:2]] * 2
    smooth = (element.get("roundness") or element.get("type") == "freedraw") and len(listed) > 2
    return f'<path d="{_curve(listed) if smooth else _straight(listed)}"'


OUTLINES: dict[str, Callable[[Json], str]] = {
    "rectangle": rectangle,
    "ellipse": ellipse,
    "diamond": diamond,
    "line": line,
    "arrow": line,
    "freedraw": line,
}


def heads(element: Json, color: str) -> str:
    """The heads at both ends of an arrow."""
    listed = points(element)
    if len(listed) < 2:
        return ""
    width = number(element.get("strokeWidth"), 2.0)
    kinds = element.get("startArrowhead"), element.get("endArrowhead", "arrow")
    ends = (listed[1], listed[0]), (listed[-2], listed[-1])
    return "".join(
        _head(kind, start, tip, color, width)
        for kind, (start, tip) in zip(kinds, ends, strict=True)
        if isinstance(kind, str)
    )


def _head(kind: str, start: Point, tip: Point, color: str, width: float) -> str:
    length = math.dist(start, tip) or 1.0
    size = min(10 + 5 * width, max(length / 2, 4))
    back = ((start[0] - tip[0]) / length * size, (start[1] - tip[1]) / length * size)
    wings = [_turned(tip, back, angle) for angle in (-20, 20)]
    stroke = f'stroke="{color}" stroke-width="{short(width)}" stroke-linecap="round" stroke-linejoin="round"'
    if kind.startswith(("dot", "circle")):
        fill = "none" if kind.endswith("outline") else color
        middle = f'cx="{short(tip[0])}" cy="{short(tip[1])}" r="{short(size / 3)}"'
        return f'<circle {middle} fill="{fill}" {stroke}/>'
    if kind == "bar":
        wings = [_turned(tip, (back[0] / 2, back[1] / 2), angle) for angle in (-90, 90)]
        return f'<path d="{_straight(wings)}" fill="none" {stroke}/>'
    if kind.startswith(("triangle", "diamond")):
        far = (
            []
            if kind.startswith("triangle")
            else [(tip[0] + 2 * back[0] * 0.94, tip[1] + 2 * back[1] * 0.94)]
        )
        fill = "none" if kind.endswith("outline") else color
        corners = [tip, wings[0], *far, wings[1]]
        return f'<polygon points="{_listed(corners)}" fill="{fill}" {stroke}/>'
    return f'<path d="{_straight([wings[0], tip, wings[1]])}" fill="none" {stroke}/>'


def _turned(tip: Point, back: Point, degrees: float) -> Point:
    angle = math.radians(degrees)
    x = back[0] * math.cos(angle) - back[1] * math.sin(angle)
    y = back[0] * math.sin(angle) + back[1] * math.cos(angle)
    return tip[0] + x, tip[1] + y


def _listed(corners: list[Point]) -> str:
    return " ".join(f"{short(x)},{short(y)}" for x, y in corners)


def _straight(listed: list[Point]) -> str:
    return "M" + " L".join(f"{short(x)} {short(y)}" for x, y in listed)


def _curve(listed: list[Point]) -> str:
    """A Catmull-Rom spline as Bézier curves: through every point, with no corner at any."""
    padded = [listed[0], *listed, listed[-1]]
    parts = [f"M{short(listed[0][0])} {short(listed[0][1])}"]
    for before, start, end, after in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        first = (start[0] + (end[0] - before[0]) / 6, start[1] + (end[1] - before[1]) / 6)
        second = (end[0] - (after[0] - start[0]) / 6, end[1] - (after[1] - start[1]) / 6)
        parts.append("C" + " ".join(f"{short(x)} {short(y)}" for x, y in (first, second, end)))
    return " ".join(parts)
