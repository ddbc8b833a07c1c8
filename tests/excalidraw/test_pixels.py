"""What a model sees of a drawing: the pixels of the rendered picture, where each thing should be."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from PIL import Image as Pixels

from knapper import Image
from knapper.testing import Calls, VaultFolder
from knapper_excalidraw import excalidraw

CORNERS: list[dict[str, Any]] = [
    {"id": "c1", "type": "rectangle", "x": 0, "y": 0, "width": 1, "height": 1, "strokeColor": "transparent"},
    {
        "id": "c2",
        "type": "rectangle",
        "x": 399,
        "y": 299,
        "width": 1,
        "height": 1,
        "strokeColor": "transparent",
    },
]
WHITE, DARK, RED, BLUE = (255, 255, 255), (17, 17, 16), (255, 0, 0), (0, 0, 255)


def seen(call: Calls, vault: VaultFolder, *elements: dict[str, Any], **state: Any) -> Pixels.Image:
    """The picture of a drawing from 0, 0 to 400, 300."""
    vault["d.excalidraw"] = json.dumps({"elements": [*CORNERS, *elements], "appState": state})
    (image,) = call.outcome(excalidraw, "export_excalidraw", path="d.excalidraw").attachments
    assert isinstance(image, Image)
    picture = Pixels.open(BytesIO(image.data)).convert("RGB")
    assert picture.size == (432, 332)
    return picture.crop((16, 16, 416, 316))


def inked(picture: Pixels.Image, area: tuple[int, int, int, int]) -> int:
    """How many pixels of an area are not of the paper's colour."""
    part = picture.crop(area)
    return sum(count for count, color in part.getcolors(part.width * part.height) or () if color != WHITE)


def shape(kind: str, **more: Any) -> dict[str, Any]:
    box = {"x": 100, "y": 100, "width": 200, "height": 100}
    return {"id": kind, "type": kind, **box, "strokeColor": "#ff0000", "strokeWidth": 4, **more}


@pytest.mark.parametrize(
    ("kind", "on", "off"),
    [
        ("rectangle", [(100, 100), (200, 100), (300, 150), (200, 200)], [(90, 150), (200, 210)]),
        ("ellipse", [(200, 100), (300, 150), (200, 200), (100, 150)], [(100, 100), (300, 200)]),
        ("diamond", [(200, 100), (299, 150), (200, 199), (150, 125)], [(100, 100), (300, 200), (130, 110)]),
    ],
)
def test_a_shape_is_where_it_should_be_and_filled(
    call: Calls, vault: VaultFolder, kind: str, on: list[tuple[int, int]], off: list[tuple[int, int]]
) -> None:
    picture = seen(call, vault, shape(kind, backgroundColor="#0000ff", fillStyle="solid"))
    assert [picture.getpixel(at) for at in on] == [RED] * len(on)
    assert [picture.getpixel(at) for at in off] == [WHITE] * len(off)
    assert picture.getpixel((200, 150)) == BLUE


def test_lines_arrows_and_strokes_go_through_their_points(call: Calls, vault: VaultFolder) -> None:
    points = {"points": [[0, 0], [100, 0], [100, 100]], "x": 100, "y": 100}
    for kind in ("line", "arrow", "freedraw"):
        picture = seen(call, vault, shape(kind, **points))
        assert [picture.getpixel(at) for at in ((102, 100), (198, 100), (200, 198))] == [RED] * 3, kind
        assert picture.getpixel((100, 199)) == WHITE


def test_an_arrow_has_a_head_and_a_line_has_none(call: Calls, vault: VaultFolder) -> None:
    points = {"points": [[0, 0], [200, 0]], "x": 100, "y": 150}
    beside = (270, 154, 300, 170)
    assert inked(seen(call, vault, shape("line", **points)), beside) == 0
    assert inked(seen(call, vault, shape("arrow", **points)), beside) > 20


def test_an_element_is_turned_around_its_middle(call: Calls, vault: VaultFolder) -> None:
    upright = seen(call, vault, shape("rectangle", angle=1.5707963267948966))
    assert [upright.getpixel(at) for at in ((200, 50), (200, 250), (150, 150), (250, 150))] == [RED] * 4
    assert upright.getpixel((100, 150)) == WHITE


def test_what_is_see_through_lets_the_paper_through(call: Calls, vault: VaultFolder) -> None:
    faded = shape("rectangle", backgroundColor="#0000ff", fillStyle="solid", opacity=50)
    assert seen(call, vault, faded).getpixel((200, 150)) in ((127, 127, 255), (128, 128, 255))


@pytest.mark.parametrize(("align", "left", "right"), [("left", 1, 0), ("center", 0, 0), ("right", 0, 1)])
def test_the_lines_of_a_text_stand_below_each_other_on_their_side(
    call: Calls, vault: VaultFolder, align: str, left: int, right: int
) -> None:
    words = {"text": "HHH\nH", "fontSize": 40, "textAlign": align, "strokeColor": "#000000"}
    picture = seen(
        call, vault, {"id": "t", "type": "text", "x": 50, "y": 100, "width": 300, "height": 100, **words}
    )
    if inked(picture, (0, 0, 400, 300)) == 0:
        pytest.skip("this machine has no fonts")
    assert inked(picture, (50, 100, 350, 150)) > inked(picture, (50, 150, 350, 200)) > 0
    assert [inked(picture, (50, 150, 80, 200)) > 0, inked(picture, (320, 150, 350, 200)) > 0] == [left, right]
    assert (inked(picture, (185, 150, 215, 200)) > 0) is (align == "center")


def test_a_line_makes_way_for_its_label(call: Calls, vault: VaultFolder) -> None:
    line = shape("arrow", points=[[0, 0], [200, 0]], x=100, y=150)
    label = {"id": "l", "type": "text", "x": 180, "y": 130, "width": 40, "height": 40, "text": ""}
    picture = seen(call, vault, line, {**label, "containerId": "arrow"})
    assert [picture.getpixel((x, 150)) for x in (150, 177, 200, 223, 250)] == [RED, WHITE, WHITE, WHITE, RED]
    assert seen(call, vault, line, label).getpixel((200, 150)) == RED


def test_the_dark_theme_is_shown_dark(call: Calls, vault: VaultFolder) -> None:
    box = shape("rectangle", strokeColor="#1e1e1e")
    dark = seen(call, vault, box, theme="dark", viewBackgroundColor="#ffffff")
    assert dark.getpixel((200, 150)) == DARK
    assert min(dark.getpixel((200, 100))) > 200  # type: ignore[arg-type]  # of an RGB picture it is a tuple
    light = seen(call, vault, box, theme="light", viewBackgroundColor="#101010")
    assert light.getpixel((200, 150)) == (16, 16, 16)


def test_a_text_of_no_given_place_is_put_into_the_middle_of_its_shape(
    call: Calls, vault: VaultFolder
) -> None:
    call(
        excalidraw,
        "create_excalidraw",
        path="d.excalidraw",
        elements=[shape("rectangle"), {"id": "t", "type": "text", "text": "Hi", "containerId": "rectangle"}],
    )
    box, text = call(excalidraw, "read_excalidraw", path="d.excalidraw")["elements"]
    assert (text["x"] + text["width"] / 2, text["y"] + text["height"] / 2) == (200, 150)
    assert (text["textAlign"], text["verticalAlign"]) == ("center", "middle")
    assert box["boundElements"] == [{"id": "t", "type": "text"}]
