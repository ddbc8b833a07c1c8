import base64
import json
import re
import struct
from typing import Any
from xml.etree import ElementTree

import pytest

from knapper import Image
from knapper.testing import Calls, VaultFolder
from knapper_excalidraw import excalidraw

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SHOW: list[dict[str, Any]] = [
    {"id": "rect", "type": "rectangle", "x": 0, "y": 0, "width": 200, "height": 80, "backgroundColor": "#a5d8ff", "roundness": {"type": 3}},
    {"id": "round", "type": "ellipse", "x": 300, "y": 0, "width": 160, "height": 80, "strokeStyle": "dashed", "backgroundColor": "#ffc9c9", "fillStyle": "hachure"},
    {"id": "kite", "type": "diamond", "x": 0, "y": 200, "width": 120, "height": 120, "angle": 0.5},
    {"id": "line", "type": "line", "x": 200, "y": 200, "points": [[0, 0], [50, 60], [100, 0], [0, 0]], "backgroundColor": "#b2f2bb"},
    {"id": "arrow", "type": "arrow", "x": 200, "y": 40, "points": [[0, 0], [50, -20], [100, 0]], "roundness": {"type": 2}, "startArrowhead": "dot"},
    {"id": "ink", "type": "freedraw", "x": 350, "y": 200, "points": [[0, 0], [10, 40], [60, 10], [90, 60]], "strokeColor": "#e03131"},
    {"id": "words", "type": "text", "x": 20, "y": 25, "text": "Start <here> & now\nline two"},
    {"id": "pic", "type": "image", "x": 480, "y": 200, "width": 60, "height": 60, "fileId": "f1"},
    {"id": "frame", "type": "frame", "x": -20, "y": 180, "width": 600, "height": 180, "name": "Second row"},
]  # fmt: skip


def drawn(
    call: Calls, vault: VaultFolder, elements: list[dict[str, Any]], **more: Any
) -> ElementTree.Element:
    vault["d.excalidraw"] = json.dumps({"elements": elements, **more})
    svg = call(excalidraw, "export_excalidraw", path="d.excalidraw", format="svg")["svg"]
    return ElementTree.fromstring(re.sub(' xmlns="[^"]+"', "", svg))


def test_every_kind_of_element_is_drawn(call: Calls, vault: VaultFolder) -> None:
    root = drawn(call, vault, SHOW)
    tags = [one.tag for one in root.iter()]
    assert [tags.count(tag) for tag in ("ellipse", "polygon", "circle", "path", "text")] == [1, 1, 1, 4, 3]
    assert root.attrib["viewBox"] == "-37.42 -16 633.42 392"
    assert [text.text for text in root.iter("tspan")] == ["Start <here> & now", "line two"]


def test_a_shape_has_its_place_colours_and_turn(call: Calls, vault: VaultFolder) -> None:
    root = drawn(call, vault, [SHOW[0], SHOW[2]])
    rect = root.findall("rect")[1]
    assert rect.attrib == {
        "x": "0",
        "y": "0",
        "width": "200",
        "height": "80",
        "rx": "20",
        "fill": "#a5d8ff",
        "stroke": "#1e1e1e",
        "stroke-width": "2",
        "stroke-linecap": "round",
        "stroke-linejoin": "round",
    }
    turned = root.find("g")
    assert turned is not None
    assert turned.attrib["transform"] == "rotate(28.65 60 260)"


def test_a_picture_comes_as_an_image_of_the_size_asked_for(call: Calls, vault: VaultFolder) -> None:
    vault["d.excalidraw"] = json.dumps({"elements": SHOW})
    outcome = call.outcome(excalidraw, "export_excalidraw", path="d.excalidraw", scale=0.5)
    (image,) = outcome.attachments
    assert isinstance(image, Image)
    assert image.mime == "image/png"
    assert struct.unpack(">II", image.data[16:24]) == (317, 197)
    answer = json.loads(outcome.payload)
    assert (answer["width"], answer["height"]) == (317, 197)
    assert (answer["element_count"], answer["mime"]) == (9, "image/png")


