"""The live engine: asked where it is wanted, and where no program is installed."""

from __future__ import annotations

from typing import Any

import pytest

from knapper import Bridge, ToolError, hookimpl
from knapper.testing import Calls, VaultFolder
from knapper_ocr import ocr
from tests.ocr.conftest import document, joined, picture, scan

LONG = "The bittern booms at dusk in the reeds"
NOTHING_INSTALLED = {"ocr": {"program": "tesseract", "tesseract": "no-such-program"}}


class LiveOcr:
    """Stands for the plugin: answers what it was given, and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, bool]] = []

    def read(self, path: str, force: bool) -> Any:
        self.asked.append((path, force))
        return self.answer

    @hookimpl
    def knapper_bridges(self) -> Bridge:
        return Bridge("ocr", "text-extractor", lambda settings: self)


def read(call: Calls, path: str, **more: Any) -> tuple[str, bool, str]:
    answer = call(ocr, "ocr_attachment", path=path, **more)
    return answer["text"], answer["cached"], answer["engine"]


def test_obsidian_is_asked_where_a_caller_wants_it(call: Calls, vault: VaultFolder) -> None:
    engine = LiveOcr({"path": "a.pdf", "text": "live", "cached": True, "duration_ms": 3})
    call.plugins.append(engine)
    vault["a.pdf"] = document(LONG)
    assert read(call, "a.pdf", engine="obsidian") == ("live", True, "obsidian")
    assert engine.asked == [("a.pdf", False)]
    assert read(call, "a.pdf") == (LONG, False, "native")


def test_obsidian_reads_what_no_program_here_can(call: Calls, vault: VaultFolder) -> None:
    engine = LiveOcr({"text": "live"})
    call.plugins.append(engine)
    call.settings = NOTHING_INSTALLED
    vault["a.png"] = picture("x")
    vault["b.pdf"] = document(LONG)
    vault["c.pdf"] = joined(document(LONG), scan("x"))
    assert read(call, "c.pdf") == ("live", False, "obsidian")
    assert read(call, "c.pdf", engine="native") == (LONG, False, "native")
    engine.asked.clear()
    assert read(call, "a.png") == ("live", False, "obsidian")
    assert read(call, "a.png") == ("live", True, "obsidian")
    assert read(call, "a.png", force=True) == ("live", False, "obsidian")
    assert read(call, "b.pdf") == (LONG, False, "native")
    assert engine.asked == [("a.png", False), ("a.png", True)]
    with pytest.raises(ToolError) as caught:
        read(call, "a.png", engine="native")
    assert caught.value.code == "plugin_missing"


def test_a_bulk_asks_obsidian_for_what_is_missing(call: Calls, vault: VaultFolder) -> None:
    engine = LiveOcr({"text": "live"})
    call.plugins.append(engine)
    call.settings = NOTHING_INSTALLED
    vault["a.png"] = picture("x")
    vault["b.pdf"] = document(LONG)
    answer = call(ocr, "ocr_bulk", force=True)
    assert [result["text"] for result in answer["results"]] == ["live", LONG]
    assert engine.asked == [("a.png", True)]


def test_an_answer_of_another_shape_is_none(call: Calls, vault: VaultFolder) -> None:
    call.plugins.append(LiveOcr({"words": []}))
    vault["a.png"] = picture("x")
    with pytest.raises(ToolError) as caught:
        read(call, "a.png", engine="obsidian")
    assert caught.value.code == "plugin_unreachable"


def test_without_a_bridge_obsidian_is_missing(call: Calls, vault: VaultFolder) -> None:
    vault["a.png"] = picture("x")
    with pytest.raises(ToolError) as caught:
        read(call, "a.png", engine="obsidian")
    assert caught.value.code == "plugin_missing"
