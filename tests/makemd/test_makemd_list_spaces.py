"""Which spaces there are, with which columns and views, for whom."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_makemd import makemd
from tests.makemd.conftest import bytes_below, make_database, make_space


def listed(call: Calls) -> list[str]:
    return [space["id"] for space in call(makemd, "makemd_list_spaces")["spaces"]]


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(makemd)


def test_a_space_is_listed_with_its_columns_and_views(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    assert call(makemd, "makemd_list_spaces") == {
        "spaces": [
            {
                "id": "Birds",
                "name": "Birds",
                "path": "Birds",
                "view_count": 1,
                "schema": [
                    {"name": "File", "type": "file"},
                    {
                        "name": "Status",
                        "type": "option",
                        "value": {"options": [{"name": "open", "value": "open"}]},
                    },
                    {"name": "Count", "type": "number"},
                    {"name": "Done", "type": "boolean"},
                    {"name": "Birds", "type": "option-multi"},
                    {"name": "Secret key", "type": "text", "hidden": True},
                ],
            }
        ],
        "engine": "native",
    }


def test_views_in_their_own_database_count_too(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    make_database(vault.path / "Birds/.space/views.mdb").close()
    (space,) = call(makemd, "makemd_list_spaces")["spaces"]
    assert space["view_count"] == 2


def test_the_vault_itself_folders_in_folders_and_tags_can_be_spaces(call: Calls, vault: VaultFolder) -> None:
    vault[".space/def.json"] = "{}"
    vault["a/b/.space/def.json"] = "{}"
    vault["Tags/water/.space/def.json"] = "{}"
    vault["c/.space/other.json"] = "{}"
    vault[".hidden/.space/def.json"] = "{}"
    found = call(makemd, "makemd_list_spaces")["spaces"]
    assert [(space["id"], space["name"], space["path"]) for space in found] == [
        ("/", "vault", ""),
        ("Tags/water", "water", "Tags/water"),
        ("a/b", "b", "a/b"),
    ]


def test_a_damaged_space_costs_only_itself(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    vault["a/.space/context.mdb"] = b"SQLite format 3\0 and then nothing of the kind"
    vault["b/.space/def.json"] = "{not json"
    vault["c/.space/context.mdb"] = b""
    found = {space["id"]: space for space in call(makemd, "makemd_list_spaces")["spaces"]}
    assert set(found) == {"Birds", "a", "b", "c"}
    assert "problem" not in found["Birds"]
    assert "not a database" in found["a"]["problem"]
    assert found["b"]["problem"].startswith("def.json: ")
    assert found["c"]["schema"] == []


def test_nothing_is_written_beside_or_into_the_plugins_files(call: Calls, vault: VaultFolder) -> None:
    make_space(vault)
    with closing(make_database(vault.path / "Wal/.space/context.mdb", rows=())) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO m_schema VALUES ('new', 'New', 'view', '', '', '')")
        writer.commit()
        writer.execute("INSERT INTO m_schema VALUES ('half', 'Half', 'view', '', '', '')")
        before = bytes_below(vault.path)
        assert "Wal/.space/context.mdb-wal" in before
        views = {space["id"]: space["view_count"] for space in call(makemd, "makemd_list_spaces")["spaces"]}
        assert views == {"Birds": 1, "Wal": 2}
        assert bytes_below(vault.path) == before


def test_spaces_that_the_folder_rules_hide_are_absent(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["Open/**", "Half/a.md"]}}
    for folder in ("Open", "Half", "Closed"):
        vault[f"{folder}/a.md"] = "a"
        vault[f"{folder}/.space/def.json"] = "{}"
    vault[".space/def.json"] = "{}"
    assert listed(call) == ["Open"]


def test_another_name_of_the_hidden_folder_opens_nothing(call: Calls, vault: VaultFolder) -> None:
    vault["a/.space/def.json"] = "{}"
    vault["b/space/def.json"] = "{}"
    vault["b/.git/def.json"] = "{}"
    assert listed(call) == ["a"]
    vault[".obsidian/plugins/make-md/data.json"] = json.dumps({"spaceSubFolder": "space"})
    assert listed(call) == ["b"]
    vault[".obsidian/plugins/make-md/data.json"] = json.dumps({"spaceSubFolder": ".git"})
    with pytest.raises(ToolError) as caught:
        listed(call)
    assert caught.value.code == "acl_denied"


def test_the_rule_opens_the_files_of_spaces_and_no_others() -> None:
    opens = makemd.may_read
    assert opens is not None
    for path in (".space/def.json", "a/b c/.space/context.mdb", "a/.space/views.mdb-wal"):
        assert opens.fullmatch(path)
    for path in (
        ".space/commands.mdb",
        ".space/sub/def.json",
        "a/.space",
        ".obsidian/.space/def.json",
        "a/.hidden/.space/def.json",
        "a/.space/.space/def.json",
        ".makemd/superstate.mdc",
        "a/x.space/def.json",
        "a/.space/def.json\n",
        "../.space/def.json",
    ):
        assert not opens.fullmatch(path), path
    assert makemd.exempt == frozenset()
