"""A process that reads the text of one file, to be killed when it takes too long.

What it opens may be broken or hostile, and what decodes it is written in C. So it is a process of its own with little
memory, started as a file: it imports only what this one file needs. It gets an order as a line of JSON and then the
file's bytes, and answers with a line of JSON for each page.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image

PDF = "application/pdf"
FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/webp": "WEBP",
    "image/tiff": "TIFF",
    "image/gif": "GIF",
    "image/bmp": "BMP",
}
MEMORY = 2 << 30
DPI = 300
LITTLE = 24  # letters: a page of a document with fewer may be a scan with a page number on it
SMALL = 2_000_000  # pixels: letters on a screen are smaller than programs that read paper expect
LACKING = "no program that reads pictures is installed"
BROKEN_WORD = re.compile("[\x02\ufffe]\\s*")  # how PDFium marks a hyphen at the end of a line


class Refused(Exception):
    """Why a file, or one page of it, is not read."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.answer = {"code": code, "message": message, "details": details}


def main() -> None:
    """Answer one order, with an error in the place of a page where it cannot be gone on."""
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)  # a library that prints must not break the protocol
    order = json.loads(sys.stdin.buffer.readline())
    _limit(order["seconds"])
    try:
        for page in pages(order, sys.stdin.buffer.read()):
            print(json.dumps(page), file=pipe, flush=True)
        print(json.dumps({"end": True}), file=pipe, flush=True)
    except Refused as error:
        print(json.dumps(error.answer), file=pipe, flush=True)


def pages(order: dict[str, Any], data: bytes) -> Iterator[dict[str, Any]]:
    """What is on each page, with how sure the program is of it where it was read off a picture."""
    if order["kind"] == PDF:
        yield from _document(order, data)
        return
    for number, (count, image) in enumerate(_pictures(order, data), 1):
        yield {"page": number, "of": count, **_seen(order, image, number)}


def _document(order: dict[str, Any], data: bytes) -> Iterator[dict[str, Any]]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = "assword" in str(error)
        raise Refused(
            "invalid_input",
            "the document needs a password" if locked else "the document is broken: no PDF reader opens it",
        ) from None
    _check_count(order, len(document))
    for index in range(len(document)):
        try:
            read = _document_page(order, document, index)
        except pypdfium2.PdfiumError:
            read = {"text": "", "unread": True}
        yield {"page": index + 1, "of": len(document), **read}


def _document_page(order: dict[str, Any], document: Any, index: int) -> dict[str, Any]:
    """The text that a page holds; where it has next to none and a picture, what can be read off the whole page."""
    from pypdfium2 import raw

    page = document[index]
    text = BROKEN_WORD.sub("", page.get_textpage().get_text_range()).replace("\r\n", "\n").strip()
    letters = sum(not char.isspace() for char in text)
    if letters >= LITTLE or not (images := list(page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], max_depth=8))):
        return {"text": text}
    if not order["program"]:
        return {"text": text, "unread": True, "lacking": True}
    if max(map(_pixels, images)) > order["max_pixels"]:
        return {"text": text, "unread": True}
    width, height = page.get_size()
    most = (order["max_pixels"] / max(width * height, 1)) ** 0.5
    bitmap = page.render(scale=min(DPI / 72, most), grayscale=True)
    seen = _seen(order, bitmap.to_pil(), index + 1)
    return seen if len(seen["text"]) >= len(text) else {"text": text}


def _pixels(image: Any) -> int:
    width, height = image.get_px_size()
    return int(width * height)


