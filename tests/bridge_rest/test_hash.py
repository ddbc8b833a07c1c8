"""One hash for a list of tools: the vectors of protocol v1, and what changes it."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from knapper.server.digest import canonical, tools_hash
from tests.bridge_rest.conftest import V1

Start = Callable[..., V1]
SEARCH: dict[str, Any] = {
    "name": "search_notes",
    "description": "Search notes by text",
    "inputSchema": {
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": {"type": "string", "description": "Text to find"},
            "limit": {"type": "number", "default": 10},
            "scope": {"type": "string", "enum": ["title", "body"]},
        },
    },
}
READ: dict[str, Any] = {
    "name": "read_note",
    "description": "Read a note by path",
    "inputSchema": {"properties": {"path": {"type": "string"}}, "type": "object", "required": ["path"]},
}
JAPANESE = {
    "name": "メモ",
    "description": "ノートを読む",
    "inputSchema": {"type": "object", "properties": {}},
}
BOTH = "e9d519c1010997f812c5a017a486788ab50709469797da34dd46957d84305ee1"
EMPTY = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"


def reversed_enum() -> list[dict[str, Any]]:
    changed = copy.deepcopy(SEARCH)
    changed["inputSchema"]["properties"]["scope"]["enum"] = ["body", "title"]
    return [changed, READ]


@pytest.mark.parametrize(
    ("tools", "hash"),
    [
        ([SEARCH, READ], BOTH),
        (reversed_enum(), "878dc255ce46ebed81022319023200958d898efa16fb59f881d6cc47f4f32522"),
        ([], EMPTY),
        ([JAPANESE], "76d5e38870bca4b6b0beacb5a3826e337d71313c712b6053a3b3e4fec03a40f8"),
    ],
    ids=["two tools", "enum reversed", "no tools", "not ascii"],
)
def test_the_hash_is_that_of_the_published_vectors(tools: list[dict[str, Any]], hash: str) -> None:
    assert tools_hash(tools) == hash


def test_the_text_that_is_hashed_is_the_published_one() -> None:
    assert len(canonical([SEARCH, READ])) == 423
    assert canonical([SEARCH, READ]).startswith(b'[{"description":"Read a note by path","inputSchema":{')


def test_neither_the_order_of_keys_nor_of_tools_nor_other_fields_change_the_hash() -> None:
    turned = dict(reversed(SEARCH.items()))
    turned["inputSchema"] = dict(reversed(SEARCH["inputSchema"].items()))
    assert tools_hash([READ, turned]) == BOTH
    assert tools_hash([{**SEARCH, "title": "Search", "outputSchema": {}}, READ]) == BOTH


def test_a_description_or_another_tool_changes_the_hash() -> None:
    found = {
        BOTH,
        tools_hash([{**SEARCH, "description": "Search"}, READ]),
        tools_hash([SEARCH, READ, JAPANESE]),
        tools_hash([READ]),
        tools_hash(reversed_enum()),
    }
    assert len(found) == 5


def test_the_served_hash_is_that_of_the_served_tools(one: V1) -> None:
    _, found = one.get("/tools")
    text = json.dumps(found["tools"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert found["hash"] == hashlib.sha256(text.encode()).hexdigest()
    assert len(found["tools"]) > 5


def test_disabling_a_tool_changes_the_served_hash_and_a_restart_does_not(v1: Start) -> None:
    before = v1().get("/tools")[1]["hash"]
    assert v1().get("/tools")[1]["hash"] == before
    assert v1("--set", 'tool_visibility.disabled=["shout"]').get("/tools")[1]["hash"] != before


def test_a_server_that_shows_no_tools_serves_the_hash_of_the_empty_list(v1: Start) -> None:
    _, found = v1("--set", "tool_visibility.allowed=[]").get("/tools")
    assert found == {"tools": [], "hash": EMPTY}
