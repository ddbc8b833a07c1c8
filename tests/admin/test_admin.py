from __future__ import annotations

import json
from typing import Any

import pytest

from knapper import ToolError, __version__
from knapper.caller import LOCAL, Caller
from knapper.maintenance import declare_jobs
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_admin import admin


def failure(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as error:
        call(admin, tool, **arguments)
    return error.value


def judged(call: Calls, path: str, op: str, *scopes: str) -> tuple[bool, str | None]:
    got = call(admin, "inspect_acl", path=path, op=op, scopes=list(scopes))
    return got["allowed"], got.get("denied_by")


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(admin)


def test_the_configuration_is_shown_without_a_secret(call: Calls, vault: VaultFolder) -> None:
    secret = "a-secret-of-at-least-thirty-two-characters"
    call.settings = {
        "auth": {"mode": "jwt", "jwt_secret": secret},
        "governor": {"max_response_bytes": 54321},
        "acl": {"read_only": True},
    }
    vault[".obsidian/community-plugins.json"] = '["dataview", "obsidian-tasks-plugin"]'
    got = call(admin, "get_server_config")
    assert (got["version"], got["auth_mode"]) == (__version__, "jwt")
    assert got["vaults_summary"] == [{"id": "main", "name": "vault", "kind": "private", "read_only": True}]
    assert got["limits"]["max_response_bytes"] == 54321
    assert got["limits"]["throttle"]["read"] == {"per_minute": 600, "burst": 100}
    assert got["observability"] == {
        "otel": False,
        "prometheus": False,
        "cloudevents": False,
        "jsonl": True,
    }
    assert got["plugins_detected"] == {"main": ["dataview", "obsidian-tasks-plugin"]}
    assert isinstance(got["distributions"], list)
    assert secret not in json.dumps(got)
    assert str(vault.path) not in json.dumps(got)


@pytest.mark.parametrize(
    ("path", "op", "scopes", "expected"),
    [
        ("Public/a.md", "read", ["read:notes"], (True, None)),
        ("Public/a.md", "read", ["*"], (True, None)),
        ("Private/a.md", "read", ["*"], (False, "read_paths")),
        ("Public/a.md", "write", ["write:notes"], (True, None)),
        ("Public/a.md", "write", ["read:notes"], (False, "scope write:*")),
        ("Public/a.md", "delete", ["*"], (False, "delete_paths")),
        ("Public/secret/a.md", "read", ["read:notes"], (False, "scope read:secrets")),
        ("Public/secret/a.md", "read", ["read:notes", "read:secrets"], (True, None)),
        (".obsidian/app.json", "read", ["*"], (False, "control_folder")),
        ("Public/a.md", "execute", ["execute:command"], (True, None)),
        ("Public/a.md", "execute", ["write:notes"], (False, "scope execute:*")),
        ("Public/a.md", "read", [], (False, "scope read:*")),
    ],
)
def test_the_folder_rules_are_judged_as_they_are_enforced(
    call: Calls, path: str, op: str, scopes: list[str], expected: tuple[bool, str | None]
) -> None:
    call.settings = {
        "acl": {
            "read_paths": ["Public/**"],
            "delete_paths": [],
            "rules": [{"glob": "Public/secret/**", "scopes": ["read:secrets"]}],
        }
    }
    assert judged(call, path, op, *scopes) == expected


def test_the_rule_that_matched_and_the_kill_switch_are_told(call: Calls) -> None:
    call.settings = {"acl": {"read_only": True, "rules": [{"glob": "x/**", "scopes": ["read:x"]}]}}
    got = call(admin, "inspect_acl", path="x/a.md", op="write", scopes=["*"])
    assert got == {
        "allowed": False,
        "kill_switch": True,
        "matched_rule": "x/**",
        "denied_by": "read_only",
    }
    assert judged(call, "x/a.md", "execute", "*") == (False, "read_only")


def test_only_paths_of_known_vaults_are_judged(call: Calls) -> None:
    arguments = {"op": "read", "scopes": ["*"]}
    assert failure(call, "inspect_acl", path="../x", **arguments).code == "path_invalid"
    assert failure(call, "inspect_acl", path="x", vault="nil", **arguments).code == "vault_not_found"
    assert failure(call, "inspect_acl", path="x", op="own", scopes=[]).code == "validation_error"


def counted(call: Calls, **arguments: Any) -> dict[tuple[str, str, str], float]:
    return {
        (one["labels"]["vault"], one["labels"]["tool"], one["labels"]["status"]): one["value"]
        for one in call(admin, "get_metrics", **arguments)["metrics"]
        if one["name"] == "knapper_tool_calls_total"
    }


def test_calls_are_counted_by_tool_and_status(call: Calls) -> None:
    for _ in range(3):
        call(admin, "server_health")
    failure(call, "inspect_acl", path="../x", op="read", scopes=["*"])
    counts = counted(call)
    assert counts["main", "server_health", "ok"] == 3
    assert counts["main", "inspect_acl", "error"] == 1
    metrics = {one["name"]: one for one in call(admin, "get_metrics")["metrics"]}
    assert metrics["knapper_vaults_registered"]["value"] == 1
    assert metrics["knapper_tools_registered"]["value"] == 4
    assert metrics["knapper_audit_write_failed_total"] == {
        "name": "knapper_audit_write_failed_total",
        "type": "counter",
        "value": 0,
        "labels": {},
    }


def test_a_bound_caller_sees_the_counts_of_its_own_vault(call: Calls, vault: VaultFolder) -> None:
    call.settings = {
        "vaults": [{"id": "one", "path": str(vault.path)}, {"id": "two", "path": str(vault.path.parent)}]
    }
    call(admin, "inspect_acl", vault="one", path="a", op="read", scopes=["*"])
    call(admin, "inspect_acl", vault="two", path="a", op="read", scopes=["*"])
    assert {key[0] for key in counted(call)} == {"one", "two"}
    assert {key[0] for key in counted(call, vault="two")} == {"two"}
    call.caller = Caller("bound", LOCAL, authenticated=True, vault="two")
    assert {key[0] for key in counted(call)} == {"two"}
    assert failure(call, "get_metrics", vault="one").code == "forbidden"


def test_a_healthy_server_says_so(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = "text"
    got = call(admin, "server_health")
    assert got["status"] == "ok"
    assert (got["name"], got["version"], got["vaults"]) == ("knapper", __version__, ["main"])
    assert got["uptime_ms"] >= 0
    assert got["fts_enabled"] is True
    assert got["index"].pop("reconcile_at").endswith("Z")
    assert got["index"] == {
        "state": "ready",
        "notes_ready": True,
        "vectors_ready": True,
        "indexed": 1,
        "total": 1,
        "write_failures": 0,
    }
    assert got["plugins"] == {"loaded": 1, "failed": []}
    assert got["jobs"] == []


def test_the_jobs_of_visible_vaults_are_told_with_when_they_ran(call: Calls, vault: VaultFolder) -> None:
    call.settings = {
        "vaults": [{"id": "one", "path": str(vault.path)}, {"id": "two", "path": str(vault.path.parent)}]
    }
    runtime = call.runtime(admin)
    declare_jobs(runtime)
    runtime.jobs.run_due()
    jobs = call(admin, "server_health")["jobs"]
    assert [(job["name"], job.get("vault"), job["consecutive_failures"]) for job in jobs] == [
        ("maintenance.sweep", None, 0),
        ("traces.retention", None, 0),
        ("index.reconcile", "one", 0),
        ("index.reconcile", "two", 0),
    ]
    assert (jobs[0]["every_seconds"], jobs[0]["running"]) == (3600, False)
    assert jobs[0]["last_success_at"] < jobs[0]["next_run_at"]
    call.caller = Caller("bound", LOCAL, authenticated=True, vault="two")
    seen = {job.get("vault") for job in call(admin, "server_health")["jobs"]}
    assert seen == {None, "two"}


def test_who_has_no_scopes_is_told_no_vault(call: Calls) -> None:
    for caller in (Caller(None), Caller("known", frozenset(), authenticated=True)):
        call.caller = caller
        got = call(admin, "server_health")
        assert (got["vaults"], "jobs" in got) == ([], False)
        assert failure(call, "get_server_config").code in ("unauthorized", "forbidden")


@pytest.mark.parametrize(
    ("tool", "scope"),
    [
        ("get_server_config", "admin:config"),
        ("get_metrics", "admin:metrics"),
        ("inspect_acl", "admin:acl"),
    ],
)
def test_each_tool_needs_its_scope(call: Calls, tool: str, scope: str) -> None:
    call.caller = Caller("reader", frozenset({"read:*"}), authenticated=True)
    arguments = {"path": "a", "op": "read", "scopes": []} if tool == "inspect_acl" else {}
    error = failure(call, tool, **arguments)
    assert (error.code, error.details["required"]) == ("forbidden", [scope])
