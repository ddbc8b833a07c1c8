from __future__ import annotations

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_links import links

NOTE = """---
up: "[[Old]]"
---
[[Old]] [[old|x]] [[Folder/Old#h]] ![[Old]] [m](Folder/Old.md) [r](./Folder/Old.md) `[[Old]]` [[Older]]
"""
NEW = """---
up: "[[New]]"
---
[[New]] [[New|x]] [[New#h]] ![[New]] [m](New.md) [r](./Other/New.md) `[[Old]]` [[Older]]
"""
CANVAS = (
    '{"nodes":[{"id":"1","type":"file","file":"Folder/Old.md"},{"id":"2","type":"text","text":"[[Old]]"}]}'
)


@pytest.fixture
def web(vault: VaultFolder) -> VaultFolder:
    vault["Folder/Old.md"] = "[[Old]]"
    vault["Other/New.md"] = ""
    vault["a.md"] = NOTE
    vault["sub/b.md"] = "\ufeff[[Old]]\r\n[s](../Folder/Old.md)\r\n"
    vault["plan.canvas"] = CANVAS
    vault["broken.canvas"] = '{"nodes":[{"type":"file","file":"Folder/Old.md"'
    return vault


def rewrite(call: Calls, **arguments: Any) -> Any:
    return call(links, "rewrite_link", from_target="Old", to_target="New", **arguments)


def failure(call: Calls, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(links, "rewrite_link", **arguments)
    return error.value


def test_a_dry_run_says_what_the_real_run_does(call: Calls, web: VaultFolder) -> None:
    before = dict(web)
    planned = rewrite(call)
    assert dict(web) == before
    assert planned == {
        "from_target": "Old",
        "to_target": "New",
        "files_modified": [
            {"path": "Folder/Old.md", "occurrences": 1},
            {"path": "a.md", "occurrences": 7},
            {"path": "plan.canvas", "occurrences": 2},
            {"path": "sub/b.md", "occurrences": 2},
        ],
        "total_replacements": 12,
        "dry_run": True,
    }
    error = failure(call, from_target="Old", to_target="New", dry_run=False)
    assert error.code == "elicit_required"
    assert error.details["change"] == {"from_target": "Old", "to_target": "New", "files": 4, "links": 12}
    assert dict(web) == before
    done = call.confirmed(links, "rewrite_link", from_target="Old", to_target="New", dry_run=False)
    assert done == planned | {"dry_run": False}
    assert dict(web) == before | {
        "Folder/Old.md": "[[New]]",
        "a.md": NEW,
        "sub/b.md": "\ufeff[[New]]\r\n[s](../Other/New.md)\r\n",
        "plan.canvas": CANVAS.replace("Folder/Old.md", "Other/New.md").replace("[[Old]]", "[[New]]"),
    }


@pytest.mark.parametrize("target", ["Folder/Old", "Folder/Old.md", "old"])
def test_the_target_may_be_given_by_path(call: Calls, web: VaultFolder, target: str) -> None:
    got = call(links, "rewrite_link", from_target=target, to_target="New")
    assert got["total_replacements"] == 12


def test_links_that_lead_nowhere_are_rewritten_by_what_they_say(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "[[Gone]] [[gone#x|y]] [m](Gone.md) [[x/Gone]]"
    arguments = {"from_target": "Gone", "to_target": "Not yet", "dry_run": False}
    call.confirmed(links, "rewrite_link", **arguments)
    assert vault["a.md"] == "[[Not yet]] [[Not yet#x|y]] [m](Not%20yet.md) [[x/Gone]]"


def test_only_links_in_a_folder_are_rewritten_on_request(call: Calls, web: VaultFolder) -> None:
    got = rewrite(call, scope="folder", folder_path="sub")
    assert got["files_modified"] == [{"path": "sub/b.md", "occurrences": 2}]
    for folder in (None, "nowhere", "a.md"):
        more = {} if folder is None else {"folder_path": folder}
        error = failure(call, from_target="Old", to_target="New", scope="folder", **more)
        assert error.code == "invalid_input"


def test_a_link_that_cannot_be_written_stops_all(call: Calls, web: VaultFolder) -> None:
    before = dict(web)
    for dry_run in (True, False):
        error = failure(call, from_target="Old", to_target="a|b", dry_run=dry_run)
        assert (error.code, error.details["path"]) == ("invalid_input", "Folder/Old.md")
    assert dict(web) == before


def test_a_file_that_may_not_be_written_stops_all_in_a_dry_run_too(call: Calls, web: VaultFolder) -> None:
    call.settings = {"acl": {"write_paths": ["a.md", "Folder/**", "plan.canvas"]}}
    for dry_run in (True, False):
        error = failure(call, from_target="Old", to_target="New", dry_run=dry_run)
        assert (error.code, error.details["path"]) == ("acl_denied", "sub/b.md")


def test_a_restricted_caller_rewrites_permitted_notes_only(call: Calls, web: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["a.md", "Folder/**", "Other/**"]}}
    got = rewrite(call)
    assert [one["path"] for one in got["files_modified"]] == ["Folder/Old.md", "a.md"]
    assert got["total_replacements"] == 8


def test_the_same_key_rewrites_once(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "[[Old]]"
    arguments = {"from_target": "Old", "to_target": "New", "dry_run": False, "idempotency_key": "k"}
    first = call.confirmed(links, "rewrite_link", **arguments)
    vault["a.md"] = "[[Old]]"
    assert call(links, "rewrite_link", **arguments) == first
    assert vault["a.md"] == "[[Old]]"


def test_nothing_to_rewrite_is_no_error(call: Calls, vault: VaultFolder) -> None:
    got = rewrite(call)
    assert (got["files_modified"], got["total_replacements"]) == ([], 0)
