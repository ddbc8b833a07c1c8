from __future__ import annotations

import json
from pathlib import Path

import pytest

from knapper import Caller
from knapper.testing import Calls, VaultFolder
from tests.obsidian.conftest import Contract


@pytest.fixture
def vaults(call: Calls, home: Path) -> Calls:
    """Three vaults, two of them in folders of one name."""
    folders = {"main": "a/Notes", "second": "b/Notes", "work": "c/Work"}
    for id, folder in folders.items():
        (home / folder).mkdir(parents=True)
        (home / folder / f"{id}.md").write_text(id)
    listed = [{"id": id, "path": str(home / folder)} for id, folder in folders.items()]
    listed[2]["name"] = "Office"
    call.settings = {"vaults": listed}
    return call


def register(home: Path, *folders: Path) -> None:
    """Have Obsidian know these vaults."""
    file = home / "config/obsidian/obsidian.json"
    file.parent.mkdir(parents=True)
    known = {f"{n:016x}": {"path": str(folder), "ts": 1, "open": True} for n, folder in enumerate(folders)}
    file.write_text(json.dumps({"vaults": known}))


@pytest.mark.parametrize("name", ["work", "Work", "Office"])
def test_a_vault_is_named_by_its_id_its_folder_or_its_configured_name(
    contract: Contract, vaults: Calls, name: str
) -> None:
    assert contract("read_note", path="work.md", vault=name)["content"] == "work"


def test_without_a_name_it_is_the_default_vault(contract: Contract, vaults: Calls) -> None:
    assert contract("read_note", path="main.md")["content"] == "main"


def test_a_vault_has_the_name_that_obsidian_shows(contract: Contract, vaults: Calls, home: Path) -> None:
    (home / "Journal").symlink_to(home / "c/Work")
    register(home, home / "Journal")
    assert contract("read_note", path="work.md", vault="Journal")["content"] == "work"
    assert contract("open_note", path="work.md", vault="work")["uri"].startswith(
        "obsidian://open?vault=Journal&"
    )


def test_a_vault_that_only_obsidian_knows_stays_closed(contract: Contract, vaults: Calls, home: Path) -> None:
    (home / "Diary").mkdir()
    (home / "Diary/secret.md").write_text("secret")
    register(home, home / "Diary")
    error = contract.error("read_note", path="secret.md", vault="Diary")
    assert (error.number, error.name, error.data["vaults"]) == (
        -32002,
        "VAULT_NOT_FOUND",
        ["main", "second", "work"],
    )


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"vaults": 1}', '{"vaults": {"x": {}}}', '{"vaults": {"x": 1}}']
)
def test_a_list_of_vaults_that_cannot_be_read_names_none(
    contract: Contract, vaults: Calls, home: Path, text: str
) -> None:
    register(home)
    (home / "config/obsidian/obsidian.json").write_text(text)
    assert contract("read_note", path="work.md", vault="Work")["content"] == "work"
    assert contract.error("read_note", path="work.md", vault="Diary").name == "VAULT_NOT_FOUND"


def test_a_name_that_two_vaults_have_is_an_error_that_lists_them(contract: Contract, vaults: Calls) -> None:
    error = contract.error("create_note", name="New", vault="Notes")
    assert (error.number, error.name, error.data["candidates"]) == (
        -32002,
        "VAULT_AMBIGUOUS",
        ["main", "second"],
    )


def test_a_caller_bound_to_a_vault_knows_the_names_of_no_other(contract: Contract, vaults: Calls) -> None:
    vaults.caller = Caller("bound", frozenset({"*"}), authenticated=True, vault="second")
    assert contract("read_note", path="second.md", vault="Notes")["content"] == "second"
    assert contract.error("read_note", path="work.md", vault="Office").data["vaults"] == ["second"]
    assert contract.error("read_note", path="work.md", vault="work").name == "PERMISSION_DENIED"


def test_a_vault_of_one_server_is_named_without_a_configuration(
    contract: Contract, vault: VaultFolder, home: Path
) -> None:
    vault["a.md"] = "a"
    assert contract("read_note", path="a.md", vault="vault")["content"] == "a"
