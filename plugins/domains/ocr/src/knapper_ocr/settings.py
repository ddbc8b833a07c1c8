"""What can be configured of reading pictures and documents."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from knapper import Section


class OcrSettings(Section):
    """The section [ocr] of the configuration."""

    model_config = ConfigDict(
        regex_engine="python-re"
    )  # the other takes ten times as long to build every letter there is

    program: Literal["auto", "tesseract", "rapidocr"] = Field(
        "auto", description="What reads pictures: tesseract where it is installed, else rapidocr."
    )
    tesseract: str = Field("tesseract", description="The command, or where the program is.")
    languages: str = Field(
        "eng",
        pattern=r"^\w[\w/]*(\+\w[\w/]*)*$",
        description="Tesseract's names of the languages to expect, such as eng+deu.",
    )
    max_bytes: int = Field(50 * 1024 * 1024, ge=1, description="The largest file that is read.")
    max_pixels: int = Field(50_000_000, ge=10_000, description="The largest picture that is unpacked.")
    max_pages: int = Field(1000, ge=1, description="The longest document that is read.")
    page_seconds: float = Field(60, gt=0, le=3600, description="How long one page may take.")
    file_seconds: float = Field(900, gt=0, le=86400, description="How long one file may take.")
