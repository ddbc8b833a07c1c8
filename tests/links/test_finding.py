from __future__ import annotations

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_links import links
from tests.known_vaults import Known

NOTE = """---
up: "[[Home]]"
---
[[Home|start]] and [[sub/Deep Note#Part]] ![[pic.png]]
[enc](sub/Deep%20Note.md#^id) [rel](./sub/../Home.md) [web](https://x.org) [[Missing]]
`[[Home]]` [[#Own]]
"""


@pytest.fixture
def web(vault: VaultFolder) -> VaultFolder:
    vault["Home.md"] = "[[Note]] ![[Note]]\n\n[[Note|again]]"
    vault["Note.md"] = NOTE
    vault["sub/Deep Note.md"] = "[home](../Home.md) [[Missing]] [[missing]] [[Void]]"
    vault["sub/Lone.md"] = "[[Lone]]"
    vault["sub/Island.md"] = "text"
    vault["pic.png"] = "x"
    return vault


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(links, tool, **arguments)
    return error.value


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(links)


def test_a_note_s_links_come_in_order_with_where_they_lead(call: Calls, web: VaultFolder) -> None:
    got = call(links, "get_outgoing_links", path="note")
    assert got["path"] == "Note.md"
    shown = [
        (
            one["target"],
            one["display_text"],
            one["kind"],
            one.get("target_path"),
            one.get("subpath"),
            (one["line"], one["col"]),
        )
        for one in got["links"]
    ]
    assert shown == [
        ("Home", "Home", "wikilink", "Home.md", None, (2, 6)),
        ("Home", "start", "wikilink", "Home.md", None, (4, 1)),
        ("sub/Deep Note#Part", "sub/Deep Note > Part", "wikilink", "sub/Deep Note.md", "#Part", (4, 20)),
        ("pic.png", "pic.png", "embed", "pic.png", None, (4, 43)),
        ("sub/Deep%20Note.md#^id", "enc", "markdown", "sub/Deep Note.md", "#^id", (5, 1)),
        ("./sub/../Home.md", "rel", "markdown", "Home.md", None, (5, 31)),
        ("Missing", "Missing", "wikilink", None, None, (5, 76)),
        ("#Own", "Own", "wikilink", "Note.md", "#Own", (6, 12)),
    ]
    assert [one["in_frontmatter"] for one in got["links"]] == [True] + [False] * 7
    assert [one["resolved"] for one in got["links"]] == [True] * 6 + [False, True]


def test_links_are_chosen_by_kind_and_by_whether_they_lead_somewhere(call: Calls, web: VaultFolder) -> None:
    def targets(**arguments: Any) -> list[str]:
        got = call(links, "get_outgoing_links", path="Note.md", **arguments)
        return [one["target"] for one in got["links"]]

    assert targets(kinds=["embed"]) == ["pic.png"]
    assert targets(kinds=["markdown"]) == ["sub/Deep%20Note.md#^id", "./sub/../Home.md"]
    assert "Missing" not in targets(include_unresolved=False)
    assert len(targets(include_unresolved=False)) == 7


def test_backlinks_count_every_kind_of_link(call: Calls, web: VaultFolder) -> None:
    got = call(links, "get_backlinks", path="Home")
    assert got == {
        "items": [
            {"source_path": "Note.md", "link_count": 3},
            {"source_path": "sub/Deep Note.md", "link_count": 1},
        ],
        "total_count": 2,
    }
    assert call(links, "get_backlinks", path="pic.png")["items"] == [
        {"source_path": "Note.md", "link_count": 1}
    ]
    assert call(links, "get_backlinks", path="Lone")["items"] == []


def test_backlinks_come_with_the_lines_they_stand_on(call: Calls, web: VaultFolder) -> None:
    def contexts(**arguments: Any) -> list[tuple[int, str]]:
        (item,) = call(links, "get_backlinks", path="Note.md", include_context=True, **arguments)["items"]
        return [(context["line"], context["text"]) for context in item["contexts"]]

    assert contexts() == [(1, "[[Note]] ![[Note]]"), (3, "[[Note|again]]")]
    web["Home.md"] = '---\nup: "[[Note]]"\n---\n![[Note]]\n'
    assert contexts() == [(2, 'up: "[[Note]]"'), (4, "![[Note]]")]
    assert contexts(include_embeds=False) == [(2, 'up: "[[Note]]"')]


def test_embeds_count_only_where_wanted(call: Calls, web: VaultFolder) -> None:
    (item,) = call(links, "get_backlinks", path="Note.md", include_embeds=False)["items"]
    assert item["link_count"] == 2
    assert call(links, "get_backlinks", path="pic.png", include_embeds=False)["total_count"] == 0


def test_a_missing_note_has_neither_links_nor_backlinks(call: Calls, web: VaultFolder) -> None:
    for tool in ("get_outgoing_links", "get_backlinks"):
        error = failure(call, tool, path="sub/Iland.md")
        assert (error.code, error.details["suggestions"]) == ("note_not_found", ["sub/Island.md"])


