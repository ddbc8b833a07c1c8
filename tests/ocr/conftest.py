"""Pictures and documents with known text, made by the tests; and programs that stand in for tesseract where one must fail."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from shutil import which
from threading import Event
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from pypdfium2 import PdfDocument

needs_tesseract = pytest.mark.skipif(
    which("tesseract") is None, reason="needs tesseract (Debian: tesseract-ocr)"
)
needs_rapidocr = pytest.mark.skipif(find_spec("rapidocr") is None, reason="needs knapper-ocr[rapidocr]")
posix = pytest.mark.skipif(sys.platform == "win32", reason="stands in for a program with a script")

FakeTesseract = Callable[[str], str]
TABLE = "level\\tpage\\tblock\\tpar\\tline\\tword\\tleft\\ttop\\twidth\\theight\\tconf\\ttext"


def drawn(*lines: str) -> Image.Image:
    """A picture of some lines of text."""
    image = Image.new("RGB", (1100, 60 + 90 * len(lines)), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(56)
    for number, line in enumerate(lines):
        pen.text((30, 30 + 90 * number), line, fill="black", font=font)
    return image


def picture(*lines: str, format: str = "PNG", **how: Any) -> bytes:
    file = BytesIO()
    drawn(*lines).save(file, format, **how)
    return file.getvalue()


def scan(*pages: str) -> bytes:
    """A PDF whose pages are pictures."""
    first, *rest = [drawn(*page.split("\n")) for page in pages]
    file = BytesIO()
    first.save(file, "PDF", save_all=True, append_images=rest)
    return file.getvalue()


def document(*pages: str) -> bytes:
    """A PDF whose pages hold text."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, page in enumerate(pages):
        shown = " T* ".join(f"({line}) Tj" for line in page.split("\n"))
        stream = f"BT /F1 14 Tf 16 TL 72 700 Td {shown} ET"
        objects += [
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
            f"/Contents {5 + 2 * number} 0 R>>",
            f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        ]
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj{content}endobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return out + f"{head}trailer<</Size {len(objects) + 1}/Root 1 0 R>>startxref\n{len(out)}\n%%EOF".encode()


def joined(*documents: bytes) -> bytes:
    """The pages of several documents in one."""
    whole, file = PdfDocument.new(), BytesIO()
    for one in documents:
        whole.import_pages(PdfDocument(one))
    whole.save(file)
    return file.getvalue()


@pytest.fixture
def fake_tesseract(tmp_path: Path) -> FakeTesseract:
    """A program with tesseract's manners: `say(text)` answers with a text, and it does what it is told before."""

    def make(body: str) -> str:
        script = tmp_path / "fake-tesseract"
        script.write_text(
            f"#!{sys.executable}\nimport sys, time\ndata = sys.stdin.buffer.read()\n"
            f"def say(text):\n    print('{TABLE}')\n"
            "    print('5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t9\\t9\\t90\\t' + text)\n"
            f"{body}\n",
            encoding="utf-8",
        )
        script.chmod(0o755)
        return str(script)

    return make


def hanging(held: Path) -> str:
    """What a program does that never answers; it holds a file for as long as it lives."""
    made = f"{held}.made"
    return (
        f"import fcntl, os\nf = open({made!r}, 'w')\nfcntl.flock(f, fcntl.LOCK_EX)\n"
        f"os.rename({made!r}, {str(held)!r})\ntime.sleep(600)"
    )


def wait_for_its_death(held: Path) -> None:
    import fcntl

    with held.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def until(true: Callable[[], bool]) -> None:
    tick = Event()
    while not true():
        tick.wait(0.01)
