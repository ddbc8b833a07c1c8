"""A drawing reaches a client's model as a picture, over stdio."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

from tests.server.conftest import Pipe, Place


def test_an_exported_drawing_is_an_image_of_the_protocol(pipe: Callable[..., Pipe], place: Place) -> None:
    box = {"id": "b", "type": "rectangle", "x": 0, "y": 0, "width": 100, "height": 50}
    (place.vault / "d.excalidraw").write_text(json.dumps({"elements": [box]}))
    one = pipe(KNAPPER_PLUGINS__ONLY='["excalidraw"]')
    one.initialize()
    found = one.call(1, "export_excalidraw", path="d.excalidraw")["result"]
    (image,) = [content for content in found["content"] if content["type"] == "image"]
    assert image["mimeType"] == "image/png"
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG\r\n\x1a\n")
    assert found["structuredContent"] == {
        "path": "d.excalidraw",
        "format": "png",
        "mime": "image/png",
        "width": 132,
        "height": 82,
        "element_count": 1,
    }
    as_text = one.call(2, "export_excalidraw", path="d.excalidraw", format="svg")["result"]
    assert as_text["structuredContent"]["svg"].startswith("<svg ")
    assert [content["type"] for content in as_text["content"]] == ["text"]
