from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_bulk import bulk


def test_each_note_has_its_own_result(call: Calls, vault: VaultFolder) -> None:
    vault["taken.md"] = "old"
    items = [
        {"path": "a.md", "content": "A", "frontmatter": {"n": 1}},
        {"path": "taken.md", "content": "new"},
        {"path": "b.md", "content": "B"},
    ]
    done = call(bulk, "bulk_create_notes", items=items)
    assert [(r["path"], r["ok"]) for r in done["results"]] == [
        ("a.md", True),
        ("taken.md", False),
        ("b.md", True),
    ]
    assert (done["processed"], done["succeeded"], done["failed"]) == (3, 2, 1)
    assert done["results"][1]["error"]["code"] == "note_exists"
    assert (vault["a.md"], vault["taken.md"]) == ("---\nn: 1\n---\nA", "old")


def test_a_run_stops_at_the_first_error_where_asked(call: Calls, vault: VaultFolder) -> None:
    vault["taken.md"] = "old"
    items = [{"path": "taken.md", "content": "x"}, {"path": "b.md", "content": "B"}]
    assert call(bulk, "bulk_create_notes", items=items, stop_on_first_error=True)["processed"] == 1
    assert "b.md" not in vault


def test_many_notes_or_an_overwrite_need_a_person(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "old"
    for items in (
        [{"path": f"n{n}.md", "content": ""} for n in range(51)],
        [{"path": "a.md", "content": "new", "mode": "overwrite"}],
    ):
        with pytest.raises(ToolError) as refused:
            call(bulk, "bulk_create_notes", items=items)
        assert refused.value.code == "elicit_required"
    assert dict(vault) == {"a.md": "old"}


def test_a_path_outside_is_refused_before_anything_is_written(call: Calls, vault: VaultFolder) -> None:
    items = [{"path": "a.md", "content": "A"}, {"path": "../b.md", "content": "B"}]
    with pytest.raises(ToolError) as refused:
        call(bulk, "bulk_create_notes", items=items)
    assert refused.value.code == "path_invalid"
    assert dict(vault) == {}


def test_one_property_is_set_in_many_notes_and_nothing_else_changes(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "---\n# c\nstatus: old # why\nz: 1\n---\nA\n"
    vault["b.md"] = "B\r\n"
    vault["bad.md"] = "---\na: [\n---\nC\n"
    done = call(
        bulk, "bulk_set_property", paths=["a.md", "b.md", "bad.md", "gone.md"], key="status", value="new"
    )
    assert [(r["path"], r["ok"]) for r in done["results"]] == [
        ("a.md", True),
        ("b.md", True),
        ("bad.md", False),
        ("gone.md", False),
    ]
    assert done["results"][0]["prev_value"] == "old"
    assert vault["a.md"] == "---\n# c\nstatus: new # why\nz: 1\n---\nA\n"
    assert vault["b.md"] == "---\r\nstatus: new\r\n---\r\nB\r\n"
    assert vault["bad.md"] == "---\na: [\n---\nC\n"


def test_a_dry_run_says_what_the_real_run_then_does(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "to [[b]]"
    vault["b.md"] = "to [[a]] and [[a]]"
    vault["c.md"] = "[[a]] [x](b.md)"
    moves = [{"from": "a.md", "to": "b.md"}, {"from": "b.md", "to": "a.md"}]
    planned = call(bulk, "bulk_move_notes", moves=moves)
    assert dict(vault)["a.md"] == "to [[b]]"
    real = call.confirmed(bulk, "bulk_move_notes", moves=moves, dry_run=False)
    assert {**planned, "dry_run": False} == real
    assert dict(vault) == {"b.md": "to [[a]]", "a.md": "to [[b]] and [[b]]", "c.md": "[[b]] [x](a.md)"}


PLACES = ["a.md", "b.md", "c/a.md", "c/d.md", "e.md", "f.md/x.md", "ro/z.md", "n.txt", "c"]
TEXTS = {
    "a.md": "[[b]] [[c/a]] [x](c/d.md)",
    "b.md": "![[a]] [[nowhere]]",
    "c/a.md": "[u](../a.md) [[d#H|t]]",
    "c/d.md": "text",
    "ro/z.md": "[[b]]",
    "p.canvas": '{"nodes":[{"id":"1","type":"file","file":"c/d.md"},{"id":"2","type":"text","text":"[[A]]"}]}',
}


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)), min_size=1, max_size=4))
def test_whatever_is_to_move_a_dry_run_says_what_the_real_run_then_does(
    call: Calls, vault: VaultFolder, pairs: list[tuple[str, str]]
) -> None:
    for path in list(vault):
        del vault[path]
    for path, text in TEXTS.items():
        vault[path] = text
    call.settings["acl"] = {"write_paths": ["*", "c/**", "f.md/**"]}
    arguments: dict[str, Any] = {"moves": [{"from": source, "to": target} for source, target in pairs]}
    planned = call.outcome(bulk, "bulk_move_notes", **arguments)
    assert dict(vault) == TEXTS
    if planned.error is None:
        real = call.confirmed(bulk, "bulk_move_notes", dry_run=False, **arguments)
        assert {**msgspec.json.decode(planned.payload), "dry_run": False} == real
        assert sorted(vault) == sorted(dict(pairs).get(path, path) for path in TEXTS)
        return
    refused = call.outcome(bulk, "bulk_move_notes", dry_run=False, **arguments)
    assert refused.error == planned.error
    assert dict(vault) == TEXTS


