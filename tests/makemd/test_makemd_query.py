"""The rows of a space: typed, filtered, sorted, paged, and only those of files that the caller may read."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_makemd import makemd
from tests.makemd.conftest import COLUMNS, FIELDS, ROWS, bytes_below, make_database, make_space


def query(call: Calls, space_id: str = "Birds", **more: Any) -> Any:
    return call(makemd, "makemd_query", space_id=space_id, **more)


def names(call: Calls, space_id: str = "Birds", **more: Any) -> list[str]:
    found = query(call, space_id, **more)
    assert found["total_count"] >= len(found["items"])
    return [item["note_path"].rpartition("/")[2].removesuffix(".md") for item in found["items"]]


def refused(call: Calls, **more: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        query(call, **more)
    return caught.value


def test_cells_are_what_their_columns_say(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    assert query(call) == {
        "items": [
            {
                "note_path": "Birds/bittern.md",
                "columns": {
                    "Status": "shut",
                    "Count": 2.5,
                    "Done": True,
                    "Birds": ["brown", "shy, rare"],
                    "Secret key": None,
                },
            },
            {
                "note_path": "Birds/coot.md",
                "columns": {
                    "Status": None,
                    "Count": None,
                    "Done": None,
                    "Birds": None,
                    "Secret key": "c",
                },
            },
            {
                "note_path": "Birds/heron.md",
                "columns": {
                    "Status": "open",
                    "Count": 12,
                    "Done": False,
                    "Birds": ["grey", "tall"],
                    "Secret key": "h",
                },
            },
        ],
        "total_count": 3,
        "engine": "native",
    }


def test_columns_that_are_not_described_and_values_of_other_types_are_kept(
    call: Calls, vault: VaultFolder
) -> None:
    fields = (("File", "file", "", "", "true"), ("N", "number", "", "", ""), ("O", "object", "", "", ""))
    row = ("Birds/heron.md", "many", '{"a": [1]}', "kept")
    make_space(vault, fields=fields, columns=["File", "N", "O", 'odd "name"'], rows=[row])
    (item,) = query(call)["items"]
    assert item["columns"] == {"N": "many", "O": {"a": [1]}, 'odd "name"': "kept"}


def test_what_a_note_says_of_itself_wins(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    vault["Birds/heron.md"] = "---\nStatus: flown\nCount: 13\nother: x\n---\n"
    found = {item["note_path"]: item["columns"] for item in query(call)["items"]}
    assert (found["Birds/heron.md"]["Status"], found["Birds/heron.md"]["Count"]) == ("flown", 13)
    assert "other" not in found["Birds/heron.md"]


def test_files_that_make_md_has_not_seen_yet_belong_to_their_space(call: Calls, vault: VaultFolder) -> None:
    make_space(vault, definition={"links": ["elsewhere/emu.md", "gone.md", 7]})
    vault["Birds/new.md"] = "---\nStatus: open\n---\n"
    vault["Birds/deeper/no.md"] = "not in this folder"
    vault["Birds/Birds.md"] = "the folder's own note"
    vault["elsewhere/emu.md"] = "pinned"
    assert names(call) == ["bittern", "coot", "heron", "new", "emu"]
    assert names(call, filter={"Status": "open"}) == ["heron", "new"]
    vault["Tags/water/.space/def.json"] = "{}"
    vault["Birds/coot.md"] = "#water"
    vault["lake.md"] = "---\ntags: [water/deep]\n---\n"
    assert names(call, "Tags/water") == ["coot", "lake"]


def test_rows_of_files_that_are_gone_are_absent_and_folders_are_not(call: Calls, vault: VaultFolder) -> None:
    rows = [*ROWS, ("Birds/deeper", "open", "", "", "", ""), ("spaces://#x", "", "", "", "", ""), (None,) * 6]
    make_space(vault, rows=ROWS)
    with closing(make_database(vault.path / "Other/.space/context.mdb", rows=rows)):
        vault["Birds/deeper/a.md"] = "a"
        del vault["Birds/coot.md"]
    assert names(call, "Other") == ["bittern", "deeper", "heron"]


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({"Status": "open"}, ["heron"]),
        ({"Status": ["open", "shut"]}, ["bittern", "heron"]),
        ({"Status": None}, ["coot"]),
        ({"Status": {"ne": "open"}}, ["bittern", "coot"]),
        ({"Status": {"exists": True}}, ["bittern", "heron"]),
        ({"Status": {"exists": False}}, ["coot"]),
        ({"Count": 12}, ["heron"]),
        ({"Count": "12"}, ["heron"]),
        ({"Count": {"lt": 12}}, ["bittern"]),
        ({"Count": {"gte": 2.5, "lte": 12}}, ["bittern", "heron"]),
        ({"Count": {"gt": "2"}}, []),
        ({"Done": True}, ["bittern"]),
        ({"Done": False}, ["heron"]),
        ({"Birds": "shy, rare"}, ["bittern"]),
        ({"Birds": {"contains": "tall"}}, ["heron"]),
        ({"Status": {"contains": "HU"}}, ["bittern"]),
        ({"Status": {"in": ["open"]}, "Done": False}, ["heron"]),
        ({"note_path": "Birds/coot.md"}, ["coot"]),
        ({"note_path": {"contains": "tt"}, "Done": False}, []),
    ],
)
def test_a_filter_chooses_rows(
    call: Calls, vault: VaultFolder, filter: dict[str, Any], found: list[str]
) -> None:
    make_space(vault)
    answer = query(call, filter=filter)
    assert [item["note_path"] for item in answer["items"]] == [f"Birds/{name}.md" for name in found]
    assert answer["total_count"] == len(found)


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        (["Count"], ["bittern", "heron", "coot"]),
        (["-Count"], ["heron", "bittern", "coot"]),
        (["Status"], ["heron", "bittern", "coot"]),
        (["-note_path"], ["heron", "coot", "bittern"]),
        (["Done", "-note_path"], ["heron", "bittern", "coot"]),
        (["Birds"], ["bittern", "heron", "coot"]),
    ],
)
def test_rows_are_sorted_with_empty_cells_last(
    call: Calls, vault: VaultFolder, sort: list[str], found: list[str]
) -> None:
    make_space(vault)
    assert names(call, sort=sort) == found


def test_pages_go_on_where_the_last_one_ended_whatever_comes_and_goes(
    call: Calls, vault: VaultFolder
) -> None:
    rows = [(f"Birds/{n:02}.md", "open", str(n % 3), "", "", "") for n in range(9)]
    make_space(vault, rows=rows)
    first = query(call, sort=["-Count"], limit=4)
    assert [item["note_path"][6:8] for item in first["items"]] == ["02", "05", "08", "01"]
    assert first["total_count"] == 9
    del vault["Birds/01.md"]
    del vault["Birds/02.md"]
    vault["Birds/03a.md"] = "---\nCount: 1\n---\n"
    vault["Birds/00a.md"] = "---\nCount: 5\n---\n"
    second = query(call, sort=["-Count"], limit=4, cursor=first["cursor"])
    assert [item["note_path"][6:-3] for item in second["items"]] == ["03a", "04", "07", "00"]
    third = query(call, sort=["-Count"], limit=4, cursor=second["cursor"])
    assert [item["note_path"][6:-3] for item in third["items"]] == ["03", "06"]
    assert "cursor" not in third
    for wrong in ({"sort": ["Count"]}, {"filter": {"Status": "open"}}):
        error = refused(call, limit=4, **{"sort": ["-Count"], "cursor": first["cursor"], **wrong})
        assert (error.code, error.details["field"]) == ("invalid_input", "cursor")


def test_what_makes_no_sense_is_refused_by_name(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    vault["no/a.md"] = "no space"
    for more, field, said in (
        ({"filter": {"Colour": "red"}}, "filter", "'Colour'"),
        ({"filter": {"Count": {"about": 3}}}, "filter", "'about'"),
        ({"filter": {"Count": {"in": 3}}}, "filter", "list"),
        ({"sort": ["-Colour"]}, "sort", "'Colour'"),
        ({"space_id": "no"}, "space_id", "'no'"),
        ({"space_id": "none"}, "space_id", "'none'"),
    ):
        error = refused(call, **more)
        assert (error.code, error.details["field"]) == ("invalid_input", field)
        assert said in error.message
    assert refused(call, space_id="../x").code == "path_invalid"


def test_rows_of_notes_that_the_caller_may_not_read_are_absent(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["Birds/.space/*", "Birds/heron.md"]}}
    make_space(vault, definition={"links": ["closed.md"]})
    vault["closed.md"] = "closed"
    answer = query(call)
    assert [item["note_path"] for item in answer["items"]] == ["Birds/heron.md"]
    assert answer["total_count"] == 1


def test_a_space_that_the_folder_rules_hide_is_as_if_it_were_not_there(
    call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"acl": {"read_paths": ["Birds/heron.md"]}}
    make_space(vault)
    assert refused(call).code == refused(call, space_id="none").code == "invalid_input"


def test_a_change_that_is_still_in_the_log_is_seen_and_one_that_is_not_whole_is_not(
    call: Calls, vault: VaultFolder
) -> None:
    make_space(vault)
    with closing(make_database(vault.path / "Wal/.space/context.mdb", rows=ROWS[:1])) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO files VALUES ('Birds/coot.md', '', '', '', '', '')")
        writer.commit()
        writer.execute("INSERT INTO files VALUES ('Birds/bittern.md', '', '', '', '', '')")
        before = bytes_below(vault.path)
        assert names(call, "Wal") == ["coot", "heron"]
        assert bytes_below(vault.path) == before
        writer.commit()
        assert names(call, "Wal") == ["bittern", "coot", "heron"]


def test_a_change_that_was_broken_off_is_undone_in_the_copy_alone(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    place = vault.path / "Broken/.space/context.mdb"
    with closing(make_database(place, rows=[])) as writer:
        whole = place.read_bytes()
        writer.execute("PRAGMA cache_spill = 1")
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO files VALUES (?, '', '', '', '', '')", [("Birds/coot.md",)] * 2000)
        halfway = bytes_below(place.parent)
        assert set(halfway) == {"context.mdb", "context.mdb-journal"}
        assert halfway["context.mdb"] != whole
    for name, data in halfway.items():
        vault[f"Broken/.space/{name}"] = data
    assert names(call, "Broken") == []
    assert bytes_below(place.parent) == halfway


def test_a_damaged_database_is_named(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    vault["Birds/.space/context.mdb"] = b"not a database at all, but long enough to be taken for one" * 20
    error = refused(call)
    assert (error.code, error.details["field"]) == ("invalid_input", "space_id")
    assert "not a database" in error.message
    with closing(make_database(vault.path / "Odd/.space/context.mdb", FIELDS[1:], COLUMNS[1:], [])):
        pass
    assert "'File'" in refused(call, space_id="Odd").message


def test_a_table_that_computes_without_end_is_not_looked_at(call: Calls, vault: VaultFolder) -> None:
    with closing(make_database(vault.path / "a/.space/context.mdb", rows=[])) as writer:
        writer.execute("DROP TABLE files")
        writer.execute(
            "CREATE VIEW files AS WITH RECURSIVE n(File) AS (SELECT 'a' UNION ALL SELECT 'a' FROM n) SELECT * FROM n"
        )
        writer.commit()
    assert names(call, "a") == []


def test_a_space_without_a_database_has_its_files(call: Calls, vault: VaultFolder) -> None:
    vault["a/.space/def.json"] = "{}"
    vault["a/b.md"] = "b"
    vault["a/c.png"] = "c"
    assert query(call, "a")["items"] == [
        {"note_path": "a/b.md", "columns": {}},
        {"note_path": "a/c.png", "columns": {}},
    ]
