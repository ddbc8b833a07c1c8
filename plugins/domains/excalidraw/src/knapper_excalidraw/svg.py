"""A drawing as a picture: SVG of our own making, and PNG made from it."""

from __future__ import annotations

import math
import re
import struct
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from knapper_excalidraw.drawing import Json
from knapper_excalidraw.labels import cut_out, labels_of_lines
from knapper_excalidraw.shapes import OUTLINES, box, heads, number, points, short

COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,20}|(?:rgb|hsl)a?\([0-9.,%/ ]{1,40}\)")
DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
SANS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', 'Noto Sans', sans-serif"
MONO = "Cascadia, 'Comic Shanns', Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace"
FONTS = {1: f"Virgil, {SANS}", 3: MONO, 5: f"Excalifont, Virgil, {SANS}", 6: f"Nunito, {SANS}", 8: MONO}
DASHES = {"dashed": (4, 3), "dotted": (0.1, 2)}
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
DARKENED = "invert(93%) hue-rotate(180deg)"  # how Excalidraw shows its dark theme; colours are stored as in the light one
UNDARKENED = "invert(100%) hue-rotate(180deg) saturate(1.25)"  # and keeps pictures as they are
PADDING = 16.0
LARGEST = 4096  # pixels of a side

Pictures = Mapping[str, tuple[bytes, str]]
"""The bytes and the type of embedded pictures, by file id."""


class Picture(NamedTuple):
    """An SVG and its size."""

    svg: str
    width: float
    height: float


def render(
    elements: list[Json], state: Json, files: Json, pictures: Pictures, *, background: bool
) -> Picture:
    """Draw elements from the lowest to the topmost."""
    left, top, width, height = view_box = _extent(elements)
    dark, labels = state.get("theme") == "dark", labels_of_lines(elements)
    drawn = ""
    for place, element in enumerate(elements):
        body = _drawn(element, files, pictures)
        if dark and element.get("type") == "image":
            body = f'<g filter="{UNDARKENED}">{body}</g>'
        drawn += cut_out(labels.get(str(element.get("id")), []), body, place, view_box)
    size = f'width="{short(width)}" height="{short(height)}"'
    view = f'viewBox="{short(left)} {short(top)} {short(width)} {short(height)}"'
    paper = ""
    if background:
        color = _color(state.get("viewBackgroundColor"), "#ffffff")
        paper = f'<rect x="{short(left)}" y="{short(top)}" {size} fill="{color}"/>'
    if dark:
        paper, drawn = f'<g filter="{DARKENED}">{paper}', f"{drawn}</g>"
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return Picture(f"<svg {names} {size} {view}>{paper}{drawn}</svg>", width, height)


def png(picture: Picture, scale: float) -> tuple[bytes, int, int]:
    """The picture in pixels, never more than can be looked at, with its width and height."""
    import resvg_py  # loads a renderer, which only this needs

    zoom = min(scale, LARGEST / picture.width, LARGEST / picture.height)
    width, height = max(1, round(picture.width * zoom)), max(1, round(picture.height * zoom))
    data = resvg_py.svg_to_bytes(svg_string=picture.svg, width=width, height=height)
    width, height = struct.unpack(">II", data[16:24])  # it rounds up where the sides do not fit exactly
    return data, width, height


def _extent(elements: list[Json]) -> tuple[float, float, float, float]:
    corners = [corner for element in elements for corner in _corners(element)] or [(0.0, 0.0), (100.0, 100.0)]
    left, top = min(x for x, _ in corners), min(y for _, y in corners)
    width, height = max(x for x, _ in corners) - left, max(y for _, y in corners) - top
    return left - PADDING, top - PADDING, width + 2 * PADDING, height + 2 * PADDING


def _corners(element: Json) -> list[tuple[float, float]]:
    x, y, width, height = box(element)
    angle = number(element.get("angle"))
    listed = [(x, y), (x + width, y), (x, y + height), (x + width, y + height)]
    if not angle:
        return listed
    middle_x, middle_y, cos, sin = x + width / 2, y + height / 2, math.cos(angle), math.sin(angle)
    return [
        (
            middle_x + (px - middle_x) * cos - (py - middle_y) * sin,
            middle_y + (px - middle_x) * sin + (py - middle_y) * cos,
        )
        for px, py in listed
    ]