def test_a_move_that_a_rule_forbids_is_refused_before_a_person_is_asked(
    call: Calls, vault: VaultFolder
) -> None:
    vault["open/a.md"], vault["fixed/b.md"] = "a", "[[a]]"
    call.settings["acl"] = {"write_paths": ["open/**"], "delete_paths": ["open/**"]}
    for dry_run in (True, False):
        with pytest.raises(ToolError) as refused:
            call(bulk, "bulk_move_notes", moves=[{"from": "open/a.md", "to": "open/c.md"}], dry_run=dry_run)
        assert (refused.value.code, refused.value.details["path"]) == ("acl_denied", "fixed/b.md")


def test_only_notes_are_created_changed_and_moved(call: Calls, vault: VaultFolder) -> None:
    vault["c.canvas"], vault["a.md"] = "{}", "a"
    calls: list[tuple[str, dict[str, Any]]] = [
        (
            "bulk_create_notes",
            {"items": [{"path": "b.md", "content": ""}, {"path": "x.html", "content": ""}]},
        ),
        ("bulk_set_property", {"paths": ["a.md", "c.canvas"], "key": "k", "value": 1}),
        ("bulk_move_notes", {"moves": [{"from": "c.canvas", "to": "d.canvas"}], "dry_run": False}),
        ("bulk_move_notes", {"moves": [{"from": "a.md", "to": "a.txt"}], "dry_run": False}),
    ]
    for tool, arguments in calls:
        with pytest.raises(ToolError) as refused:
            call(bulk, tool, **arguments)
        assert refused.value.code == "invalid_input"
    assert dict(vault) == {"a.md": "a", "c.canvas": "{}"}


def test_setting_properties_stops_at_the_first_error_where_asked(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"], vault["bad.md"], vault["z.md"] = "A", "---\na: [\n---\n", "Z"
    arguments = {"paths": ["a.md", "bad.md", "z.md"], "key": "k", "value": 1}
    stopped = call(bulk, "bulk_set_property", stop_on_first_error=True, **arguments)
    assert [(r["path"], r["ok"]) for r in stopped["results"]] == [("a.md", True), ("bad.md", False)]
    assert (stopped["processed"], stopped["succeeded"], stopped["failed"]) == (2, 1, 1)
    assert vault["z.md"] == "Z"
    gone_on = call(bulk, "bulk_set_property", **arguments)
    assert [r["ok"] for r in gone_on["results"]] == [True, False, True]
    assert gone_on["results"][0]["prev_value"] == 1


def test_a_chain_moves_whole(call: Calls, vault: VaultFolder) -> None:
    vault["1.md"], vault["2.md"], vault["x.md"] = "one", "two", "[[1]] [[2]]"
    moves = [{"from": "1.md", "to": "2.md"}, {"from": "2.md", "to": "3.md"}]
    call.confirmed(bulk, "bulk_move_notes", moves=moves, dry_run=False)
    assert dict(vault) == {"2.md": "one", "3.md": "two", "x.md": "[[2]] [[3]]"}


def test_an_impossible_set_moves_nothing_and_names_each_fault(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"], vault["b.md"], vault["taken.md"] = "a", "b", "t"
    moves = [
        {"from": "a.md", "to": "taken.md"},
        {"from": "gone.md", "to": "g.md"},
        {"from": "b.md", "to": "free.md"},
    ]
    with pytest.raises(ToolError) as refused:
        call(bulk, "bulk_move_notes", moves=moves, dry_run=False)
    assert refused.value.code == "bulk_partial"
    assert [r["code"] for r in refused.value.details["results"]] == ["note_exists", "note_not_found"]
    assert sorted(vault) == ["a.md", "b.md", "taken.md"]


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(bulk)
