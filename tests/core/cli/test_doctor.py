"""Every check of the doctor: what it finds, and that it says how to mend it."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from knapper.cli.checks.report import Finding, report
from knapper.cli.checks.subject import Subject
from knapper.cli.connect import CLIENTS
from knapper.cli.doctor import CHECKS
from knapper.cli.token import sign
from knapper.store.jobs import Jobs
from knapper.store.sqlite import connect
from knapper.store.state import State
from knapper.vault.disk import Disk
from knapper.vault.files import digest
from knapper.vault.journal import Journal
from knapper.vault.record import Put, Record, encode
from tests.core.cli.conftest import Run, add
from tests.core.conftest import Install

QUIET = "[plugins]\nonly = []\n[index]\nvectors = false"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return folder


def check(run: Run, id: str, *words: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = run("doctor", *words, "--json").json["checks"][id]
    return found


def test_a_sound_installation_is_well(run: Run, config: Path) -> None:
    add(config, QUIET)
    result = run("doctor", config, "--json")
    found = result.json
    unwell = {id: row["issues"] for id, row in found["checks"].items() if row["status"] != "ok"}
    assert set(unwell) <= {"plugins.loaded"}  # where the core is installed alone, there are no tools
    assert (result.code, found["schemaVersion"]) == (0, 1)
    assert list(found["checks"]) == sorted(CHECKS)


def test_every_row_has_the_one_shape(run: Run, config: Path) -> None:
    keys = {"id", "category", "status", "summary", "details", "issues", "notes", "durationMs"}
    for id, row in run("doctor", config, "--json").json["checks"].items():
        assert keys <= set(row) <= keys | {"remediation"}
        assert (row["id"], row["category"]) == (id, id.partition(".")[0])
        assert row["summary"]
        assert (row["status"] == "ok") == (not row["issues"])
        assert row["status"] == "ok" or row["remediation"]


def test_people_read_the_same_with_a_sign_before_each_line(run: Run, config: Path) -> None:
    add(config, QUIET + "\n[snapshots]\nenabled = false")
    shown = run("doctor", config).out
    assert "! snapshots.policy       changes cannot be undone" in shown
    assert "    → Set it to true, unless the vault is under version control." in shown
    assert "✓ config.valid           the configuration is valid" in shown
    assert "overall: warning" in shown


def test_it_works_without_any_vault_and_says_how_to_name_one(run: Run) -> None:
    result = run("doctor", "--json")
    assert result.code == 0
    row = result.json["checks"]["config.valid"]
    assert (row["status"], row["summary"]) == ("warning", "no vault is configured")
    assert row["remediation"].startswith("Run `knapper doctor VAULT`, or write ")


def test_a_configuration_that_is_wrong_is_a_failure_that_names_each_key(run: Run, config: Path) -> None:
    add(config, "[acl]\nreed_only = true")
    result = run("doctor", config, "--json")
    assert result.code == 1
    row = result.json["checks"]["config.valid"]
    assert row["issues"] == ["acl.reed_only: is not a setting; did you mean 'read_only'?"]


def test_a_check_that_raises_has_failed_and_the_others_go_on() -> None:
    def raises(subject: Subject) -> Finding:
        raise ZeroDivisionError("no")

    found = report({"a.bad": raises, "b.good": lambda subject: Finding("well")}, Subject())
    assert found["overallStatus"] == "fail"
    assert found["checks"]["a.bad"]["issues"] == ["ZeroDivisionError: no"]
    assert found["checks"]["b.good"]["status"] == "ok"


def test_a_broken_plugin_is_named_with_its_reason_and_costs_no_check(
    run: Run, install: Install, config: Path
) -> None:
    install("torn", "import nothing_like_this", distribution="somebodys-plugin")
    add(config, '[plugins]\nonly = ["torn"]\n[index]\nvectors = false')
    result = run("doctor", config, "--json")
    row = result.json["checks"]["plugins.loaded"]
    assert row["issues"] == [
        "torn of somebodys-plugin failed: ModuleNotFoundError: No module named 'nothing_like_this'"
    ]
    assert (result.code, row["status"]) == (0, "warning")
    assert len(result.json["checks"]) == len(CHECKS)


def test_plugins_that_clash_are_a_failure(run: Run, install: Install, config: Path) -> None:
    source = "from knapper import Domain, hookimpl\n@hookimpl\ndef knapper_domains():\n    return Domain('same', summary='S.')\n"
    install("one", source)
    install("two", source)
    add(config, '[plugins]\nonly = ["one", "two"]')
    row = check(run, "plugins.loaded", config)
    assert row["status"] == "fail"
    assert "domain 'same' is defined by both knapper-one and knapper-two" in row["issues"][0]


def test_a_plugin_named_in_the_configuration_that_is_not_installed_is_told(run: Run, config: Path) -> None:
    add(config, '[plugins]\ndisabled = ["gesee"]')
    assert check(run, "plugins.chosen", config)["issues"] == [
        "plugins.disabled names 'gesee', which is not installed"
    ]


def test_an_embedder_nobody_provides_is_told_with_what_to_install(run: Run, config: Path) -> None:
    add(config, '[plugins]\nonly = []\n[embeddings]\nprovider = "crystal"')
    row = check(run, "providers.registered", config)
    assert row["issues"] == ["no installed plugin provides the embedder 'crystal'"]
    assert row["remediation"] == "pip install knapper-embedder-crystal, or set index.vectors to false."


def test_a_misspelt_variable_is_told(run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAPPER_JWT_SECRT", "x")
    assert check(run, "config.environment", config)["issues"] == [
        "KNAPPER_JWT_SECRT is set, and nothing reads it; did you mean KNAPPER_JWT_SECRET?"
    ]


def test_a_vault_that_is_gone_is_a_failure(run: Run, config: Path, notes: Path) -> None:
    notes.rename(notes.with_name("Elsewhere"))
    row = check(run, "vaults.folders", config)
    assert (row["status"], row["issues"]) == ("fail", ["the folder of 'main' is not there"])


def test_a_vault_inside_another_is_told(run: Run, config: Path, notes: Path) -> None:
    (notes / "Inner").mkdir()
    config.write_text(config.read_text() + '[[vaults]]\nid = "inner"\npath = "Notes/Inner"\n')
    assert check(run, "vaults.folders", config)["issues"] == ["the vault 'inner' lies inside 'main'"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root and Windows may always write")
def test_a_vault_that_cannot_be_written_is_told_unless_it_is_read_only(
    run: Run, config: Path, notes: Path
) -> None:
    notes.chmod(0o500)
    assert check(run, "vaults.folders", config)["issues"] == ["the folder of 'main' cannot be written"]
    add(config, "[acl]\nread_only = true")
    assert check(run, "vaults.folders", config)["issues"] == []
    notes.chmod(0o700)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root and Windows may enter any folder")
def test_a_vault_that_cannot_be_entered_is_one_finding_and_no_check_breaks(
    run: Run, config: Path, notes: Path
) -> None:
    notes.chmod(0o000)
    found = run("doctor", config, "--json").json["checks"]
    notes.chmod(0o700)
    assert found["vaults.folders"]["issues"] == ["the folder of 'main' cannot be read"]
    assert [id for id, row in found.items() if row["summary"] == "the check itself failed"] == []


def test_a_place_where_the_server_cannot_keep_its_files_is_told(
    run: Run, config: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file stands where the folder would be")
    row = check(run, "cache.location", config)
    assert row["issues"] == ["the folder of the server's own files cannot be made or written"]
    assert row["remediation"].endswith("choose another folder (--cache-dir, KNAPPER_CACHE_DIR).")


def test_a_cache_inside_a_vault_is_told(run: Run, config: Path) -> None:
    config.write_text(config.read_text().replace("/cache", "/Notes/.cache"))
    (issue,) = check(run, "config.valid", config)["issues"]
    assert "is inside the vault 'main'; choose a folder outside every vault" in issue


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_files_that_others_can_open_are_told_and_mended(run: Run, config: Path, cache: Path) -> None:
    add(config, QUIET)
    cache.chmod(0o755)
    (cache / "state.db").touch(mode=0o644)
    assert check(run, "cache.location", config)["issues"] == [
        "other users can open cache",
        "other users can open state.db",
    ]
    fixed = check(run, "cache.location", config, "--fix")
    assert (fixed["status"], len(fixed["notes"])) == ("ok", 2)
    assert [file.stat().st_mode & 0o777 for file in (cache, cache / "state.db")] == [0o700, 0o600]
    assert check(run, "cache.location", config)["status"] == "ok"


def test_a_state_that_is_damaged_is_a_failure_with_the_way_back(run: Run, config: Path, cache: Path) -> None:
    (cache / "state.db").write_bytes(b"SQLite format 3\0" + b"x" * 8000)
    row = check(run, "state.health", config)
    assert row["status"] == "fail"
    assert "knapper restore" in row["remediation"]


def test_a_state_of_a_newer_version_is_a_failure(run: Run, config: Path, cache: Path) -> None:
    add(config, QUIET)
    run("index", config)
    connection = connect(cache / "state.db")
    connection.execute("INSERT INTO schema_migrations VALUES ('core', '29990101_001', 'x', 0, '9.9', 0)")
    connection.close()
    row = check(run, "state.health", config)
    assert row["status"] == "fail"
    assert "the state was written by a newer version of knapper" in row["issues"][0]


def test_an_id_that_stands_for_another_folder_is_a_failure(
    run: Run, config: Path, tmp_path: Path, cache: Path
) -> None:
    other = tmp_path / "Other"
    other.mkdir()
    State.open(cache / "state.db", vaults={"main": other}).close()
    found = check(run, "state.health", config)
    assert (found["status"], found["issues"]) == (
        "fail",
        [f"vaults: the id 'main' stands for {other}, so it cannot stand for {tmp_path / 'Notes'} as well"],
    )


def test_a_job_that_keeps_failing_is_told(run: Run, config: Path, cache: Path) -> None:
    add(config, QUIET)
    run("index", config)
    connection = connect(cache / "state.db")
    connection.execute(
        "INSERT INTO job_schedule (vault_id, name, every_seconds, next_run_at, consecutive_failures, last_error)"
        " VALUES ('main', 'index.reconcile', 60, 0, 3, 'OSError: no disk')"
    )
    connection.close()
    assert check(run, "jobs.health", config)["issues"] == [
        "index.reconcile of main failed 3 time(s) in a row: OSError: no disk"
    ]


def test_the_jobs_are_listed_with_when_they_ran_and_when_they_are_due(
    run: Run, config: Path, cache: Path
) -> None:
    with closing(State.open(cache / "state.db")) as state:
        jobs = Jobs(state, now=lambda: 1_000_000.0)
        jobs.declare("birds.count", 3600, lambda: None)
        jobs.declare("index.reconcile", 900, lambda: None, vault="main", when=lambda: False)
        jobs.run_due()
    found = check(run, "jobs.health", config)
    assert (found["status"], list(found["details"])) == ("ok", ["birds.count", "index.reconcile of main"])
    assert found["details"]["birds.count"].startswith("every 60 min, done 1970-01-12")
    assert found["details"]["index.reconcile of main"].startswith("every 15 min, never done, next 1970-01-12")


def test_a_change_that_was_left_unfinished_is_told(run: Run, config: Path, cache: Path) -> None:
    folder = cache / "journal" / "main"
    folder.mkdir(parents=True)
    (folder / "0001.failed").touch()
    assert check(run, "state.journal", config)["issues"] == [
        "a change to the vault 'main' could not be finished: 0001.failed"
    ]


def test_a_change_that_waits_to_be_finished_is_told_with_the_paths_it_is_about(
    run: Run, config: Path, cache: Path, notes: Path
) -> None:
    journal = Journal(cache, "main")
    put = Put("b.md", b"B", digest(b"B"), None)
    (cache / "journal" / "main" / "0001.journal").write_bytes(encode(Record(str(notes), "now", puts=[put])))
    row = check(run, "state.journal", config)
    assert row["issues"] == ["a change to the vault 'main' is not finished yet: 0001.journal"]
    assert row["details"] == {"0001.journal": ["b.md"]}
    assert journal.recover(Disk(notes)).completed == 1
    assert check(run, "state.journal", config)["status"] == "ok"


def test_an_index_that_is_damaged_is_a_failure_and_can_be_thrown_away(
    run: Run, config: Path, cache: Path
) -> None:
    add(config, QUIET)
    run("index", config)
    file = cache / "index" / "main.db"
    assert "1 files" in check(run, "index.health", config)["details"]["main"]
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        file.with_name(name).unlink(missing_ok=True)
    file.write_bytes(b"SQLite format 3\0" + b"x" * 8000)
    row = check(run, "index.health", config)
    assert (row["status"], row["remediation"]) == ("fail", "Stop the server, then `knapper doctor --fix`.")
    assert check(run, "index.health", config, "--fix")["status"] == "ok"
    assert not file.exists()
    assert run("index", config).code == 0
    assert check(run, "index.health", config, "--probe")["status"] == "ok"


def test_http_without_a_check_of_callers_is_told(run: Run, config: Path) -> None:
    add(config, QUIET + "\n[transports.http]\nenabled = true\nport = 0")
    row = check(run, "auth.policy", config)
    assert row["issues"] == ["auth.mode is 'none': every program on this machine can call every tool"]


def test_a_verifier_that_is_not_installed_is_a_failure(run: Run, config: Path) -> None:
    add(config, QUIET + '\n[transports.http]\nenabled = true\nport = 0\n[auth]\nmode = "runes"')
    row = check(run, "auth.policy", config)
    assert (row["status"], row["issues"]) == ("fail", ["no installed plugin verifies 'runes'"])
    assert row["remediation"] == "pip install knapper-verifier-runes"


def test_a_port_in_use_is_told(run: Run, config: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        add(config, QUIET + f"\n[transports.http]\nenabled = true\nport = {port}")
        row = check(run, "transports.ports", config)
    assert row["issues"] == [f"transports.http: 127.0.0.1:{port} is address already in use"]


@pytest.mark.parametrize(
    ("claims", "status", "words"),
    [
        ({"iat": -10, "exp": 3600}, "ok", ""),
        ({"exp": 3600}, "ok", ""),
        ({"iat": -7200, "exp": -3600}, "fail", "it expired on"),
        ({"iat": -10}, "fail", "it has no exp"),
        ({"iat": -90_000, "exp": 3600}, "fail", "it is older than auth.token_ttl_seconds allows"),
        ({"iat": -10, "exp": 900_000}, "warning", "it will be refused from"),
    ],
)
def test_a_tokens_dates_are_looked_at(
    run: Run, config: Path, claims: dict[str, int], status: str, words: str
) -> None:
    token = sign({name: int(time.time()) + offset for name, offset in claims.items()}, "any secret")
    row = check(run, "auth.max_age", config, "--token", token)
    assert (row["status"], bool(row["issues"])) == (status, bool(words))
    assert words in "".join(row["issues"])


@pytest.mark.parametrize("token", ["nonsense", "a.b.c", "a.W10.c"])
def test_what_is_no_token_is_a_failure(run: Run, config: Path, token: str) -> None:
    assert check(run, "auth.max_age", config, "--token", token)["status"] == "fail"


def clients(machine: Path, entry: object) -> None:
    file = machine / ".cursor" / "mcp.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        json.dumps({"mcpServers": {"knapper": entry, "other": {"command": "/gone", "env": {"KEY": "hush"}}}})
    )


def test_a_client_that_cannot_start_it_is_told(run: Run, config: Path, machine: Path) -> None:
    clients(machine, {"command": "/gone/knapper", "args": ["/gone/Notes", "~/Notes"], "env": {"KEY": "hush"}})
    result = run("doctor", config, "--json")
    row = result.json["checks"]["clients.config"]
    assert row["issues"] == [
        "Cursor: knapper: the command '/gone/knapper' is not found",
        "Cursor: knapper: there is no '/gone/Notes'",
        "Cursor: knapper: '~/Notes' is not expanded by most clients",
    ]
    assert "hush" not in result.out


def test_a_client_that_can_start_it_is_well(run: Run, config: Path, machine: Path, notes: Path) -> None:
    clients(machine, {"command": "sh", "args": ["knapper", str(notes)]})
    row = check(run, "clients.config", config)
    assert (row["status"], row["summary"]) == ("ok", "1 client(s) know this server")


def test_a_clients_file_that_is_no_json_is_told(run: Run, config: Path, machine: Path) -> None:
    (machine / ".claude.json").write_text("{ mcpServers: {} }")
    assert check(run, "clients.config", config)["issues"][0].startswith(
        "Claude Code: .claude.json cannot be read"
    )


def test_settings_with_comments_are_read(run: Run, config: Path, machine: Path) -> None:
    file = CLIENTS["zed"].file
    file.parent.mkdir(parents=True)
    server = '"knapper": {"command": "/gone/knapper", "args": []},'
    file.write_text(f'// mine\n{{"theme": "a // b", /* more */ "context_servers": {{ {server} }}, }}\n')
    assert check(run, "clients.config", config)["issues"] == [
        "Zed: knapper: the command '/gone/knapper' is not found"
    ]


def test_a_client_with_toml_is_read(run: Run, config: Path, machine: Path) -> None:
    file = CLIENTS["codex"].file
    file.parent.mkdir(parents=True)
    file.write_text('[mcp_servers.knapper]\ncommand = "sh"\n')
    assert check(run, "clients.config", config)["details"] == {"Codex: knapper": "sh"}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("before", ["", "// mine\n{\n  /* nothing yet, */\n}\n", '{"other": [1, 2,],}'])
def test_what_connect_writes_is_well(run: Run, config: Path, machine: Path, client: str, before: str) -> None:
    if before and not CLIENTS[client].toml:
        CLIENTS[client].file.parent.mkdir(parents=True, exist_ok=True)
        CLIENTS[client].file.write_text(before)
    assert run("connect", client, config).code == 0
    row = check(run, "clients.config", config)
    assert (row["status"], list(row["details"])) == ("ok", [f"{CLIENTS[client].title}: knapper"])


def test_servers_of_a_project_are_found(run: Run, config: Path, machine: Path) -> None:
    project = {"mcpServers": {"notes": {"type": "http", "url": "http://127.0.0.1:8765/mcp", "command": None}}}
    project["mcpServers"]["knapper"] = project["mcpServers"]["notes"]
    (machine / ".claude.json").write_text(json.dumps({"projects": {"/work": project}}))
    assert check(run, "clients.config", config)["details"] == {
        "Claude Code: knapper": "http://127.0.0.1:8765/mcp"
    }


def test_an_obsidian_that_does_not_answer_is_told(run: Run, config: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    config.write_text(config.read_text() + f'rest_api_url = "https://127.0.0.1:{port}"\n')
    assert check(run, "bridge.state", config)["issues"] == [
        "Obsidian does not answer for 'main' as configured: companion-unreachable"
    ]


def test_the_plugins_of_obsidian_are_listed(run: Run, config: Path, notes: Path) -> None:
    (notes / ".obsidian").mkdir()
    (notes / ".obsidian" / "community-plugins.json").write_text('["dataview", 5]')
    assert check(run, "obsidian.detection", config)["details"] == {"main": ["dataview"]}