def test_a_huge_drawing_is_drawn_smaller(call: Calls, vault: VaultFolder) -> None:
    wide = {"id": "w", "type": "rectangle", "x": 0, "y": 0, "width": 90_000, "height": 100}
    vault["d.excalidraw"] = json.dumps({"elements": [wide]})
    answer = call(excalidraw, "export_excalidraw", path="d.excalidraw", scale=4)
    assert 4000 < answer["width"] <= 4096
    assert answer["height"] == 6


@pytest.mark.parametrize("elements", [[], [{"type": "line"}], [{"type": "arrow", "points": [[0, 0]]}], [{}]])
def test_little_or_nothing_is_drawn_without_complaint(
    call: Calls, vault: VaultFolder, elements: list[dict[str, Any]]
) -> None:
    vault["d.excalidraw"] = json.dumps({"elements": elements})
    assert call(excalidraw, "export_excalidraw", path="d.excalidraw")["width"] > 0


def test_deleted_elements_and_the_paper_are_left_out_where_they_should_be(
    call: Calls, vault: VaultFolder
) -> None:
    vault["d.excalidraw"] = json.dumps(
        {
            "elements": [{**SHOW[0], "isDeleted": True}, SHOW[1]],
            "appState": {"viewBackgroundColor": "#fdf8f0"},
        }
    )
    with_paper = call(excalidraw, "export_excalidraw", path="d.excalidraw", format="svg")
    assert (with_paper["element_count"], with_paper["svg"].count("#fdf8f0")) == (1, 1)
    bare = call(excalidraw, "export_excalidraw", path="d.excalidraw", format="svg", background=False)
    assert "<rect" not in bare["svg"]


def test_a_drawing_cannot_smuggle_addresses_or_markup_into_its_picture(
    call: Calls, vault: VaultFolder
) -> None:
    nasty = 'red" onload="x'
    elements = [
        {**SHOW[0], "strokeColor": nasty, "backgroundColor": "url(file:///etc/passwd)", "x": nasty},
        {**SHOW[6], "text": "</text><script>x</script>\u0000", "fontFamily": nasty, "textAlign": nasty},
        {**SHOW[7], "fileId": "f1"},
        {**SHOW[8], "name": "<image href='file:///etc/passwd'/>"},
    ]
    files = {"f1": {"dataURL": "file:///etc/passwd"}}
    root = drawn(call, vault, elements, files=files, appState={"viewBackgroundColor": nasty})
    assert {one.tag for one in root.iter()} == {"svg", "rect", "text", "tspan"}
    values = [value for one in root.iter() for value in one.attrib.values()]
    assert not [value for value in values if "file:" in value or "onload" in value]


def test_pictures_inside_the_drawing_are_shown(call: Calls, vault: VaultFolder) -> None:
    data = "data:image/png;base64," + base64.b64encode(DOT).decode()
    root = drawn(call, vault, [SHOW[7]], files={"f1": {"dataURL": data, "mimeType": "image/png"}})
    image = root.find("image")
    assert image is not None
    assert image.attrib["{http://www.w3.org/1999/xlink}href"] == data


@pytest.mark.parametrize(("readable", "count"), [(["**"], 1), (["d.excalidraw.md"], 0)])
def test_pictures_of_the_vault_are_shown_to_those_who_may_read_them(
    call: Calls, vault: VaultFolder, readable: list[str], count: int
) -> None:
    vault["img/dot.png"] = DOT
    data = json.dumps({"elements": [SHOW[7]]})
    vault["d.excalidraw.md"] = (
        "---\nexcalidraw-plugin: parsed\n---\n# Excalidraw Data\n## Text Elements\n"
        f"## Embedded Files\nf1: [[dot.png]]\n\n%%\n## Drawing\n```json\n{data}\n```\n%%"
    )
    call.settings["acl"] = {"read_paths": readable}
    svg = call(excalidraw, "export_excalidraw", path="d.excalidraw.md", format="svg")["svg"]
    assert svg.count("<image") == count
    assert svg.count(base64.b64encode(DOT).decode()) == count
