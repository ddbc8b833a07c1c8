import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_bookmarks import bookmarks
from knapper_bookmarks.items import flat

FILE = ".obsidian/bookmarks.json"
# As Obsidian writes it, with a type and keys that only some plugin knows.
STORED = """{
  "items": [
    {
      "type": "file",
      "ctime": 1700000000000,
      "path": "notes/Plan.md"
    },
    {
      "type": "group",
      "ctime": 1700000001000,
      "items": [
        {
          "type": "file",
          "ctime": 1700000002000,
          "path": "notes/Plan.md",
          "subpath": "#Goals",
          "title": "The goals"
        },
        {
          "type": "group",
          "ctime": 1700000003000,
          "items": [
            {
              "type": "search",
              "ctime": 1700000004000,
              "query": "tag:#next"
            },
            {
              "type": "file",
              "ctime": 1700000005000,
              "path": "gone.md",
              "subpath": "#^b1"
            }
          ],
          "title": "Next"
        }
      ],
      "title": "Work",
      "color": "red"
    },
    {
      "type": "folder",
      "ctime": 1700000006000,
      "path": "notes"
    },
    {
      "type": "graph",
      "ctime": 1700000007000,
      "options": {"showTags": true, "scale": 1.50},
      "title": "All"
    },
    {
      "type": "url",
      "ctime": 1700000008000,
      "url": "https://example.org/",
      "title": "Example"
    },
    {
      "type": "vim-mark",
      "mark": "'a",
      "path": "somewhere"
    }
  ],
  "pluginKey": [1, 2]
}"""


def fill(vault: VaultFolder) -> None:
    vault["notes/Plan.md"] = "# Goals\n"
    vault[FILE] = STORED


