from __future__ import annotations

from knapper.testing import Calls, VaultFolder
from tests.obsidian.conftest import Contract


def test_a_note_is_created_under_its_name_with_its_extension(contract: Contract, vault: VaultFolder) -> None:
    assert contract("create_note", name="Recipe", content="Salt.\n") == {
        "path": "Recipe.md",
        "created": True,
    }
    assert vault["Recipe.md"] == "Salt.\n"


def test_an_exact_path_is_taken_as_it_is_and_its_folders_are_made(
    contract: Contract, vault: VaultFolder
) -> None:
    assert contract("create_note", name="Cook/Soups/Leek.md")["path"] == "Cook/Soups/Leek.md"
    assert vault["Cook/Soups/Leek.md"] == ""


def test_a_new_note_is_where_its_name_says_whatever_obsidian_is_set_to(
    contract: Contract, vault: VaultFolder
) -> None:
    vault[".obsidian/app.json"] = '{"newFileLocation": "folder", "newFileFolderPath": "Inbox"}'
    assert contract("create_note", name="Recipe")["path"] == "Recipe.md"


def test_a_note_that_is_there_stays_untouched(contract: Contract, vault: VaultFolder) -> None:
    vault["Recipe.md"] = "mine"
    error = contract.error("create_note", name="Recipe", content="yours")
    assert (error.number, error.name, error.data["path"]) == (-32000, "FILE_EXISTS", "Recipe.md")
    assert vault["Recipe.md"] == "mine"


def test_overwriting_replaces_a_note_once_a_person_agrees(
    contract: Contract, call: Calls, vault: VaultFolder
) -> None:
    vault["Recipe.md"] = "mine"
    error = contract.error("create_note", name="Recipe", content="yours", overwrite=True)
    assert (error.number, error.name) == (-32000, "ELICIT_REQUIRED")
    assert error.data["change"] == {"path": "Recipe.md", "overwrites_bytes": 4}
    assert vault["Recipe.md"] == "mine"
    done = contract.confirmed("create_note", name="Recipe", content="yours", overwrite=True)
    assert done == {"path": "Recipe.md", "created": True, "overwritten": True}
    assert vault["Recipe.md"] == "yours"


def test_overwriting_nothing_or_an_empty_note_asks_nobody(contract: Contract, vault: VaultFolder) -> None:
    vault["Empty.md"] = "\n"
    assert contract("create_note", name="Empty", content="a", overwrite=True)["overwritten"] is True
    assert contract("create_note", name="New", content="b", overwrite=True) == {
        "path": "New.md",
        "created": True,
    }
    assert (vault["Empty.md"], vault["New.md"]) == ("a", "b")


def test_a_template_gives_the_beginning_of_a_note(contract: Contract, vault: VaultFolder) -> None:
    vault[".obsidian/templates.json"] = '{"dateFormat": "[day] YYYY"}'
    vault["Templates/Meal.md"] = "# {{title}}\n{{date}} {{time:[at]}} {{ unknown }}\n"
    contract("create_note", name="Cook/Soup", template="Meal", content="Leek")
    first, second, third = vault["Cook/Soup.md"].splitlines()
    assert (first, third) == ("# Soup", "Leek")
    assert second.startswith("day 2")
    assert second.endswith(" at {{ unknown }}")


def test_a_template_that_is_not_there_creates_nothing(contract: Contract, vault: VaultFolder) -> None:
    assert contract.error("create_note", name="Soup", template="Nothing").name == "FILE_NOT_FOUND"
    assert list(vault) == []


def test_appended_text_has_a_line_of_its_own(contract: Contract, vault: VaultFolder) -> None:
    vault["List.md"] = "one"
    assert contract("append_note", file="List", content="two") == {"path": "List.md"}
    assert vault["List.md"] == "one\ntwo"
    contract("append_note", path="List.md", content="three\n")
    assert vault["List.md"] == "one\ntwo\nthree\n"