def _drawn(element: Json, files: Json, pictures: Pictures) -> str:
    kind = str(element.get("type"))
    if kind in OUTLINES:
        body = _shape(element, kind)
    elif kind == "text":
        body = _text(element)
    elif kind == "image":
        body = _image(element, files, pictures)
    else:
        body = _labelled(element, str(element.get("name") or element.get("link") or kind.capitalize()))
    opacity = number(element.get("opacity"), 100.0)
    x, y, width, height = box(element)
    angle = math.degrees(number(element.get("angle")))
    turned = (
        f' transform="rotate({short(angle)} {short(x + width / 2)} {short(y + height / 2)})"' if angle else ""
    )
    faded = f' opacity="{short(opacity / 100)}"' if opacity < 100 else ""
    return f"<g{turned}{faded}>{body}</g>" if turned or faded else body


def _shape(element: Json, kind: str) -> str:
    color = _color(element.get("strokeColor"), "#1e1e1e")
    width = number(element.get("strokeWidth"), 2.0) * (1.6 if kind == "freedraw" else 1.0)
    dash = DASHES.get(str(element.get("strokeStyle")))
    dashes = f' stroke-dasharray="{short(dash[0] * width)} {short(dash[1] * width)}"' if dash else ""
    stroke = f'stroke="{color}" stroke-width="{short(width)}" stroke-linecap="round" stroke-linejoin="round"{dashes}'
    outline = OUTLINES[kind](element)
    fill = _fill(element, kind)
    tail = heads(element, color) if kind == "arrow" else ""
    return f"{outline} fill={fill} {stroke}/>{tail}"


def _fill(element: Json, kind: str) -> str:
    """The colour inside; hatched ones are drawn lighter, so that what lies on them can be read as in Excalidraw."""
    color = _color(element.get("backgroundColor"), "transparent")
    listed = points(element)
    if color == "transparent" or kind == "arrow" or (listed and listed[0] != listed[-1]):
        return '"none"'
    hatched = element.get("fillStyle") in ("hachure", "cross-hatch", "zigzag")
    return f'"{color}" fill-opacity="0.5"' if hatched else f'"{color}"'


def _text(element: Json) -> str:
    x, y, width, height = box(element)
    size = number(element.get("fontSize"), 20.0)
    step = size * number(element.get("lineHeight"), 1.25)
    align = str(element.get("textAlign", "left"))
    at = x + {"center": width / 2, "right": width}.get(align, 0.0)
    shown = str(element.get("text", "")).split("\n")
    # A text in a box is as high as its lines; of one that is taller, Excalidraw says where the lines go.
    spare = max(0.0, height - step * len(shown))
    top = y + {"middle": spare / 2, "bottom": spare}.get(str(element.get("verticalAlign")), 0.0)
    family = element.get("fontFamily")
    font = FONTS.get(family, SANS) if isinstance(family, int) else SANS
    color = _color(element.get("strokeColor"), "#1e1e1e")
    lines = "".join(
        f'<tspan x="{short(at)}" y="{short(top + step * (place + 0.5) + size * 0.35)}">{_plain(line)}</tspan>'
        for place, line in enumerate(shown)
    )
    style = f'font-family="{font}" font-size="{short(size)}" fill="{color}" text-anchor="{ANCHORS.get(align, "start")}"'
    return f'<text {style} xml:space="preserve">{lines}</text>'


def _image(element: Json, files: Json, pictures: Pictures) -> str:
    own = str(element.get("fileId"))
    file = files.get(own)
    data = file.get("dataURL") if isinstance(file, dict) else None
    if own in pictures:
        content, mime = pictures[own]
        data = f"data:{mime};base64,{b64encode(content).decode()}"
    if not isinstance(data, str) or not DATA.fullmatch(data):
        return _labelled(element, "Image")
    x, y, width, height = box(element)
    place = f'x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"'
    return f'<image {place} preserveAspectRatio="none" xlink:href="{data}"/>'


def _labelled(element: Json, label: str) -> str:
    """A box with a name, for what cannot be drawn here: frames, web pages, pictures that are not at hand."""
    x, y, width, height = box(element)
    place = f'x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"'
    framed = f'<rect {place} rx="8" fill="none" stroke="#bbbbbb" stroke-width="2" stroke-dasharray="6 4"/>'
    at = f'x="{short(x + 4)}" y="{short(y + 16)}" font-family="{SANS}" font-size="14" fill="#777777"'
    return f"{framed}<text {at}>{_plain(label[:80])}</text>"


def _plain(text: str) -> str:
    """Text for XML, without the control characters that XML cannot hold."""
    return escape("".join(letter for letter in text if letter >= " " or letter == "\t"), quote=False)


def _color(value: Any, default: str) -> str:
    return value if isinstance(value, str) and COLOR.fullmatch(value) else default