def refusal(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as refused:
        call(bookmarks, tool, **arguments)
    return refused.value


def listed(call: Calls, **arguments: Any) -> list[tuple[str, str, str, str | None]]:
    items = call(bookmarks, "list_bookmarks", **arguments)["items"]
    return [(item["type"], item["title"], item["target"], item.get("group")) for item in items]


def test_bookmarks_are_listed_flat_with_their_groups(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    assert listed(call) == [
        ("file", "Plan", "notes/Plan.md", None),
        ("heading", "The goals", "notes/Plan.md#Goals", "Work"),
        ("search", "tag:#next", "tag:#next", "Work/Next"),
        ("block", "gone#^b1", "gone.md#^b1", "Work/Next"),
        ("folder", "notes", "notes", None),
        ("graph", "All", "All", None),
        ("url", "Example", "https://example.org/", None),
        ("vim-mark", "somewhere", "somewhere", None),
    ]


def test_a_bookmark_says_when_it_was_made_and_whether_its_file_is_gone(
    call: Calls, vault: VaultFolder
) -> None:
    fill(vault)
    items = call(bookmarks, "list_bookmarks")["items"]
    assert items[0]["created_at"] == "2023-11-14T22:13:20Z"
    assert [item["target"] for item in items if item.get("missing")] == ["gone.md#^b1"]
    assert "created_at" not in items[7]


def test_a_group_is_listed_with_the_groups_in_it(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    assert [target for _, _, target, _ in listed(call, group="Work")] == [
        "notes/Plan.md#Goals",
        "tag:#next",
        "gone.md#^b1",
    ]
    assert [target for _, _, target, _ in listed(call, group="Work/Next")] == ["tag:#next", "gone.md#^b1"]
    assert listed(call, group="Nobody") == []


def test_pages_join_although_a_bookmark_before_them_goes(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    first = call(bookmarks, "list_bookmarks", limit=3)
    assert first["total_count"] == 8
    call(bookmarks, "remove_bookmark", id=first["items"][0]["id"])
    second = call(bookmarks, "list_bookmarks", limit=9, cursor=first["cursor"])
    assert [item["target"] for item in second["items"]][:2] == ["gone.md#^b1", "notes"]
    assert (second["total_count"], "cursor" in second) == (7, False)


@pytest.mark.parametrize("text", [None, "", "{}", '{"items": []}'])
def test_a_vault_without_bookmarks_has_none_and_takes_the_first(
    call: Calls, vault: VaultFolder, text: str | None
) -> None:
    vault["a.md"] = "x"
    if text is not None:
        vault[FILE] = text
    assert listed(call) == []
    added = call(bookmarks, "add_bookmark", type="file", target="a.md")
    assert added["added"] is True
    assert listed(call) == [("file", "a", "a.md", None)]


def test_what_was_starred_is_read_and_kept_when_the_file_of_today_is_made(
    call: Calls, vault: VaultFolder
) -> None:
    vault["a.md"] = vault["b.md"] = "x"
    vault[".obsidian/starred.json"] = older = (
        '{"items":[{"type":"file","title":"a","path":"a.md"},{"type":"search","title":"q","query":"x y"}]}'
    )
    assert [target for _, _, target, _ in listed(call)] == ["a.md", "x y"]
    gone = call(bookmarks, "list_bookmarks")["items"][1]["id"]
    call(bookmarks, "add_bookmark", type="file", target="b.md")
    call(bookmarks, "remove_bookmark", id=gone)
    assert [target for _, _, target, _ in listed(call)] == ["a.md", "b.md"]
    assert vault[".obsidian/starred.json"] == older


def test_a_bookmark_is_added_as_obsidian_writes_it_and_nothing_else_changes(
    call: Calls, vault: VaultFolder
) -> None:
    fill(vault)
    added = call(
        bookmarks, "add_bookmark", type="heading", target="notes/Plan.md#Why", group="Work", title="Why?"
    )
    assert (added["type"], added["target"], added["added"]) == ("heading", "notes/Plan.md#Why", True)
    ctime = json.loads(vault[FILE])["items"][1]["items"][2]["ctime"]
    last = '          "title": "Next"\n        }'
    new = [
        '"type": "file",',
        f'"ctime": {ctime},',
        '"path": "notes/Plan.md",',
        '"subpath": "#Why",',
        '"title": "Why?"',
    ]
    lines = "".join(f"          {line}\n" for line in new)
    assert vault[FILE] == STORED.replace(last, f"{last},\n        {{\n{lines}        }}")
    assert added["id"] in [item["id"] for item in call(bookmarks, "list_bookmarks")["items"]]


@pytest.mark.parametrize(
    ("kind", "target", "stored"),
    [
        ("file", "notes/Plan.md", {"type": "file", "path": "notes/Plan.md"}),
        ("folder", "notes", {"type": "folder", "path": "notes"}),
        ("block", "notes/Plan.md#^x", {"type": "file", "path": "notes/Plan.md", "subpath": "#^x"}),
        ("search", "tag:#a", {"type": "search", "query": "tag:#a"}),
        ("url", "https://a.example/", {"type": "url", "url": "https://a.example/"}),
        ("graph", "Mine", {"type": "graph", "options": {}, "title": "Mine"}),
    ],
)
def test_every_type_is_stored_with_the_fields_obsidian_gives_it(
    call: Calls, vault: VaultFolder, kind: str, target: str, stored: dict[str, Any]
) -> None:
    vault["notes/Plan.md"] = "x"
    call(bookmarks, "add_bookmark", type=kind, target=target)
    (item,) = json.loads(vault[FILE])["items"]
    assert item.pop("ctime") > 1_600_000_000_000
    assert item == stored
    assert [(k, t) for k, _, t, _ in listed(call)] == [(kind, target)]


def test_bookmarking_twice_changes_nothing_unless_that_is_wanted(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    known = call(bookmarks, "list_bookmarks")["items"][0]
    again = call(bookmarks, "add_bookmark", type="file", target="notes/Plan.md", group="Work")
    assert (again["id"], again["added"], again["created_at"]) == (known["id"], False, known["created_at"])
    assert vault[FILE] == STORED
    twice = call(bookmarks, "add_bookmark", type="file", target="notes/Plan.md", allow_duplicate=True)
    assert twice["added"] is True
    assert twice["id"] != known["id"]
    ids = [item["id"] for item in call(bookmarks, "list_bookmarks")["items"]]
    assert len(set(ids)) == len(ids) == 9


def test_groups_are_made_where_they_are_missing(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    call(bookmarks, "add_bookmark", type="search", target="one", group="Work/Next")
    call(bookmarks, "add_bookmark", type="search", target="two", group="Work/Later/Someday")
    call(bookmarks, "add_bookmark", type="search", target="three", group="Home")
    found = {target: group for _, _, target, group in listed(call)}
    assert (found["one"], found["two"], found["three"]) == ("Work/Next", "Work/Later/Someday", "Home")
    titles = [item.get("title") for item in json.loads(vault[FILE])["items"] if item["type"] == "group"]
    assert titles == ["Work", "Home"]


@pytest.mark.parametrize(
    ("kind", "target", "code"),
    [
        ("file", "never.md", "invalid_input"),
        ("folder", "notes/Plan.md", "invalid_input"),
        ("file", "notes", "invalid_input"),
        ("heading", "notes/Plan.md", "invalid_input"),
        ("heading", "notes/Plan.md#^x", "invalid_input"),
        ("block", "notes/Plan.md#x", "invalid_input"),
        ("url", "javascript:alert(1)", "invalid_input"),
        ("file", "../out.md", "path_invalid"),
        ("file", ".obsidian/app.json", "acl_denied"),
        ("group", "x", "validation_error"),
    ],
)
def test_a_target_that_does_not_fit_is_refused(
    call: Calls, vault: VaultFolder, kind: str, target: str, code: str
) -> None:
    fill(vault)
    vault[".obsidian/app.json"] = "{}"
    assert refusal(call, "add_bookmark", type=kind, target=target).code == code
    assert vault[FILE] == STORED


def test_removing_leaves_every_other_byte_and_removing_again_does_nothing(
    call: Calls, vault: VaultFolder
) -> None:
    fill(vault)
    search = call(bookmarks, "list_bookmarks")["items"][2]
    assert call(bookmarks, "remove_bookmark", id=search["id"]) == {"id": search["id"], "removed": True}
    before = STORED.split("\n")
    assert vault[FILE] == "\n".join([*before[:22], *before[27:]])
    assert call(bookmarks, "remove_bookmark", id=search["id"])["removed"] is False
    assert call(bookmarks, "remove_bookmark", id="nonsense")["removed"] is False


def test_ids_stay_when_other_bookmarks_come_and_go(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    before = {item["target"]: item["id"] for item in call(bookmarks, "list_bookmarks")["items"]}
    call(bookmarks, "remove_bookmark", id=before["notes/Plan.md"])
    call(bookmarks, "add_bookmark", type="search", target="new", group="Work")
    after = {item["target"]: item["id"] for item in call(bookmarks, "list_bookmarks")["items"]}
    del before["notes/Plan.md"], after["new"]
    assert after == before


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"items": 3}', '{"items": [1]}', '{"items":[{"type":"group","items":3}]}']
)
def test_a_broken_file_is_reported_and_never_rewritten(call: Calls, vault: VaultFolder, text: str) -> None:
    vault[FILE] = text
    assert refusal(call, "list_bookmarks").code == "invalid_input"
    assert refusal(call, "add_bookmark", type="search", target="x").code == "invalid_input"
    assert refusal(call, "remove_bookmark", id="x").code == "invalid_input"
    assert vault[FILE] == text


def test_paths_the_caller_may_not_read_are_not_shown_or_removed(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    plan = next(flat(json.loads(STORED)["items"])).id
    call.settings["acl"] = {"read_paths": ["notes", ".obsidian/bookmarks.json", "gone.md"]}
    page = call(bookmarks, "list_bookmarks")
    assert [item["target"] for item in page["items"]] == [
        "tag:#next",
        "gone.md#^b1",
        "notes",
        "All",
        "https://example.org/",
        "somewhere",
    ]
    assert page["total_count"] == 6
    assert call(bookmarks, "remove_bookmark", id=plan)["removed"] is False
    assert refusal(call, "add_bookmark", type="file", target="notes/Plan.md").code == "acl_denied"


def test_a_vault_that_is_read_only_takes_no_bookmarks(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    call.settings["acl"] = {"write_paths": ["notes/**"]}
    assert refusal(call, "add_bookmark", type="search", target="x").code == "acl_denied"
    assert vault[FILE] == STORED


def test_no_other_file_of_obsidian_is_opened_by_the_exemption() -> None:
    assert bookmarks.exempt == {".obsidian/bookmarks.json", ".obsidian/starred.json"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FOREIGN = st.dictionaries(
    st.text(max_size=5).filter(lambda key: key not in ("type", "items")), JSON, max_size=4
)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FOREIGN, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_foreign_types_and_keys_survive_adding_and_removing(
    call: Calls, vault: VaultFolder, foreign: list[dict[str, Any]], indent: int | str | None
) -> None:
    items = [{"type": "foreign", **item} for item in foreign] + [{"type": "search", "query": "kept"}]
    vault[FILE] = text = json.dumps({"items": items, "more": foreign}, indent=indent, ensure_ascii=False)
    added = call(bookmarks, "add_bookmark", type="search", target="x")
    assert json.loads(vault[FILE])["items"][:-1] == items
    call(bookmarks, "remove_bookmark", id=added["id"])
    assert vault[FILE] == text


def test_equal_bookmarks_in_one_group_have_ids_of_their_own() -> None:
    same = {"type": "search", "query": "x"}
    first, second, other = flat([same, dict(same), {"type": "group", "title": "g", "items": [dict(same)]}])
    assert len({first.id, second.id, other.id}) == 3


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(bookmarks)
    assert {name: (tool.rate, tool.scopes) for name, tool in bookmarks.tools.items()} == {
        "list_bookmarks": ("read", ("read:bookmarks",)),
        "add_bookmark": ("write", ("write:bookmarks",)),
        "remove_bookmark": ("delete", ("delete:bookmarks",)),
    }
