"""Sessions of work across domains: what was called in them is traced, and what they changed can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from knapper import Caller, ToolError
from knapper.testing import Calls, VaultFolder
from knapper_history import history
from knapper_notes import notes
from knapper_sessions import sessions
from tests.security.wire import Site, end, in_session
from tests.server.conftest import Web

ALL = frozenset({"read:*", "write:*", "delete:*"})


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    site = Site(tmp_path, plugins={"only": ["notes", "history", "sessions", "sink-jsonl"]})
    found = site.web()
    yield found
    end(found)


def modern(web: Web, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a tool in the era in which connections have no session."""
    status, answer = web.modern("tools/call", name=tool, arguments={**arguments, "vault": "home"})
    assert status == 200, answer
    found: dict[str, Any] = answer["result"]["structuredContent"]
    return found


def traced(web: Web, number: str, count: int) -> list[str]:
    """The tools in a session's trace, when that many lines have been written beside the calls."""
    while True:
        items = modern(web, "get_session_traces", session_id=number)["items"]
        tools = [item["tool"] for item in items if item["tool"] != "get_session_traces"]
        if len(tools) >= count:
            return tools


def test_a_session_that_was_begun_without_a_connections_has_its_traces(web: Web) -> None:
    modern(web, "read_note", path="a.md")
    number = modern(web, "start_session", caller="me")["session_id"]
    modern(web, "read_note", path="a.md")
    modern(web, "write_note", path="new.md", content="new")
    assert traced(web, number, 2) == ["read_note", "write_note"]
    assert modern(web, "end_session", session_id=number)["event_count"] >= 2


def test_a_session_that_was_begun_is_undone_by_its_id_and_no_other_change_is(web: Web) -> None:
    modern(web, "write_note", path="before.md", content="before")
    number = modern(web, "start_session", caller="me")["session_id"]
    modern(web, "write_note", path="during.md", content="during")
    modern(web, "append_note", path="a.md", content="more")
    planned = modern(web, "undo_session")
    modern(web, "end_session", session_id=number)
    modern(web, "write_note", path="after.md", content="after")
    found = modern(web, "undo_session", session_id=number)
    assert found == planned
    assert found["session_id"] == number
    assert found["files"] == [
        {"path": "during.md", "action": "removed"},
        {"path": "a.md", "action": "restored"},
    ]
    assert modern(web, "undo_session")["code"] == "invalid_input"


def test_a_connections_session_has_what_the_sessions_begun_in_it_changed(web: Web) -> None:
    session = web.opened()
    in_session(web, session, "write_note", {"path": "first.md", "content": "1", "vault": "home"})
    number = in_session(web, session, "start_session", {"caller": "me", "vault": "home"})["session_id"]
    in_session(web, session, "write_note", {"path": "second.md", "content": "2", "vault": "home"})
    whole = in_session(web, session, "undo_session", {"vault": "home"})["files"]
    part = in_session(web, session, "undo_session", {"session_id": number, "vault": "home"})["files"]
    assert [file["path"] for file in whole] == ["first.md", "second.md"]
    assert [file["path"] for file in part] == ["second.md"]


def test_only_who_began_a_session_undoes_it(call: Calls, vault: VaultFolder) -> None:
    runtime = call.runtime(sessions, history, notes)
    ann, eve = (Caller(name, ALL, authenticated=True) for name in ("ann", "eve"))

    def called(who: Caller, tool: str, **arguments: Any) -> Any:
        outcome = runtime.call(tool, arguments, who)
        if outcome.error is not None:
            raise ToolError(outcome.error["code"], outcome.error["message"], **outcome.error["details"])
        return msgspec.json.decode(outcome.payload)

    number = called(ann, "start_session", caller="me")["session_id"]
    called(ann, "write_note", path="hers.md", content="hers")
    called(eve, "write_note", path="not hers.md", content="not hers")
    with pytest.raises(ToolError) as refused:
        called(eve, "undo_session", session_id=number)
    assert refused.value.code == "forbidden"
    with pytest.raises(ToolError) as refused:
        called(ann, "undo_session", session_id=number, dry_run=False)
    runtime.approvals.approve(refused.value.details["approval"])
    called(ann, "undo_session", session_id=number, dry_run=False)
    assert list(vault) == ["not hers.md"]
