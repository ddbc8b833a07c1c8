"""A picture is read, and every way of searching finds it: with its path and page, after a move, and not after a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from knapper import Caller
from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper_attachments import attachments
from knapper_ocr import ocr
from knapper_retrieval import retrieval
from knapper_search import search
from tests.ocr.conftest import (
    FakeTesseract,
    document,
    hanging,
    needs_tesseract,
    picture,
    posix,
    scan,
    until,
    wait_for_its_death,
)
from tests.server.conftest import Pipe, Place

ALICE = Caller("alice", frozenset({"*"}), authenticated=True)


def ask(runtime: Runtime, tool: str, **arguments: Any) -> Any:
    for vault in runtime.vaults:
        vault.index.reconcile()
    outcome = runtime.call(tool, arguments, ALICE, ask=lambda question: True)
    assert outcome.error is None, outcome.error
    return msgspec.json.decode(outcome.payload)


def places(answer: Any) -> list[tuple[str, int | None]]:
    return [(item["path"], item.get("page")) for item in answer.get("items") or answer.get("results", [])]


@pytest.fixture
def runtime(call: Calls) -> Runtime:
    return call.runtime(ocr, search, retrieval, attachments)


@needs_tesseract
def test_what_was_read_is_found_until_it_changes(runtime: Runtime, vault: VaultFolder) -> None:
    vault["Scans/birds.pdf"] = scan("A heron stands\nin shallow water", "The bittern booms\nat dusk")
    vault["sign.png"] = picture("Beware of the cassowary")
    vault["note.md"] = "About the bittern, and ![[sign.png]]."
    assert places(ask(runtime, "search_text", query="cassowary")) == []

    assert ask(runtime, "ocr_bulk")["processed"] == 2
    assert places(ask(runtime, "search_text", query="cassowary")) == [("sign.png", 1)]
    assert sorted(places(ask(runtime, "search_text", query="bittern")), key=str) == [
        ("Scans/birds.pdf", 2),
        ("note.md", None),
    ]
    (hit,) = ask(runtime, "search_text", query="shallow")["items"]
    assert (hit["path"], hit["page"], hit["line"], hit["snippet"]) == (
        "Scans/birds.pdf",
        1,
        2,
        "in shallow water",
    )
    assert places(ask(runtime, "search_regex", pattern="b..ms"))[0] == ("Scans/birds.pdf", 2)
    assert ("Scans/birds.pdf", 2) in places(ask(runtime, "search_vault", query="bittern at dusk"))
    assert places(ask(runtime, "search", query="cassowaries"))[0] == ("sign.png", 1)

    ask(runtime, "move_attachment", **{"from": "sign.png", "to": "Signs/beware.png"})
    assert places(ask(runtime, "search_text", query="cassowary")) == [("Signs/beware.png", 1)]
    (vault.path / "Scans/birds.pdf").rename(vault.path / "Scans/older.pdf")
    assert places(ask(runtime, "search_text", query="shallow")) == [("Scans/older.pdf", 1)]

    vault["Signs/beware.png"] = picture("Beware of the emu")
    assert places(ask(runtime, "search_text", query="cassowary")) == []
    assert ask(runtime, "ocr_attachment", path="Signs/beware.png")["cached"] is False
    assert places(ask(runtime, "search_text", query="emu")) == [("Signs/beware.png", 1)]
    assert places(ask(runtime, "search_text", query="cassowary")) == []


@needs_tesseract
def test_a_server_started_anew_finds_it_and_reads_nothing_again(
    call: Calls, runtime: Runtime, vault: VaultFolder
) -> None:
    vault["sign.png"] = picture("Beware of the cassowary")
    ask(runtime, "ocr_attachment", path="sign.png")
    for one in runtime.vaults:
        one.index.db.begin_anew()
    assert places(ask(runtime, "search_text", query="cassowary")) == [("sign.png", 1)]
    assert ask(runtime, "ocr_attachment", path="sign.png")["cached"] is True


@posix
def test_a_client_on_stdio_is_told_of_each_file_and_can_stop(
    pipe: Callable[..., Pipe], place: Place, tmp_path: Path, fake_tesseract: FakeTesseract
) -> None:
    for name in ("a", "b"):
        (place.vault / f"{name}.pdf").write_bytes(document(f"The bittern booms at dusk, says {name}"))
    held = tmp_path / "held"
    one = pipe(
        KNAPPER_PLUGINS__ONLY='["ocr", "search"]', KNAPPER_OCR__TESSERACT=fake_tesseract(hanging(held))
    )
    one.initialize()
    seen = [one.call(1, "ocr_bulk", _meta={"progressToken": "t"})]
    while "id" not in seen[-1]:
        seen.append(one.read())
    told = [m["params"] for m in seen[:-1]]
    assert [(p["progress"], p["total"]) for p in told] == [(1, 2), (2, 2)]
    assert {p["message"] for p in told} == {"a.pdf", "b.pdf"}
    assert seen[-1]["result"]["structuredContent"]["processed"] == 2
    found = one.call(2, "search_text", query="says b")["result"]["structuredContent"]
    assert places(found) == [("b.pdf", 1)]

    (place.vault / "c.png").write_bytes(picture("x"))
    asked = {"name": "ocr_attachment", "arguments": {"path": "c.png"}}
    one.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": asked})
    until(held.exists)
    one.notify("notifications/cancelled", requestId=3)
    wait_for_its_death(held)
    assert one.leave() == 0
