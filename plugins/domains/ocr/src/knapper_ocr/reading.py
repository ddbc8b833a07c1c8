"""One file read: found in the vault, told by its content, and given to a reader under the configured limits."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from shutil import which
from typing import Any, NamedTuple

import msgspec

from knapper import Context, ToolError, typed
from knapper.vault import mime
from knapper_ocr.process import GRACE_SECONDS, Reader
from knapper_ocr.reader import FORMATS, LACKING, PDF
from knapper_ocr.settings import OcrSettings

TEXT = "text"
PARTLY = "text in part"  # pages that are pictures await a program
OBSIDIAN = "obsidian"
Told = Callable[[int, int], None]


class Source(NamedTuple):
    """A file that can be read, as it was when it was loaded."""

    path: str
    data: bytes
    hash: str
    kind: str


class PageText(msgspec.Struct, omit_defaults=True):
    """One page: what is on it, how sure the program is, and whether it could not be read at all."""

    text: str
    confidence: float | None = None
    unread: bool = False


class Reading(NamedTuple):
    """What was read of a content, and how: out of it, by which program, or by Obsidian."""

    pages: list[PageText]
    how: str

    @property
    def text(self) -> str:
        return "\n\n".join(page.text for page in self.pages if page.text)


class Program(NamedTuple):
    """What reads pictures here."""

    name: str
    command: str
    how: str


def program(settings: OcrSettings) -> Program | None:
    """The program that is configured and installed."""
    if settings.program != "rapidocr" and (found := which(settings.tesseract)):
        return Program("tesseract", found, f"tesseract {settings.languages}")
    if settings.program != "tesseract" and find_spec("rapidocr") and find_spec("onnxruntime"):
        return Program("rapidocr", "", "rapidocr")
    return None


def load(ctx: Context, path: str) -> Source:
    """A file that is a picture or a document by its content, and not too large."""
    size, most = ctx.vault.stat(path).size, ctx.settings.max_bytes
    if size > most:
        message = f"{path!r} has {size} bytes, {most} are allowed"
        raise ToolError("invalid_input", message, path=path, size=size, limit=most)
    file = ctx.vault.read(path)
    kind = mime.of(path, file.data[:4096])
    if kind != PDF and kind not in FORMATS:
        message = f"{path!r} is {kind}; PDF, PNG, JPEG, WebP, TIFF, GIF and BMP can be read"
        raise ToolError("invalid_input", message, path=path, mime=kind)
    return Source(file.path, file.data, file.hash, kind)


def native(source: Source, settings: OcrSettings, cancelled: Callable[[], bool], told: Told) -> Reading:
    """What a reader makes of it; plugin_missing where it is all pictures and no program is there.

    It touches neither vault nor store, so that several can run at once.
    """
    found = program(settings)
    reader = Reader(_order(source, settings, found), source.data)
    pages, how = [], TEXT
    try:
        for answer in reader.pages(settings.page_seconds, settings.file_seconds, cancelled):
            pages.append(typed.convert(answer, PageText))
            if answer.get("seen") and found is not None:
                how = found.how
            elif answer.get("lacking"):
                how = PARTLY
            told(answer["page"], answer["of"])
    except ToolError as error:
        error.details.setdefault("path", source.path)
        raise
    finally:
        reader.close()
    if how == PARTLY and not any(page.text for page in pages):
        raise ToolError("plugin_missing", LACKING, plugin="tesseract", path=source.path)
    return Reading(pages, how)


def _order(source: Source, settings: OcrSettings, found: Program | None) -> dict[str, Any]:
    return {
        "kind": source.kind,
        "program": found.name if found else "",
        "command": found.command if found else "",
        "languages": settings.languages,
        "max_pixels": settings.max_pixels,
        "max_pages": settings.max_pages,
        "page_seconds": settings.page_seconds,
        "seconds": settings.file_seconds + GRACE_SECONDS,
    }
