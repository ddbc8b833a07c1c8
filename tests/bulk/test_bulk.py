import pytest

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
