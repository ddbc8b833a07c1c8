"""Labels of arrows and lines: Excalidraw leaves the line out where its label stands."""

from __future__ import annotations

from knapper_excalidraw.drawing import Json
from knapper_excalidraw.shapes import box, short

Box = tuple[float, float, float, float]
GAP = 5.0  # around a label


def labels_of_lines(elements: list[Json]) -> dict[str, list[Box]]:
    """Where the labels of each arrow and line are, by its id."""
    lines = {str(one.get("id")) for one in elements if one.get("type") in ("arrow", "line")}
    found: dict[str, list[Box]] = {}
    for one in elements:
        if one.get("type") == "text" and (own := str(one.get("containerId"))) in lines:
            found.setdefault(own, []).append(box(one))
    return found


def cut_out(labels: list[Box], body: str, place: int, view: Box) -> str:
    """What is drawn, without the places of labels."""
    if not labels:
        return body
    holes = "".join(
        _rect((x - GAP, y - GAP, width + 2 * GAP, height + 2 * GAP), "#000") for x, y, width, height in labels
    )
    mask = f'<mask id="labels{place}" maskUnits="userSpaceOnUse" {_place(view)}>{_rect(view, "#fff")}{holes}</mask>'
    return f'{mask}<g mask="url(#labels{place})">{body}</g>'


def _rect(at: Box, color: str) -> str:
    return f'<rect {_place(at)} fill="{color}"/>'


def _place(at: Box) -> str:
    names = ("x", "y", "width", "height")
    return " ".join(f'{name}="{short(value)}"' for name, value in zip(names, at, strict=True))