def test_orphans_are_notes_that_no_other_links_to(call: Calls, web: VaultFolder) -> None:
    def found(**arguments: Any) -> list[tuple[str, int]]:
        page = call(links, "find_orphans", **arguments)
        assert page["total_count"] == len(page["items"])
        return [(item["path"], item["outgoing_count"]) for item in page["items"]]

    web["Top.md"] = "[[Home]]"
    assert found() == [("Top.md", 1), ("sub/Island.md", 0), ("sub/Lone.md", 1)]
    assert found(require_no_outgoing=True) == [("sub/Island.md", 0)]
    assert found(root="sub") == [("sub/Island.md", 0), ("sub/Lone.md", 1)]
    assert found(exclude_paths=["sub/"]) == [("Top.md", 1)]
    assert found(exclude_paths=["sub/Lone.md", "Top.md"]) == [("sub/Island.md", 0)]


def test_links_that_lead_nowhere_are_found_by_target(call: Calls, web: VaultFolder) -> None:
    got = call(links, "find_unresolved_links")
    assert got == {
        "items": [
            {
                "target": "Missing",
                "sources": [{"path": "Note.md", "line": 5}, {"path": "sub/Deep Note.md", "line": 1}],
            },
            {"target": "Void", "sources": [{"path": "sub/Deep Note.md", "line": 1}]},
            {"target": "missing", "sources": [{"path": "sub/Deep Note.md", "line": 1}]},
        ],
        "total_count": 3,
    }


def test_links_that_lead_nowhere_are_found_note_by_note(call: Calls, web: VaultFolder) -> None:
    first = call(links, "find_unresolved_links", group_by="source", limit=3)
    rest = call(links, "find_unresolved_links", group_by="source", limit=3, cursor=first["cursor"])
    assert first["total_count"] == rest["total_count"] == 4
    assert first["items"] + rest["items"] == [
        {"target": "Missing", "sources": [{"path": "Note.md", "line": 5}]},
        {"target": "Missing", "sources": [{"path": "sub/Deep Note.md", "line": 1}]},
        {"target": "Void", "sources": [{"path": "sub/Deep Note.md", "line": 1}]},
        {"target": "missing", "sources": [{"path": "sub/Deep Note.md", "line": 1}]},
    ]
    below = call(links, "find_unresolved_links", root="sub", verbosity="terse")
    assert below["items"] == [{"target": "Missing"}, {"target": "Void"}, {"target": "missing"}]


def test_a_restricted_caller_sees_the_graph_of_permitted_notes_only(call: Calls, web: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["*.md"]}}
    assert call(links, "get_backlinks", path="Home.md") == {
        "items": [{"source_path": "Note.md", "link_count": 3}],
        "total_count": 1,
    }
    deep = call(links, "get_outgoing_links", path="Note.md")["links"][2]
    assert deep["resolved"] is False
    assert "target_path" not in deep
    assert call(links, "find_orphans")["total_count"] == 0
    unresolved = call(links, "find_unresolved_links")
    assert [item["target"] for item in unresolved["items"]] == [
        *("Missing", "pic.png", "sub/Deep Note", "sub/Deep Note.md")
    ]
    assert unresolved["items"][0]["sources"] == [{"path": "Note.md", "line": 5}]
    assert failure(call, "get_backlinks", path="sub/Lone.md").code == "acl_denied"
    assert failure(call, "get_outgoing_links", path="sub/Lone.md").code == "acl_denied"


def test_a_note_linked_from_hidden_notes_alone_is_an_orphan_to_a_restricted_caller(
    call: Calls, web: VaultFolder
) -> None:
    call.settings = {"acl": {"read_paths": ["sub/**"]}}
    page = call(links, "find_orphans")
    assert [item["path"] for item in page["items"]] == ["sub/Deep Note.md", "sub/Island.md", "sub/Lone.md"]


def test_the_generated_vault_has_the_links_of_its_manifest(generated: Known) -> None:
    truth, call = generated.truth, generated.call
    hub = truth["hub"]
    backlinks = call(links, "get_backlinks", path=hub["name"], limit=1000)
    assert backlinks["total_count"] == len(backlinks["items"]) == hub["sources_body_or_fm"]
    orphans = truth["orphans"]
    assert call(links, "find_orphans", limit=2)["total_count"] == orphans["no_incoming_body_or_fm"]
    lone = call(links, "find_orphans", limit=2, require_no_outgoing=True)
    assert lone["total_count"] == orphans["isolated_body_or_fm"]
    unresolved = truth["unresolved"]
    by_target = call(links, "find_unresolved_links", limit=1000)
    assert by_target["total_count"] == unresolved["targets"]
    assert sum(len(item["sources"]) for item in by_target["items"]) == unresolved["instances"]
    by_source = call(links, "find_unresolved_links", group_by="source", limit=5)
    assert by_source["total_count"] == unresolved["pairs"]


def test_backlinks_are_the_outgoing_links_of_a_real_vault_turned_round(
    call: Calls, real_vault: VaultFolder
) -> None:
    forward: dict[str, dict[str, int]] = {}
    for path in [path for path in real_vault if path.endswith(".md") and not path.startswith(".")]:
        for one in call(links, "get_outgoing_links", path=path)["links"]:
            target = one.get("target_path")
            if target is not None and target != path:
                counted = forward.setdefault(target, {})
                counted[path] = counted.get(path, 0) + 1
    assert len(forward) > 20
    for target, sources in list(forward.items())[::5]:
        items = call(links, "get_backlinks", path=target, limit=1000)["items"]
        assert {item["source_path"]: item["link_count"] for item in items} == sources
