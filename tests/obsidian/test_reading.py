from __future__ import annotations

import os

import pytest

from knapper.testing import Calls, VaultFolder, check_domain
from knapper_obsidian import obsidian
from tests.obsidian.conftest import Contract


def test_a_note_is_read_by_its_name_or_its_path(contract: Contract, vault: VaultFolder) -> None:
    vault["Cook/Leek Soup.md"] = "Leek.\n"
    wanted = {"path": "Cook/Leek Soup.md", "content": "Leek.\n"}
    for given in ("Leek Soup", "leek soup", "Leek Soup.md", "Cook/Leek Soup"):
        assert contract("read_note", file=given) == wanted
    assert contract("read_note", path="Cook/Leek Soup.md") == wanted


@pytest.mark.parametrize("name", ["C#", "a#b", "#tag", " lead", "trail ", "x^1", "[[x]]", "a|b", "dot."])
def test_a_name_is_the_whole_name_whatever_a_link_would_make_of_it(
    contract: Contract, vault: VaultFolder, name: str
) -> None:
    vault.update({"C.md": "another", "a.md": "another", "lead.md": "another", "trail.md": "another"})
    vault[f"Sub/{name}.md"] = "this"
    assert contract("read_note", file=name)["content"] == "this"


def test_neither_a_name_nor_a_path_is_never_the_open_note(contract: Contract, vault: VaultFolder) -> None:
    vault["Only.md"] = "only"
    vault[".obsidian/workspace.json"] = '{"active": "x", "lastOpenFiles": ["Only.md"]}'
    for tool, more in (
        ("read_note", {}),
        ("append_note", {"content": "x"}),
        ("prepend_note", {"content": "x"}),
        ("delete_note", {}),
        ("move_note", {"to": "Sub"}),
        ("rename_note", {"name": "New"}),
        ("open_note", {}),
        ("file_info", {}),
    ):
        assert contract.error(tool, **more).number == -32602
        assert contract.error(tool, **more, file="Only", path="Only.md").number == -32602
    assert vault["Only.md"] == "only"


def test_a_name_that_several_notes_have_is_an_error_that_lists_them(
    contract: Contract, vault: VaultFolder
) -> None:
    vault.update({"Soup.md": "root", "Cook/Soup.md": "cook", "Soup.png": "no note"})
    error = contract.error("read_note", file="Soup")
    assert (error.number, error.name) == (-32004, "AMBIGUOUS_NAME")
    assert error.data["candidates"] == ["Cook/Soup.md", "Soup.md"]
    assert contract("read_note", file="Cook/Soup")["content"] == "cook"
    assert contract("read_note", path="Soup.md")["content"] == "root"


def test_an_alias_is_no_name(contract: Contract, vault: VaultFolder) -> None:
    vault["Soup.md"] = "---\naliases: [Broth]\n---\n"
    assert contract.error("read_note", file="Broth").name == "FILE_NOT_FOUND"


def test_a_name_means_nothing_that_its_caller_may_not_read(
    contract: Contract, call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"acl": {"read_paths": ["Open/**"]}}
    vault.update({"Open/Soup.md": "open", "Private/Soup.md": "private", "Private/Secret.md": "private"})
    assert contract("read_note", file="Soup")["path"] == "Open/Soup.md"
    assert contract.error("read_note", file="Secret").name == "FILE_NOT_FOUND"
    assert contract.error("read_note", path="Private/Secret.md").name == "PERMISSION_DENIED"


def test_a_note_that_is_not_there_is_told_with_those_most_like_it(
    contract: Contract, vault: VaultFolder
) -> None:
    vault["Recipe.md"] = "r"
    for which in ({"file": "Recipee"}, {"path": "Recipee.md"}):
        error = contract.error("read_note", **which)
        assert (error.number, error.name) == (-32003, "FILE_NOT_FOUND")
        assert error.data["suggestions"] == ["Recipe.md"]


def test_a_files_facts_are_six_fields(contract: Contract, vault: VaultFolder) -> None:
    vault["Cook/Leek.Soup.md"] = "Leek"
    os.utime(vault.path / "Cook/Leek.Soup.md", ns=(1_700_000_000_123_000_000, 1_700_000_000_123_000_000))
    facts = contract("file_info", file="Leek.Soup")
    created = facts.pop("created")
    assert facts == {
        "path": "Cook/Leek.Soup.md",
        "name": "Leek.Soup",
        "extension": "md",
        "size": 4,
        "modified": 1_700_000_000_123,
    }
    assert type(created) is int
    assert created > 1_600_000_000_000


def test_every_kind_of_file_has_facts_and_a_folder_has_none(contract: Contract, vault: VaultFolder) -> None:
    vault.update({"pic.png": "png", "Sub/LICENSE": "text"})
    assert contract("file_info", file="pic.png")["extension"] == "png"
    facts = contract("file_info", path="Sub/LICENSE")
    assert (facts["name"], facts["extension"]) == ("LICENSE", "")
    assert contract.error("file_info", path="Sub").name == "FILE_NOT_FOUND"
    assert contract.error("read_note", path="pic.png").number == -32602


@pytest.mark.parametrize(
    "name",
    ["../out", "a/../../out", "/etc/out", "C:\\out", "a\x00b", "a\nb", "..\\out", "%2e%2e/out"],
)
def test_no_name_leads_out_of_the_vault(contract: Contract, vault: VaultFolder, name: str) -> None:
    vault["a.md"] = "a"
    errors = [
        contract.error("create_note", name=name),
        contract.error("read_note", file=name),
        contract.error("read_note", path=name),
        contract.error("rename_note", file="a", name=name),
        contract.error("move_note", file="a", to=f"{name}.md"),
    ]
    assert {error.number for error in errors} == {-32602}
    assert dict(vault) == {"a.md": "a"}
    assert not [p for p in vault.path.parent.iterdir() if p.name.startswith("out")]


def test_a_link_out_of_the_vault_is_not_followed(contract: Contract, vault: VaultFolder) -> None:
    outside = vault.path.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (vault.path / "out").symlink_to(outside)
    (vault.path / "one.md").symlink_to(outside / "secret.md")
    for which in ({"path": "out/secret.md"}, {"path": "one.md"}):
        assert contract.error("read_note", **which).number == -32602
    assert contract.error("read_note", file="secret").number == -32003
    assert contract.error("create_note", name="out/new").number == -32602
    assert [p.name for p in outside.iterdir()] == ["secret.md"]


@pytest.mark.parametrize("name", ["--help", "-rf", "vault=other", "$(touch x)", "a; b", "a && b", "`id`"])
def test_a_name_that_looks_like_a_command_is_a_name(
    contract: Contract, vault: VaultFolder, name: str
) -> None:
    assert contract("create_note", name=name, content="x")["path"] == f"{name}.md"
    assert contract("read_note", file=name)["content"] == "x"
    assert list(vault) == [f"{name}.md"]


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(obsidian)