def _pictures(order: dict[str, Any], data: bytes) -> Iterator[tuple[int, Image]]:
    """The pages of a picture: one, but for scans in a TIFF. Its size is looked at before it is unpacked."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # our own limit is stricter, and says what it is
    try:
        with Image.open(BytesIO(data), formats=[FORMATS[order["kind"]]]) as image:
            count = getattr(image, "n_frames", 1) if order["kind"] == "image/tiff" else 1
            _check_count(order, count)
            for frame in range(count):
                if frame:
                    image.seek(frame)
                _check_pixels(order, image.width * image.height)
                yield count, _grey(ImageOps.exif_transpose(image), order["max_pixels"])
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
        kind = order["kind"].partition("/")[2]
        raise Refused("invalid_input", f"the picture is broken: it is no whole {kind}") from error


def _grey(image: Image, most: int) -> Image:
    """Shades of grey on white, which both programs read best, and enlarged where the letters are a screen's."""
    import PIL.Image

    if image.mode.startswith(("I", "F")):
        low, high = (float(value) for value in image.getextrema() if isinstance(value, int | float))
        scale = 255 / ((high - low) or 1)
        image = image.convert("F").point(lambda value: value * scale - low * scale)
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        image = PIL.Image.alpha_composite(PIL.Image.new("RGBA", image.size, "white"), image)
    grey = image.convert("L")
    if grey.width * grey.height > min(SMALL, most // 4):
        return grey
    return grey.resize((grey.width * 2, grey.height * 2), PIL.Image.Resampling.LANCZOS)


def _check_count(order: dict[str, Any], count: int) -> None:
    if count > order["max_pages"]:
        message = f"it has {count} pages, {order['max_pages']} are allowed"
        raise Refused("invalid_input", message, pages=count, limit=order["max_pages"])


def _check_pixels(order: dict[str, Any], count: int) -> None:
    if count > order["max_pixels"]:
        message = f"the picture has {count} pixels, {order['max_pixels']} are allowed"
        raise Refused("invalid_input", message, pixels=count, limit=order["max_pixels"])


def _seen(order: dict[str, Any], image: Image, number: int) -> dict[str, Any]:
    if order["program"] == "tesseract":
        return _by_tesseract(order, image, number)
    if order["program"] == "rapidocr":
        return _by_rapidocr(image)
    raise Refused("plugin_missing", LACKING, plugin="tesseract")


def _by_tesseract(order: dict[str, Any], image: Image, number: int) -> dict[str, Any]:
    picture = BytesIO()
    image.save(picture, "PPM")
    command = [order["command"], "stdin", "stdout", "-l", order["languages"], "tsv"]
    try:
        done = subprocess.run(
            command, input=picture.getvalue(), capture_output=True, timeout=order["page_seconds"], check=False
        )
    except subprocess.TimeoutExpired:
        message = f"tesseract took over {order['page_seconds']:g} s for page {number}"
        raise Refused("operation_timeout", message, page=number) from None
    except OSError:
        raise Refused("plugin_missing", "tesseract cannot be started", plugin="tesseract") from None
    _check(done.returncode, done.stderr.decode(errors="replace"), number)
    return _of_words(done.stdout.decode(errors="replace"))


def _check(code: int, said: str, number: int) -> None:
    """It goes on with the other languages where one is missing; a text that is read wrongly helps nobody."""
    if missing := re.search(r"Failed loading language '([\w/]+)'", said):
        message = f"tesseract has no data for the language {missing[1]!r}"
        raise Refused("plugin_missing", message, plugin=f"tesseract-ocr-{missing[1]}")
    if code:
        raise Refused("invalid_input", f"tesseract cannot read page {number}", page=number)


def _of_words(table: str) -> dict[str, Any]:
    """Tesseract's table of words as text: its lines, and a blank one between paragraphs."""
    lines: dict[tuple[str, ...], list[str]] = {}
    sure: list[float] = []
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == "5" and cells[11].strip():
            lines.setdefault(tuple(cells[1:5]), []).append(cells[11].strip())
            sure.append(float(cells[10]))
    text, paragraph = "", None
    for place, words in lines.items():
        between = "" if paragraph is None else "\n" if paragraph == place[:3] else "\n\n"
        text, paragraph = text + between + " ".join(words), place[:3]
    return _page(text, [value / 100 for value in sure])


def _by_rapidocr(image: Image) -> dict[str, Any]:
    global _rapidocr
    if _rapidocr is None:
        from rapidocr import RapidOCR

        _rapidocr = RapidOCR()
    from numpy import asarray

    found = _rapidocr(asarray(image.convert("RGB")))
    return _page("\n".join(found.txts or ()), [float(score) for score in found.scores or ()])


def _page(text: str, sure: list[float]) -> dict[str, Any]:
    return {"text": text, "confidence": round(sum(sure) / len(sure), 3) if sure else None, "seen": True}


_rapidocr: Any = None


def _limit(seconds: float) -> None:
    """Where nobody is left to end it, it ends by itself."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


if __name__ == "__main__":
    main()
