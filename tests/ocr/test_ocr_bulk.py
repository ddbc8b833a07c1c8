"""Many files: bounded, told of, stopped, and none costs another."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from typing import Any

import msgspec
import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_ocr import ocr
from tests.ocr.conftest import FakeTesseract, document, hanging, picture, posix, until, wait_for_its_death

LONG = "The bittern booms at dusk in the reeds"


def bulk(call: Calls, **arguments: Any) -> Any:
    answer = call.confirmed(ocr, "ocr_bulk", **arguments)
    assert answer.pop("total_duration_ms") >= 0
    return answer


@posix
def test_a_broken_file_costs_only_itself(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract
) -> None:
    call.settings = {"ocr": {"tesseract": fake_tesseract("say('seen')")}}
    vault["a.pdf"] = document(LONG)
    vault["b.png"] = picture("x")[:100]
    vault["c.png"] = picture("x")
    vault["d.pdf"] = b"text"
    answer = bulk(call)
    assert answer["processed"] == 4
    assert [(r["path"], r["ok"], r.get("text")) for r in answer["results"]] == [
        ("a.pdf", True, LONG),
        ("b.png", False, None),
        ("c.png", True, "seen"),
        ("d.pdf", False, None),
    ]
    errors = [r["error"] for r in answer["results"] if not r["ok"]]
    assert [(e["code"], e["details"]["path"]) for e in errors] == [
        ("invalid_input", "b.png"),
        ("invalid_input", "d.pdf"),
    ]


@posix
def test_a_file_on_which_the_program_hangs_costs_only_itself(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract, tmp_path: Path
) -> None:
    body = f"if len(data) > 200_000:\n    time.sleep(600)\nsay('seen')\nopen({str(tmp_path / 'x')!r}, 'w')"
    call.settings = {"ocr": {"tesseract": fake_tesseract(body), "page_seconds": 1}}
    vault["a.png"] = picture("x", "x", "x")
    vault["b.pdf"] = document(LONG)
    answer = bulk(call)
    assert [(r["path"], r["ok"]) for r in answer["results"]] == [("a.png", False), ("b.pdf", True)]
    assert answer["results"][0]["error"]["code"] == "operation_timeout"


@posix
def test_no_more_are_read_at_once_than_was_asked_for(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.touch()
    # The first two wait for each other, so both were there at once; nobody ever counts a third.
    body = (
        f"def note(mark):\n    with open({str(log)!r}, 'a') as f:\n        f.write(mark)\n"
        f"note('+')\nwhile open({str(log)!r}).read().count('+') < 2:\n    time.sleep(0.01)\n"
        "say('seen')\nsys.stdout.flush()\nnote('-')"
    )
    call.settings = {"ocr": {"tesseract": fake_tesseract(body)}}
    for number in range(6):
        vault[f"{number}.png"] = picture(str(number))
    answer = bulk(call, max_concurrent=2)
    assert [r["ok"] for r in answer["results"]] == [True] * 6
    at_once, most = 0, 0
    for mark in log.read_text():
        at_once += 1 if mark == "+" else -1
        most = max(most, at_once)
    assert (len(log.read_text()), most) == (12, 2)


def test_more_than_twenty_files_need_a_persons_word(call: Calls, vault: VaultFolder) -> None:
    for number in range(21):
        vault[f"a/{number:02}.pdf"] = document(f"{LONG} {number}")
    with pytest.raises(ToolError) as caught:
        call(ocr, "ocr_bulk", root="a")
    assert caught.value.code == "elicit_required"
    assert caught.value.details["change"]["files"] == 21
    paths = [f"a/{number:02}.pdf" for number in range(20)]
    assert call(ocr, "ocr_bulk", paths=paths)["processed"] == 20
    assert bulk(call, root="a")["processed"] == 21


def test_files_are_chosen_by_path_or_by_folder_and_extension(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["in/**", "out.pdf"]}}
    vault["in/a.PDF"] = document(LONG)
    vault["in/b.txt"] = document(LONG)
    vault["out.pdf"] = document(LONG)
    vault["secret.pdf"] = document(LONG)

    def chosen(**arguments: Any) -> list[str]:
        return [result["path"] for result in bulk(call, **arguments)["results"]]

    assert chosen() == ["in/a.PDF", "out.pdf"]
    assert chosen(root="in") == ["in/a.PDF"]
    assert chosen(root="in", extensions=["txt"]) == ["in/b.txt"]
    assert chosen(paths=["out.pdf", "in/b.txt", "out.pdf"]) == ["out.pdf", "in/b.txt"]
    assert chosen(paths=[]) == []
    for wrong, code in (
        ({"paths": ["secret.pdf"]}, "acl_denied"),
        ({"paths": ["out.pdf"], "root": "in"}, "invalid_input"),
        ({"root": "none"}, "note_not_found"),
        ({"max_concurrent": 5}, "validation_error"),
    ):
        with pytest.raises(ToolError) as caught:
            bulk(call, **wrong)
        assert caught.value.code == code


def test_each_finished_file_is_told_of(call: Calls, vault: VaultFolder) -> None:
    for name in ("a.pdf", "b.pdf"):
        vault[name] = document(f"{LONG} {name}")
    told: list[tuple[float, float, str]] = []
    outcome = call.outcome(
        ocr, "ocr_bulk", max_concurrent=1, how={"on_progress": lambda *how: told.append(how)}
    )
    assert msgspec.json.decode(outcome.payload)["processed"] == 2
    assert told == [(1, 2, "a.pdf"), (2, 2, "b.pdf")]


@posix
def test_a_cancelled_bulk_stops_its_readers_and_keeps_what_was_read(
    call: Calls, vault: VaultFolder, fake_tesseract: FakeTesseract, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    call.settings = {"ocr": {"tesseract": fake_tesseract(hanging(held))}}
    vault["a.pdf"] = document(LONG)
    vault["b.png"] = picture("x")
    codes: list[Any] = []
    cancelled = Event()

    def run() -> None:
        outcome = call.outcome(ocr, "ocr_bulk", max_concurrent=1, how={"cancelled": cancelled.is_set})
        codes.append(outcome.error and outcome.error["code"])

    thread = Thread(target=run)
    thread.start()
    until(held.exists)
    cancelled.set()
    thread.join()
    wait_for_its_death(held)
    assert codes == ["aborted"]
    assert call(ocr, "ocr_attachment", path="a.pdf")["cached"]


def test_texts_too_long_for_one_answer_are_left_out_and_kept(call: Calls, vault: VaultFolder) -> None:
    long = "\n".join("word " * 200 for _ in range(110))
    vault["a.pdf"] = document(long)
    vault["b.pdf"] = document(long + " end")
    vault["c.pdf"] = document(LONG)
    answer = bulk(call)
    assert [("text" in r, r["ok"]) for r in answer["results"]] == [(True, True), (False, True), (True, True)]
    assert answer["texts_left_out"] == 1
    assert call(ocr, "ocr_attachment", path="b.pdf")["cached"]