def test_inline_text_goes_on_in_the_same_line(contract: Contract, vault: VaultFolder) -> None:
    vault["List.md"] = "one"
    contract("append_note", file="List", content=" two", inline=True)
    assert vault["List.md"] == "one two"


def test_prepended_text_lands_below_the_properties(contract: Contract, vault: VaultFolder) -> None:
    vault["List.md"] = "---\ntags: [x]\n---\nbody\n"
    contract("prepend_note", file="List", content="first")
    assert vault["List.md"] == "---\ntags: [x]\n---\nfirst\nbody\n"
    contract("prepend_note", file="List", content="zero ", inline=True)
    assert vault["List.md"] == "---\ntags: [x]\n---\nzero first\nbody\n"


def test_added_text_gets_the_line_ends_of_its_note(contract: Contract, vault: VaultFolder) -> None:
    vault["Plain.md"] = "a\nb\n"
    vault["Windows.md"] = "a\r\nb\r\n"
    for name in ("Plain", "Windows"):
        contract("append_note", file=name, content="c\r\nd\n")
    assert vault["Plain.md"] == "a\nb\nc\nd\n"
    assert vault["Windows.md"] == "a\r\nb\r\nc\r\nd\r\n"


def test_a_key_adds_a_text_once(contract: Contract, vault: VaultFolder) -> None:
    vault["List.md"] = "one\n"
    for _ in range(2):
        contract("append_note", file="List", content="two\n", idempotency_key="k")
    assert vault["List.md"] == "one\ntwo\n"


def test_a_deleted_note_is_in_the_trash_once_a_person_agrees(contract: Contract, vault: VaultFolder) -> None:
    vault["Cook/Old.md"] = "old"
    error = contract.error("delete_note", file="Old")
    assert (error.name, error.data["change"]) == (
        "ELICIT_REQUIRED",
        {"path": "Cook/Old.md", "permanent": False},
    )
    assert contract.confirmed("delete_note", file="Old") == {
        "path": "Cook/Old.md",
        "deleted": True,
        "trash_path": ".trash/Cook/Old.md",
    }
    assert dict(vault) == {".trash/Cook/Old.md": "old"}


def test_only_what_is_asked_to_be_is_deleted_for_good(contract: Contract, vault: VaultFolder) -> None:
    vault["Old.md"] = "old"
    assert contract.confirmed("delete_note", path="Old.md", permanent=True) == {
        "path": "Old.md",
        "deleted": True,
    }
    assert dict(vault) == {}


def test_where_obsidian_keeps_no_trash_a_deleted_note_is_gone(contract: Contract, vault: VaultFolder) -> None:
    vault[".obsidian/app.json"] = '{"trashOption": "none"}'
    vault["Old.md"] = "old"
    assert contract.confirmed("delete_note", file="Old") == {"path": "Old.md", "deleted": True}
    assert list(vault) == [".obsidian/app.json"]


def test_nobody_is_asked_to_delete_nothing_or_what_is_denied(
    contract: Contract, call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"acl": {"delete_paths": ["Bin/**"]}}
    vault["Kept.md"] = "kept"
    assert contract.error("delete_note", path="Gone.md").name == "PERMISSION_DENIED"
    assert contract.error("delete_note", path="Bin/Gone.md").name == "FILE_NOT_FOUND"
    assert contract.error("delete_note", file="Kept").name == "PERMISSION_DENIED"
    assert vault["Kept.md"] == "kept"


def test_where_changes_must_name_their_base_these_tools_do_not_change_notes(
    contract: Contract, call: Calls, vault: VaultFolder
) -> None:
    call.settings = {"writes": {"require_cas": True}}
    vault["List.md"] = "one"
    calls = (
        ("append_note", {"file": "List"}),
        ("prepend_note", {"file": "List"}),
        ("create_note", {"name": "List", "overwrite": True}),
    )
    for tool, which in calls:
        error = contract.error(tool, content="x", **which)
        assert (error.name, "write_note" in error.message) == ("PERMISSION_DENIED", True)
    assert contract("create_note", name="New")["created"] is True
    assert vault["List.md"] == "one"
