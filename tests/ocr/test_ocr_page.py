"""What the page about OCR says is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import knapper_ocr
from knapper_ocr import ocr, reader
from knapper_ocr.settings import OcrSettings

TEXT = (Path(__file__).parents[2] / "docs" / "ocr.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_the_limits_are_those_of_the_settings() -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", section("Limits"), re.MULTILINE))
    fields = OcrSettings.model_fields
    assert listed == {
        name: str(float(field.default) if name.endswith("seconds") else field.default)
        for name, field in fields.items()
        if name.startswith("max_") or name.endswith("_seconds")
    }
    assert f"{reader.MEMORY >> 30} GiB" in section("Limits")


def test_the_kinds_of_files_are_those_that_are_read() -> None:
    named = re.findall(r"`([a-z]+/[a-z]+)`", section("What reads what"))
    assert sorted(named) == sorted([*reader.FORMATS, reader.PDF])
    assert f"fewer than {reader.LITTLE} letters" in section("What reads what")


def test_the_names_that_search_finds_are_those_the_index_is_told_of() -> None:
    (source,) = ocr.text_sources
    assert set(re.findall(r"`\.(\w+)`", section("Search"))) == source.extensions


def test_the_bounds_of_a_bulk_are_the_tools() -> None:
    text = section("Many files")
    assert f"More than {knapper_ocr.MANY} files" in text
    assert f"{knapper_ocr.MOST_TEXT} characters" in text
    schema = ocr.tools["ocr_bulk"].input_schema["properties"]["max_concurrent"]
    assert (schema["default"], schema["maximum"]) == (2, 4)
    assert "two at once unless told otherwise, four at most" in text
