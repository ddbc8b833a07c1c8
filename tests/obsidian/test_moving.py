from __future__ import annotations

from knapper.testing import VaultFolder
from tests.obsidian.conftest import Contract


def test_a_moved_note_takes_the_links_to_it_along(contract: Contract, vault: VaultFolder) -> None:
    vault.update(
        {"Cook/Soup.md": "s", "Cook/Menu.md": "[[Cook/Soup]] ![[Cook/Soup|s]]", "Cook/Old/x.md": "x"}
    )
    assert contract("move_note", file="Soup", to="Cook/Old") == {
        "path": "Cook/Old/Soup.md",
        "from": "Cook/Soup.md",
        "links_updated": 2,
    }
    assert vault["Cook/Menu.md"] == "[[Soup]] ![[Soup|s]]"
    assert vault["Cook/Old/Soup.md"] == "s"


def test_where_to_is_a_folder_or_a_path_that_ends_in_md(contract: Contract, vault: VaultFolder) -> None:
    vault["Cook/Soup.md"] = "s"
    assert contract("move_note", file="Soup", to="Cook/New/")["path"] == "Cook/New/Soup.md"
    assert contract("move_note", file="Soup", to="Cook/Broth.md")["path"] == "Cook/Broth.md"


def test_a_person_is_asked_where_a_note_leaves_its_top_folder(contract: Contract, vault: VaultFolder) -> None:
    vault["Cook/Soup.md"] = "s"
    error = contract.error("move_note", file="Soup", to="/")
    assert (error.name, error.data["change"]) == (
        "ELICIT_REQUIRED",
        {"from": "Cook/Soup.md", "to": "Soup.md"},
    )
    assert contract.confirmed("move_note", file="Soup", to="/")["path"] == "Soup.md"
    assert dict(vault) == {"Soup.md": "s"}


def test_a_renamed_note_stays_in_its_folder_and_takes_its_links_along(
    contract: Contract, vault: VaultFolder
) -> None:
    vault.update({"Cook/Soup.md": "s", "Menu.md": "[[Soup#Salt|the soup]]"})
    assert contract("rename_note", file="Soup", name="Broth")["path"] == "Cook/Broth.md"
    assert dict(vault) == {"Cook/Broth.md": "s", "Menu.md": "[[Broth#Salt|the soup]]"}


def test_a_name_may_change_its_case(contract: Contract, vault: VaultFolder) -> None:
    vault.update({"soup.md": "s", "Menu.md": "[[soup]]"})
    assert contract("rename_note", file="soup", name="Soup.md")["path"] == "Soup.md"
    assert sorted(vault) == ["Menu.md", "Soup.md"]


def test_a_name_that_is_taken_or_its_own_moves_nothing(contract: Contract, vault: VaultFolder) -> None:
    before = {"Soup.md": "s", "Broth.md": "b", "Menu.md": "[[Soup]]"}
    vault.update(before)
    assert contract.error("rename_note", file="Soup", name="Broth").name == "FILE_EXISTS"
    assert contract.error("move_note", file="Soup", to="Broth.md").name == "FILE_EXISTS"
    assert contract.error("rename_note", file="Soup", name="Soup").number == -32602
    assert contract.error("rename_note", file="Soup", name="Sub/Soup").number == -32602
    assert contract.error("move_note", path="Gone.md", to="Sub").name == "FILE_NOT_FOUND"
    assert dict(vault) == before
