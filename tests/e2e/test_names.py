"""Notes whose names only some systems hold, through every kind of tool."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from knapper import Caller
from knapper.caller import LOCAL
from knapper.testing import Calls, VaultFolder
from knapper_links import links
from knapper_notes import notes
from knapper_search import search

ANN = Caller("ann", LOCAL, authenticated=True, session="one")


@pytest.mark.skipif(os.name == "nt", reason="there it is a drive")
def test_a_note_named_like_a_drive_is_a_note_like_any_other(call: Calls, vault: VaultFolder) -> None:
    vault["Q: why.md"] = "Because of the zebras."
    vault["a.md"] = "[[Q: why]]"
    runtime = call.runtime(notes, links, search)
    runtime.vaults.get("main").index.reconcile()

    def answer(tool: str, **arguments: Any) -> Any:
        outcome = runtime.call(tool, arguments, ANN, ask=lambda question: True)
        assert outcome.error is None, outcome.error
        return json.loads(outcome.payload)

    assert [item["path"] for item in answer("list_notes")["items"]] == ["Q: why.md", "a.md"]
    assert answer("read_note", path="Q: why.md")["content"] == "Because of the zebras."
    assert [hit["path"] for hit in answer("search_text", query="zebras")["items"]] == ["Q: why.md"]
    assert [item["source_path"] for item in answer("get_backlinks", path="Q: why.md")["items"]] == ["a.md"]
    answer("append_note", path="Q: why.md", content="And the gnus.")
    answer("move_note", **{"from": "Q: why.md", "to": "A:so.md"})
    assert vault["A:so.md"].startswith("Because of the zebras.\nAnd the gnus.")
    assert vault["a.md"] == "[[A:so]]"
