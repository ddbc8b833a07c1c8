"""The calls that the page of clients shows for each facade are calls of the same tool."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copytree

import pytest

from devtools.members import ROOT
from knapper.caller import LOCAL, Caller
from knapper.server.facade import target
from knapper.testing import Calls, VaultFolder
from knapper_notes import notes

ROW = re.compile(r"^\| `(\w+)`.*\| `(\w+)` with `(\{.*\})` \|$", re.MULTILINE)
CALLER = Caller("reader", LOCAL, authenticated=True, session="s")


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall((ROOT / "docs" / "clients.md").read_text(encoding="utf-8"))


def test_the_page_shows_all_three_facades() -> None:
    assert [mode for mode, _, _ in rows()] == ["triad", "domain", "flat"]


@pytest.mark.parametrize(("mode", "tool", "arguments"), rows())
def test_its_call_reads_the_note(
    call: Calls, vault: VaultFolder, mode: str, tool: str, arguments: str
) -> None:
    copytree(Path(ROOT / "examples" / "vault"), vault.path, dirs_exist_ok=True)
    call.settings = {"tool_facade": {"mode": mode}}
    outcome = target(call.runtime(notes), tool, json.loads(arguments), CALLER).call(CALLER)
    assert outcome.error is None
    assert json.loads(outcome.payload)["path"] == "Home.md"
