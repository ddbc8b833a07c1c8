from __future__ import annotations

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_tags import tags
from tests.known_vaults import Known

NOTE = """---
tags: [Project/Élan, '#draft', "two words", 2024]
---
# Heading #naïve
Text #日本, #project/élan and #draft-2. Not#one, #123, \\#escaped, https://x.org/#anchor
`#code` [[Note#Part]] #a/b/c
```
#fenced
```
<!-- #html -->
%% #commented %%
#draft
"""


def listed(page: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(item["tag"], item["count"], item["source"]) for item in page["items"]]


def found(call: Calls, **arguments: Any) -> list[str]:
    page = call(tags, "find_notes_by_tag", **arguments)
    assert page["total_count"] == len(page["items"])
    return [item["path"].removesuffix(".md") for item in page["items"]]


@pytest.fixture
def tagged(vault: VaultFolder) -> VaultFolder:
    vault["a.md"] = "---\ntags: [dev, Überblick]\n---\n#dev #日本"
    vault["b.md"] = "#dev/rust #überblick"
    vault["sub/c.md"] = "---\ntags: dev/rust/async\n---\n#devops"
    vault["sub/d.md"] = "`#dev`"
    return vault


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(tags)


def test_a_note_s_tags_are_those_obsidian_sees(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = NOTE
    got = call(tags, "get_note_tags", path="a")
    assert got == {
        "path": "a.md",
        "tags": [
            {"tag": "Project/Élan", "source": "both", "positions": [{"line": 5, "col": 11}]},
            {"tag": "draft", "source": "both", "positions": [{"line": 12, "col": 1}]},
            {"tag": "naïve", "source": "inline", "positions": [{"line": 4, "col": 11}]},
            {"tag": "日本", "source": "inline", "positions": [{"line": 5, "col": 6}]},
            {"tag": "draft-2", "source": "inline", "positions": [{"line": 5, "col": 29}]},
            {"tag": "a/b/c", "source": "inline", "positions": [{"line": 6, "col": 23}]},
            {"tag": "commented", "source": "inline", "positions": [{"line": 11, "col": 4}]},
        ],
    }


def test_every_place_of_a_tag_is_told(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "#x\r\n\r\ntext #X\r\n"
    (tag,) = call(tags, "get_note_tags", path="a.md")["tags"]
    assert tag["positions"] == [{"line": 1, "col": 1}, {"line": 3, "col": 6}]


def test_a_note_that_is_not_there_has_no_tags(call: Calls, vault: VaultFolder) -> None:
    vault["alpha.md"] = ""
    with pytest.raises(ToolError) as error:
        call(tags, "get_note_tags", path="alpah")
    assert (error.value.code, error.value.details["suggestions"]) == ("note_not_found", ["alpha.md"])


def test_tags_are_listed_by_count_or_name(call: Calls, tagged: VaultFolder) -> None:
    by_count = call(tags, "list_tags")
    assert by_count["total_count"] == 6
    assert listed(by_count) == [
        ("Überblick", 2, "both"),
        ("dev", 1, "both"),
        ("dev/rust", 1, "inline"),
        ("dev/rust/async", 1, "frontmatter"),
        ("devops", 1, "inline"),
        ("日本", 1, "inline"),
    ]
    by_name = listed(call(tags, "list_tags", sort="name"))
    assert [tag for tag, _, _ in by_name] == [
        *("dev", "dev/rust", "dev/rust/async", "devops", "Überblick", "日本")
    ]


def test_tags_are_listed_by_where_they_stand(call: Calls, tagged: VaultFolder) -> None:
    inline = call(tags, "list_tags", include_frontmatter=False, sort="name")
    assert [item["tag"].lower() for item in inline["items"]] == [
        *("dev", "dev/rust", "devops", "überblick", "日本")
    ]
    assert {item["source"] for item in inline["items"]} == {"inline"}
    above = call(tags, "list_tags", include_inline=False, sort="name")
    assert [item["tag"] for item in above["items"]] == ["dev", "dev/rust/async", "Überblick"]
    assert call(tags, "list_tags", include_inline=False, include_frontmatter=False)["total_count"] == 0
    assert listed(call(tags, "list_tags", root="sub", sort="name")) == [
        ("dev/rust/async", 1, "frontmatter"),
        ("devops", 1, "inline"),
    ]


@pytest.mark.parametrize("sort", ["count", "name"])
def test_pages_of_tags_follow_each_other(call: Calls, tagged: VaultFolder, sort: str) -> None:
    whole = call(tags, "list_tags", sort=sort)["items"]
    first = call(tags, "list_tags", sort=sort, limit=4)
    rest = call(tags, "list_tags", sort=sort, limit=4, cursor=first["cursor"])
    assert first["items"] + rest["items"] == whole
    assert "cursor" not in rest
    terse = call(tags, "list_tags", sort=sort, limit=1, verbosity="terse")
    assert terse["items"] == [{"tag": whole[0]["tag"]}]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"tag": "dev"}, ["a", "b", "sub/c"]),
        ({"tag": "#DEV"}, ["a", "b", "sub/c"]),
        ({"tag": "dev", "hierarchical": False}, ["a"]),
        ({"tag": "dev/rust"}, ["b", "sub/c"]),
        ({"tag": "日本"}, ["a"]),
        ({"tag": "überblick"}, ["a", "b"]),
        ({"tag": "dev", "root": "sub"}, ["sub/c"]),
        ({"tags": ["日本", "devops"]}, ["a", "sub/c"]),
        ({"tags": ["dev", "überblick"], "require_all": True}, ["a", "b"]),
        ({"tags": ["dev", "dev", "日本"], "require_all": True}, ["a"]),
        ({"tag": "dev", "tags": ["日本"], "require_all": True}, ["a"]),
        ({"tag": "nothing"}, []),
    ],
)
def test_notes_are_found_by_tag(
    call: Calls, tagged: VaultFolder, arguments: dict[str, Any], expected: list[str]
) -> None:
    assert found(call, **arguments) == expected


