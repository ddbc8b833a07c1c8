"""One file: read page by page, told by its content, kept by it, and refused where it cannot be read."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from PIL import Image

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_ocr import ocr
from tests.ocr.conftest import (
    FakeTesseract,
    document,
    drawn,
    hanging,
    joined,
    needs_rapidocr,
    needs_tesseract,
    picture,
    posix,
    scan,
    until,
    wait_for_its_death,
)

LONG = "The bittern booms at dusk in the reeds"


def read(call: Calls, path: str, **more: Any) -> Any:
    """An answer without what a clock measured."""
    answer = call(ocr, "ocr_attachment", path=path, **more)
    assert answer.pop("duration_ms") >= 0
    return answer


def brief(call: Calls, path: str, **more: Any) -> tuple[str, bool]:
    answer = read(call, path, **more)
    return answer["text"], answer["cached"]


def refused(call: Calls, path: str, **more: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        call(ocr, "ocr_attachment", path=path, **more)
    return caught.value


def without_program(**more: Any) -> dict[str, Any]:
    return {"ocr": {"program": "tesseract", "tesseract": "no-such-program", **more}}


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(ocr)


@needs_tesseract
@pytest.mark.parametrize(("format", "name"), [("PNG", "a.png"), ("JPEG", "a.jpg"), ("WEBP", "a.webp")])
def test_a_picture_is_read(call: Calls, vault: VaultFolder, format: str, name: str) -> None:
    vault[name] = picture("A heron stands", "in shallow water", format=format)
    answer = read(call, name)
    (page,) = answer["pages"]
    assert answer["text"].split() == ["A", "heron", "stands", "in", "shallow", "water"]
    assert (page["page"], page["text"]) == (1, answer["text"])
    assert 0.8 < page["confidence"] <= 1
    assert (answer["path"], answer["cached"], answer["engine"]) == (name, False, "native")


@needs_tesseract
def test_small_letters_white_on_dark_and_clear_ground_are_read(call: Calls, vault: VaultFolder) -> None:
    small = drawn("Screen letters are small").resize((365, 50), Image.Resampling.LANCZOS)
    dark = Image.eval(drawn("Light letters on dark"), lambda value: 255 - value)
    clear = Image.new("RGBA", (1100, 150), (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), mask=Image.eval(drawn("Nothing behind them").convert("L"), lambda v: 255 - v))
    deep = drawn("Sixteen bits deep").convert("I").point(lambda value: value * 100).convert("I;16")
    for name, image in (("small", small), ("dark", dark), ("clear", clear), ("deep", deep)):
        file = BytesIO()
        image.save(file, "PNG")
        vault[f"{name}.png"] = file.getvalue()
    assert read(call, "small.png")["text"] == "Screen letters are small"
    assert read(call, "dark.png")["text"] == "Light letters on dark"
    assert read(call, "clear.png")["text"] == "Nothing behind them"
    assert read(call, "deep.png")["text"] == "Sixteen bits deep"


@needs_tesseract
def test_each_page_of_a_scan_is_read(call: Calls, vault: VaultFolder) -> None:
    file = BytesIO()
    drawn("First sheet").save(file, "TIFF", save_all=True, append_images=[drawn("Second sheet")])
    vault["a.tiff"] = file.getvalue()
    vault["b.pdf"] = scan("First sheet", "Second sheet")
    for name in ("a.tiff", "b.pdf"):
        answer = read(call, name)
        assert [(p["page"], p["text"]) for p in answer["pages"]] == [(1, "First sheet"), (2, "Second sheet")]
        assert answer["text"] == "First sheet\n\nSecond sheet"


def test_the_text_that_a_document_holds_needs_no_program(call: Calls, vault: VaultFolder) -> None:
    call.settings = without_program()
    vault["a.pdf"] = document(f"{LONG}\nand a heron stands in the water", "")
    assert read(call, "a.pdf") == {
        "path": "a.pdf",
        "text": f"{LONG}\nand a heron stands in the water",
        "pages": [{"page": 1, "text": f"{LONG}\nand a heron stands in the water"}, {"page": 2, "text": ""}],
        "cached": False,
        "engine": "native",
    }


@posix
def test_without_a_program_pages_that_are_pictures_wait_for_one(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract
) -> None:
    program = Path(fake_tesseract("say('seen')"))
    away = program.rename(f"{program}-away")
    call.settings = {"ocr": {"program": "tesseract", "tesseract": str(program)}}
    vault["mixed.pdf"] = joined(scan("x"), document(LONG))
    vault["scan.pdf"] = scan("x")
    for cached in (False, True):
        answer = read(call, "mixed.pdf", engine="native")
        assert (answer["text"], answer["unread_pages"], answer["cached"]) == (LONG, [1], cached)
    assert refused(call, "scan.pdf", engine="native").code == "plugin_missing"
    away.rename(program)
    answer = read(call, "mixed.pdf")
    assert (answer["text"], answer["cached"]) == (f"seen\n\n{LONG}", False)
    assert "unread_pages" not in answer


@posix
def test_only_pages_with_next_to_no_text_and_a_picture_are_looked_at(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract
) -> None:
    call.settings = {"ocr": {"tesseract": fake_tesseract("say('seen')")}}
    vault["text.pdf"] = document(LONG, "7")
    vault["scan.pdf"] = scan("x")
    assert [page["text"] for page in read(call, "text.pdf")["pages"]] == [LONG, "7"]
    assert read(call, "scan.pdf")["pages"] == [{"page": 1, "text": "seen", "confidence": 0.9}]


@posix
def test_a_text_is_kept_with_the_content_it_was_read_from(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    body = f"f = open({str(ran)!r}, 'a+')\nf.write('x')\nf.seek(0)\nsay(str(len(f.read())))"
    call.settings = {"ocr": {"tesseract": fake_tesseract(body)}}
    vault["a.png"] = picture("x")
    assert brief(call, "a.png") == ("1", False)
    assert brief(call, "a.png") == ("1", True)
    vault["copy.png"] = vault.bytes("a.png")
    assert brief(call, "copy.png") == ("1", True)
    assert brief(call, "a.png", force=True) == ("2", False)
    assert brief(call, "copy.png") == ("2", True)
    vault["a.png"] = picture("y")
    assert brief(call, "a.png") == ("3", False)
    assert ran.read_text() == "xxx"


def test_what_a_file_is_its_content_says(call: Calls, vault: VaultFolder) -> None:
    call.settings = without_program()
    vault["named.png"] = document(LONG)
    assert read(call, "named.png")["text"] == LONG
    vault["a.pdf"] = b"not a document"
    vault["note.md"] = "text"
    for path, kind in (("a.pdf", "application/octet-stream"), ("note.md", "text/markdown")):
        error = refused(call, path)
        assert (error.code, error.details["mime"]) == ("invalid_input", kind)
    assert refused(call, "none.png").code == "note_not_found"


def test_a_file_that_is_broken_is_refused_with_its_reason(call: Calls, vault: VaultFolder) -> None:
    vault["half.png"] = picture("x")[:200]
    vault["half.pdf"] = b"%PDF-1.7 and nothing more"
    for path, reason in (("half.png", "no whole png"), ("half.pdf", "no PDF reader opens it")):
        error = refused(call, path)
        assert (error.code, error.details["path"]) == ("invalid_input", path)
        assert reason in error.message


def test_what_is_too_large_is_refused_before_it_is_unpacked(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"ocr": {"max_pixels": 1_000_000, "max_pages": 2, "max_bytes": 50_000}}
    bomb = BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    assert len(bomb.getvalue()) < 50_100
    vault["bomb.png"] = bomb.getvalue()[:50_000]
    vault["long.pdf"] = document(LONG, LONG, LONG)
    vault["large.png"] = bytes(50_001)
    limits = {}
    for path in ("bomb.png", "long.pdf", "large.png"):
        error = refused(call, path)
        assert error.code == "invalid_input"
        limits[path] = (error.details.get("pixels"), error.details["limit"])
    assert limits == {
        "bomb.png": (400_000_000, 1_000_000),
        "long.pdf": (None, 2),
        "large.png": (None, 50_000),
    }


@posix
def test_a_page_with_a_picture_that_is_too_large_is_not_drawn(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract
) -> None:
    call.settings = {"ocr": {"tesseract": fake_tesseract("say('seen')"), "max_pixels": 200_000}}
    vault["a.pdf"] = scan("one line", "and\nthree\nmore")
    answer = read(call, "a.pdf")
    assert ([page["text"] for page in answer["pages"]], answer["unread_pages"]) == (["seen", ""], [2])


def test_without_a_program_the_error_says_what_would_help(call: Calls, vault: VaultFolder) -> None:
    call.settings = without_program()
    vault["a.png"] = picture("x")
    for engine in ("auto", "native"):
        error = refused(call, "a.png", engine=engine)
        assert (error.code, error.details["plugin"]) == ("plugin_missing", "tesseract")


@needs_tesseract
def test_a_language_that_is_not_installed_is_named(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"ocr": {"languages": "eng+xyz"}}
    vault["a.png"] = picture("x")
    error = refused(call, "a.png")
    assert (error.code, error.details["plugin"]) == ("plugin_missing", "tesseract-ocr-xyz")


@posix
def test_a_program_that_fails_costs_the_call_and_keeps_nothing(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract
) -> None:
    call.settings = {"ocr": {"tesseract": fake_tesseract("sys.exit(3)")}}
    vault["a.png"] = picture("x")
    assert refused(call, "a.png").message == "tesseract cannot read page 1"
    assert refused(call, "a.png").code == "invalid_input"


@posix
def test_a_program_that_hangs_is_killed(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    call.settings = {"ocr": {"tesseract": fake_tesseract(hanging(held)), "page_seconds": 0.5}}
    vault["a.png"] = picture("x")
    error = refused(call, "a.png")
    assert (error.code, error.details) == ("operation_timeout", {"page": 1, "path": "a.png"})
    wait_for_its_death(held)


def test_a_document_that_needs_a_password_says_so(call: Calls, vault: VaultFolder) -> None:
    key = b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>/ID[<00><00>]" % (b"5a" * 32, b"5b" * 32)
    vault["locked.pdf"] = document(LONG).replace(b"/Root 1 0 R", b"/Root 1 0 R" + key)
    assert refused(call, "locked.pdf").message == "the document needs a password"


@posix
def test_a_cancelled_call_stops_what_it_has_started(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    call.settings = {"ocr": {"tesseract": fake_tesseract(hanging(held))}}
    vault["a.png"] = picture("x")
    codes: list[Any] = []
    cancelled = Event()

    def run() -> None:
        outcome = call.outcome(ocr, "ocr_attachment", path="a.png", how={"cancelled": cancelled.is_set})
        codes.append(outcome.error and outcome.error["code"])

    thread = Thread(target=run)
    thread.start()
    until(held.exists)
    cancelled.set()
    thread.join()
    assert codes == ["aborted"]
    wait_for_its_death(held)


def test_folder_rules_hold(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["open/**"]}}
    vault["closed/a.pdf"] = document(LONG)
    assert refused(call, "closed/a.pdf").code == "acl_denied"


def test_nothing_that_reads_files_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, knapper_ocr; knapper_ocr.knapper_domains();"
        "print(sorted({'PIL', 'pypdfium2', 'rapidocr', 'numpy', 'concurrent.futures'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@needs_rapidocr
def test_rapidocr_reads_where_tesseract_is_not(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"ocr": {"tesseract": "no-such-program"}}
    vault["a.png"] = picture("A heron stands", "in shallow water")
    vault["empty.png"] = picture("")
    answer = read(call, "a.png")
    assert answer["text"] == "A heron stands\nin shallow water"
    assert 0.8 < answer["pages"][0]["confidence"] <= 1
    assert read(call, "empty.png")["text"] == ""
