from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from knapper.testing import VaultFolder
from tests.scripts.conftest import COUNT, Run, Tools, saying

HASH = sha256(COUNT.encode()).hexdigest()


def test_the_list_says_which_scripts_are_trusted(run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/count.py"] = COUNT
    vault["mcp-tools/sub/say.py"] = saying("one")
    vault["mcp-tools/new.py"] = saying("new")
    vault["mcp-tools/helper.py"] = "x = 1\n"
    run("trust", "count.py", "sub/say.py")
    vault["mcp-tools/sub/say.py"] = saying("two")
    rows = json.loads(run("list", "--json"))
    assert {row["path"]: (row["tool"], row["state"]) for row in rows} == {
        "mcp-tools/count.py": ("count", "trusted"),
        "mcp-tools/helper.py": ("", "helper"),
        "mcp-tools/new.py": ("new", "untrusted"),
        "mcp-tools/sub/say.py": ("sub_say", "changed"),
    }
    assert rows[0]["hash"] == HASH
    assert f"trusted    {HASH[:12]}  mcp-tools/count.py\n" in run("list")


def test_trust_is_kept_beside_the_state_and_not_in_the_vault(
    run: Run, vault: VaultFolder, tmp_path: Path
) -> None:
    vault["mcp-tools/count.py"] = COUNT
    before = dict(vault)
    assert run("trust", "count.py") == f"trusted  {HASH[:12]}  mcp-tools/count.py\n"
    assert dict(vault) == before
    assert (tmp_path / "cache/state.db").exists()


def test_each_word_of_a_person_is_in_the_audit_log(tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/count.py"] = COUNT
    run("trust", "count.py")
    run("untrust", "count.py")
    with tools.runtime.state.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT event_type, vault_id, tool, args_hash FROM event_log ORDER BY id"
        ).all()
    assert [tuple(row) for row in rows] == [
        ("script_trusted", "main", "mcp-tools/count.py", HASH[:32]),
        ("script_untrusted", "main", "mcp-tools/count.py", None),
    ]


def test_a_script_can_be_trusted_by_the_hash_that_was_read(run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/count.py"] = COUNT
    assert f"has another hash: {HASH}" in run("trust", "count.py", "--hash", "0" * 64, code=1)
    assert json.loads(run("list", "--json"))[0]["state"] == "untrusted"
    run("trust", "count.py", "--hash", HASH[:16].upper())
    assert json.loads(run("list", "--json"))[0]["state"] == "trusted"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("gone.py", "there is no file at 'mcp-tools/gone.py'"),
        ("helper.py", "has no `def tool(`: there is nothing to trust"),
        ("../a.py", "a path does not leave the vault"),
        ("/etc/a.py", "a path is relative to the vault"),
    ],
)
def test_what_is_no_script_cannot_be_trusted(run: Run, vault: VaultFolder, script: str, text: str) -> None:
    vault["mcp-tools/helper.py"] = "x = 1\n"
    vault["mcp-tools/good.py"] = COUNT
    assert text in run("trust", "good.py", script, code=1)
    assert {row["state"] for row in json.loads(run("list", "--json"))} == {"helper", "untrusted"}


def test_what_was_not_trusted_cannot_be_taken_back(run: Run, vault: VaultFolder) -> None:
    assert "mcp-tools/count.py was not trusted" in run("untrust", "count.py", code=1)


def test_one_of_several_vaults_has_to_be_named(
    run: Run, config: Path, vault: VaultFolder, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    settings = json.loads(config.read_text())
    settings["vaults"].append({"id": "other", "path": str(tmp_path / "other")})
    config.write_text(json.dumps(settings))
    assert "--vault is needed: one of main, other" in run("list", code=2)
    assert "there is no vault 'third'" in run("list", "--vault", "third", code=2)
    assert json.loads(run("list", "--json", "--vault", "other")) == []


def test_a_script_in_one_vault_is_not_trusted_in_another(
    run: Run, config: Path, vault: VaultFolder, tmp_path: Path
) -> None:
    settings = json.loads(config.read_text())
    settings["vaults"].append({"id": "other", "path": str(tmp_path / "other")})
    config.write_text(json.dumps(settings))
    for folder in (vault, VaultFolder(tmp_path / "other")):
        folder["mcp-tools/count.py"] = COUNT
    run("trust", "count.py", "--vault", "main")
    assert json.loads(run("list", "--json", "--vault", "other"))[0]["state"] == "untrusted"


def test_a_link_is_neither_trusted_nor_loaded(
    tools: Tools, run: Run, vault: VaultFolder, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "count.py").write_text(COUNT)
    vault["mcp-tools/real.py"] = COUNT
    (vault.path / "mcp-tools/linked.py").symlink_to(outside / "count.py")
    (vault.path / "mcp-tools/inside.py").symlink_to(vault.path / "mcp-tools/real.py")
    (vault.path / "mcp-tools/folder").symlink_to(outside)
    for script in ("linked.py", "inside.py", "folder/count.py"):
        assert "cannot be used" in run("trust", script, code=1)
    assert [row["path"] for row in json.loads(run("list", "--json"))] == ["mcp-tools/real.py"]
    assert tools.look() == []


def test_a_folder_of_scripts_that_is_a_link_has_none(
    tools: Tools, run: Run, vault: VaultFolder, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "count.py").write_text(COUNT)
    (vault.path / "mcp-tools").symlink_to(outside)
    run("trust", "count.py", code=1)
    assert json.loads(run("list", "--json")) == []
    assert tools.look() == []


def test_a_file_with_a_second_name_is_neither_trusted_nor_loaded(
    tools: Tools, run: Run, vault: VaultFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    vault["mcp-tools/count.py"] = COUNT
    run("trust", "count.py")
    assert tools.look() == ["count"]
    (tmp_path / "second.py").hardlink_to(vault.path / "mcp-tools/count.py")
    assert tools.look() == []
    assert "a hard link" in run("trust", "count.py", code=1)


def test_a_file_that_is_too_large_is_no_script(tools: Tools, run: Run, vault: VaultFolder) -> None:
    vault["mcp-tools/large.py"] = saying("x") + "#" * 1_000_000
    assert "is larger than 1000000 bytes" in run("trust", "large.py", code=1)
    assert tools.look() == []
