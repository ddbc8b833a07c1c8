"""Two domains use files of the hidden folder, by their exact paths; nobody else gets at these, nor they at others.

Undoing a session takes back what it did to them, too, so the domain that undoes has the two that are written.
"""

from __future__ import annotations

from typing import Any

import pytest

from knapper.caller import LOCAL, Caller
from knapper.dispatch.call import Call
from knapper.errors import ToolError
from knapper.registry import Registry
from knapper.vault.acl import Op
from knapper.vault.door import Door
from tests.contract.surface import Server, plugins

THEIRS = {
    "bookmarks": {".obsidian/bookmarks.json", ".obsidian/starred.json"},
    "workspaces": {".obsidian/workspaces.json", ".obsidian/workspace.json"},
    "history": {".obsidian/bookmarks.json", ".obsidian/workspaces.json"},
}
EXEMPT = sorted(set.union(*THEIRS.values()))
CLOSED = [
    ".obsidian",
    ".obsidian/app.json",
    ".obsidian/secret.json",
    ".obsidian/bookmarks.json.bak",
    ".obsidian/bookmarks",
    ".obsidian/plugins/bookmarks.json",
    ".obsidian/workspaces.json/x",
    ".obsidian/workspace-mobile.json",
    ".OBSIDIAN/bookmarks.json",
    ".obsidian/Workspaces.json",
    "Open/.obsidian/bookmarks.json",
    ".git/bookmarks.json",
    ".trash/workspaces.json",
    ".bookmarks.json",
]
TOOLS = {slug: min(domain.tools) for slug, domain in Registry(plugins()).domains.items() if domain.tools}
OPS: tuple[Op, ...] = ("read", "write", "delete")
EVERY = pytest.mark.parametrize("slug", sorted(TOOLS))


def refusals(server: Server, slug: str, path: str) -> list[str]:
    """What the door of a domain's tool says to each way of using a path; "" where it lets through."""
    call = Call(server.runtime, TOOLS[slug], {}, Caller("x", LOCAL, authenticated=True), "hash")
    call.tool = server.runtime.tools[TOOLS[slug]]
    door = server.runtime.vaults.get("home").door(call)
    return [_refusal(door, op, path) for op in OPS]


def _refusal(door: Door, op: Op, path: str) -> str:
    try:
        door.check(op, path)
    except ToolError as error:
        return error.code
    return ""


def test_the_exemptions_are_these_and_no_others() -> None:
    domains = Registry(plugins()).domains
    assert {slug: set(domain.exempt) for slug, domain in domains.items() if domain.exempt} == THEIRS


@EVERY
def test_the_files_open_for_those_domains_alone(server: Server, slug: str) -> None:
    open_ = [path for path in EXEMPT if "" in refusals(server, slug, path)]
    assert open_ == sorted(THEIRS.get(slug, ()))


@EVERY
@pytest.mark.parametrize("path", CLOSED)
def test_nothing_else_of_a_hidden_folder_opens_for_anybody(server: Server, slug: str, path: str) -> None:
    assert refusals(server, slug, path) == ["acl_denied"] * 3


@pytest.mark.parametrize("target", [*EXEMPT, *CLOSED])
@pytest.mark.parametrize("kind", ["file", "folder", "heading", "block"])
def test_no_bookmark_leads_into_a_hidden_folder(server: Server, kind: str, target: str) -> None:
    """A target is the only path that a tool of theirs takes: its own files are none to bookmark, either."""
    mark = {"heading": "#x", "block": "#^x"}.get(kind, "")
    given: dict[str, Any] = {"type": kind, "target": target + mark}
    before = server.state()
    assert server.code("add_bookmark", given) in ("acl_denied", "invalid_input")
    assert server.state() == before