def test_the_tags_that_matched_come_along(call: Calls, tagged: VaultFolder) -> None:
    items = call(tags, "find_notes_by_tag", tags=["dev", "überblick"])["items"]
    assert items == [
        {"path": "a.md", "matched_tags": ["dev", "Überblick"], "source": "both"},
        {"path": "b.md", "matched_tags": ["dev/rust", "überblick"], "source": "inline"},
        {"path": "sub/c.md", "matched_tags": ["dev/rust/async"], "source": "frontmatter"},
    ]


def test_a_search_for_no_tag_is_refused(call: Calls) -> None:
    calls: list[dict[str, Any]] = [{}, {"tags": []}, {"tag": ""}]
    for arguments in calls:
        with pytest.raises(ToolError) as error:
            call(tags, "find_notes_by_tag", **arguments)
        assert error.value.code == "invalid_input"


def test_a_restricted_caller_counts_permitted_notes_only(call: Calls, tagged: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["*.md"]}}
    assert found(call, tag="dev") == ["a", "b"]
    got = call(tags, "list_tags")
    assert got["total_count"] == 4
    assert listed(got)[0] == ("Überblick", 2, "both")
    with pytest.raises(ToolError) as error:
        call(tags, "get_note_tags", path="sub/c.md")
    assert error.value.code == "acl_denied"


def test_the_generated_vault_has_the_tags_of_its_manifest(generated: Known) -> None:
    truth = generated.truth["tags"]
    got = generated.call(tags, "list_tags", limit=3)
    assert (got["total_count"], len(got["items"])) == (truth["distinct"], 3)
    for tag, count in ((truth["top_root"], "top_root_notes"), (truth["leaf"], "leaf_notes_hier")):
        page = generated.call(tags, "find_notes_by_tag", tag=tag, limit=1)
        assert page["total_count"] == truth[count]


def test_the_counts_of_a_real_vault_are_those_of_its_notes(call: Calls, real_vault: VaultFolder) -> None:
    items = call(tags, "list_tags", limit=1000)["items"]
    assert len(items) > 5
    for item in items[::7]:
        arguments = {"tag": item["tag"], "hierarchical": False, "limit": 1}
        assert call(tags, "find_notes_by_tag", **arguments)["total_count"] == item["count"]
