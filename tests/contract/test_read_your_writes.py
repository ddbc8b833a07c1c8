"""Whatever a tool writes is in the index, whole, before the tool returns: no look at the folder in between."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from knapper.caller import LOCAL, Caller
from knapper.runtime import Runtime
from knapper.testing import Calls, VaultFolder
from knapper_attachments import attachments
from knapper_bulk import bulk
from knapper_canvas import canvas
from knapper_history import history
from knapper_links import links
from knapper_notes import notes
from knapper_periodic import periodic
from knapper_properties import properties
from knapper_tags import tags
from knapper_tasks import tasks
from tests.core.index.conftest import content, open_index

CALLER = Caller("test", LOCAL, authenticated=True, session="test")
DOMAINS = (attachments, bulk, canvas, history, links, notes, periodic, properties, tags, tasks)
A = "---\ntags: [t]\nup: '[[b]]'\n---\n# A\n\n[[b]] ![[p.png]] #t ^id\n\n- [ ] do it\n"
FILES = {
    "a.md": A,
    "b.md": "# B\n[[a#A|x]] [m](a.md)\n",
    "hub.md": "- [[a]]\n- [[a]]\n- [[none]]\n",
    "p.png": "picture",
    "c.canvas": '{"nodes":[{"id":"1","type":"file","file":"a.md"}],"edges":[]}',
}
NEW = [{"path": f"n{n}.md", "content": "[[a]] #new"} for n in range(3)]
SWAP = [{"from": "a.md", "to": "b.md"}, {"from": "b.md", "to": "a.md"}]
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("write_note", {"path": "new/none.md", "content": "# New\n[[a]]\n", "frontmatter": {"k": 1}}),
    ("write_note", {"path": "b.md", "content": "# Other\n", "mode": "overwrite"}),
    ("append_note", {"path": "b.md", "content": "[[hub]] #more"}),
    ("append_note", {"path": "begun.md", "content": "x", "create_if_missing": True}),
    (
        "patch_note",
        {"path": "a.md", "old_string": "[[b]]", "new_string": "[[hub]]", "expected_occurrences": 2},
    ),
    ("copy_note", {"from": "a.md", "to": "d/a.md"}),
    ("move_note", {"from": "a.md", "to": "d/none.md"}),
    ("move_note", {"from": "a.md", "to": "b.md", "overwrite_target": True}),
    ("delete_note", {"path": "a.md"}),
    ("delete_note", {"path": "b.md", "hard": True}),
    ("update_frontmatter", {"path": "a.md", "mode": "set", "key": "aliases", "value": ["Other name"]}),
    ("update_frontmatter", {"path": "a.md", "mode": "remove", "key": "up"}),
    ("update_frontmatter", {"path": "a.md", "mode": "replace", "frontmatter": {"z": "[[b]]"}}),
    ("add_tag", {"path": "b.md", "tag": "Über/x"}),
    ("remove_tag", {"path": "a.md", "tag": "t"}),
    ("rewrite_link", {"from_target": "a", "to_target": "b", "dry_run": False}),
    ("prune_hub_links", {"path": "hub.md", "policy": {"kind": "drop_duplicates"}, "dry_run": False}),
    ("move_attachment", {"from": "p.png", "to": "img/q.png"}),
    ("delete_attachment", {"path": "p.png", "force": True}),
    ("bulk_create_notes", {"items": NEW}),
    ("bulk_set_property", {"paths": ["a.md", "b.md", "hub.md"], "key": "k", "value": "[[a]]"}),
    ("bulk_move_notes", {"moves": SWAP, "dry_run": False}),
    ("create_canvas", {"path": "new.canvas"}),
    ("create_periodic_note", {"period": "daily"}),
    ("update_task", {"path": "a.md", "line": 9, "set": {"status": "done"}}),
]


def approved(runtime: Runtime, tool: str, arguments: dict[str, Any]) -> Any:
    outcome = runtime.call(tool, arguments, CALLER)
    if outcome.error is not None and outcome.error["code"] == "elicit_required":
        runtime.approvals.approve(outcome.error["details"]["approval"])
        outcome = runtime.call(tool, arguments, CALLER)
    assert outcome.error is None, outcome.error
    return msgspec.json.decode(outcome.payload)


@pytest.fixture
def server(call: Calls, vault: VaultFolder) -> Runtime:
    for path, text in FILES.items():
        vault[path] = text
    runtime = call.runtime(*DOMAINS)
    runtime.vaults.get("main").index.reconcile()
    return runtime


def check_level(server: Runtime, vault: VaultFolder, place: Path) -> None:
    """The index holds what one built from the files now holds."""
    index = server.vaults.get("main").index
    fresh = open_index(vault.path, place, extractors=index.extractors)
    try:
        fresh.reconcile()
        assert content(index) == content(fresh)
    finally:
        fresh.close()
    assert index.write_failures == 0


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
def test_a_write_is_in_the_index_before_it_returns(
    server: Runtime, vault: VaultFolder, tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    before = {path: vault.bytes(path) for path in vault}
    approved(server, tool, arguments)
    assert {path: vault.bytes(path) for path in vault} != before
    check_level(server, vault, tmp_path / "fresh" / "main.db")


def test_what_is_restored_and_undone_is_in_the_index_before_that_returns(
    server: Runtime, vault: VaultFolder, tmp_path: Path
) -> None:
    kept = sha256(A.encode()).hexdigest()
    approved(server, "append_note", {"path": "a.md", "content": "#gone"})
    versions = approved(server, "list_snapshots", {"path": "a.md"})["items"]
    (version,) = [one for one in versions if one["content_hash"] == kept]
    approved(server, "restore_note", {"snapshot_id": version["snapshot_id"]})
    assert vault["a.md"] == A
    check_level(server, vault, tmp_path / "1" / "main.db")
    approved(server, "move_note", {"from": "a.md", "to": "z.md"})
    approved(server, "delete_note", {"path": "hub.md"})
    approved(server, "undo_session", {"dry_run": False})
    assert {path: vault[path] for path in vault if not path.startswith(".")} == FILES
    check_level(server, vault, tmp_path / "2" / "main.db")
