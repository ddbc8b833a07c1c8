from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knapper import ToolError
from knapper.caller import LOCAL, Caller
from knapper.config.model import Settings
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_vaults import vaults


@pytest.fixture
def two(vault: VaultFolder, tmp_path: Path, call: Calls) -> Calls:
    (tmp_path / "Second One").mkdir()
    call.settings = {
        "vaults": [
            {"id": "main", "path": str(vault.path), "name": "First"},
            {"id": "two", "path": str(tmp_path / "Second One"), "acl": {"read_only": True}},
        ]
    }
    vault["a.md"] = "# A\n\ntext"
    vault["Private/b.md"] = "text"
    return call


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(vaults, tool, **arguments)
    return error.value


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(vaults)


def test_all_vaults_are_listed(two: Calls) -> None:
    listed = two(vaults, "list_vaults")["vaults"]
    assert [(v["id"], v["name"], v["path_name"]) for v in listed] == [
        ("main", "First", "vault"),
        ("two", "Second One", "Second One"),
    ]
    assert [v["read_only"] for v in listed] == [False, True]
    assert [v["note_count"] for v in listed] == [2, 0]
    assert listed[0]["chunk_count"] == 2
    assert listed[0]["last_synced_at"].endswith("Z")
    assert set(listed[0]) == {
        *("id", "name", "path_name", "read_only", "embeddings_provider", "note_count"),
        *("chunk_count", "last_synced_at"),
    }


def test_a_bound_caller_knows_of_its_own_vault_alone(two: Calls) -> None:
    two.caller = Caller("bound", LOCAL, authenticated=True, vault="two")
    assert [v["id"] for v in two(vaults, "list_vaults")["vaults"]] == ["two"]
    assert two(vaults, "get_vault")["id"] == "two"
    assert failure(two, "get_vault", vault="main").code == "forbidden"


def test_one_vault_is_shown_with_its_rules(two: Calls) -> None:
    got = two(vaults, "get_vault", vault="main")
    assert (got["id"], got["name"], got["read_only"]) == ("main", "First", False)
    assert got["acl"] == {"read_paths": None, "write_paths": None, "delete_paths": None}
    assert got["cache"]["note_count"] == 2
    assert got["cache"]["db_size_bytes"] > 0
    assert set(got["embeddings"]) == {"provider", "model", "dimensions"}
    assert got["capabilities"] == ["vaults"]
    assert two(vaults, "get_vault", vault="two")["read_only"] is True
    assert failure(two, "get_vault", vault="three").code == "vault_not_found"


def test_a_restricted_caller_counts_permitted_notes_only(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"read_paths": ["*.md"], "write_paths": []}}
    vault["a.md"] = "text"
    vault["Private/b.md"] = "text"
    assert [v["note_count"] for v in call(vaults, "list_vaults")["vaults"]] == [1]
    got = call(vaults, "get_vault")
    assert (got["cache"]["note_count"], got["cache"]["chunk_count"]) == (1, 1)
    assert got["acl"] == {"read_paths": ["*.md"], "write_paths": [], "delete_paths": None}


def test_a_changed_configuration_is_applied_as_far_as_it_can_be(two: Calls) -> None:
    runtime = two.runtime(vaults)
    new = runtime.settings.model_dump()
    new["throttle"] = {"enabled": True}
    new["cache_dir"] = "elsewhere"
    new["vaults"][0] |= {"acl": {"read_only": True}, "path": "elsewhere"}
    new["vaults"].append({"id": "three", "path": "third"})
    runtime.source = lambda: Settings.model_validate(new)
    got = two(vaults, "reload_vault", vault="main")
    assert got.pop("reloaded_at").endswith("Z")
    assert got == {
        "vault": "main",
        "changed": ["throttle", "vaults.main.acl"],
        "restart_needed": ["cache_dir", "vaults.main.path", "vaults.three"],
    }
    assert two(vaults, "get_vault")["read_only"] is True
    assert two(vaults, "list_vaults")["vaults"][0]["note_count"] == 2


def test_a_configuration_that_is_unchanged_changes_nothing(two: Calls) -> None:
    got = two(vaults, "reload_vault")
    assert (got["changed"], got["restart_needed"]) == ([], [])
    assert failure(two, "reload_vault", vault="three").code == "vault_not_found"


def test_a_reset_asks_a_person_drops_what_is_derived_and_touches_no_file(
    two: Calls, vault: VaultFolder
) -> None:
    before = dict(vault)
    error = failure(two, "reset_vault_cache", vault="main")
    assert error.code == "elicit_required"
    got = two.confirmed(vaults, "reset_vault_cache", vault="main")
    assert got.pop("reset_at").endswith("Z")
    assert got == {
        "vault": "main",
        "rows_dropped": {"notes": 2, "chunks": 2, "embeddings": 0, "idempotency_keys": 0},
    }
    assert dict(vault) == before
    assert two(vaults, "get_vault")["cache"]["note_count"] == 2


def test_only_what_is_named_is_dropped(two: Calls) -> None:
    two(vaults, "list_vaults")
    include = {"chunks": False, "embeddings": False, "idempotency_keys": False, "event_log": True}
    got = two.confirmed(vaults, "reset_vault_cache", include=include)
    assert set(got["rows_dropped"]) == {"event_log"}
    assert got["rows_dropped"]["event_log"] >= 1
    error = failure(two, "reset_vault_cache", include={"notes": True})
    assert error.code == "validation_error"


def test_each_tool_needs_its_scope(two: Calls) -> None:
    two.caller = Caller("reader", frozenset({"read:vault"}), authenticated=True)
    assert two(vaults, "get_vault")["id"] == "main"
    for tool in ("reload_vault", "reset_vault_cache"):
        assert failure(two, tool).details["required"] == ["admin:vault"]
