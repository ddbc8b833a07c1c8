from __future__ import annotations

import os

import pytest

from knapper import Context, DeleteNotePath, Domain, NotePath, ToolError, WriteNotePath
from knapper.testing import Calls, VaultFolder

paths = Domain("paths", summary="Say which path was meant.")
links = pytest.mark.skipif(os.name == "nt", reason="links need privileges on Windows")
PUBLIC = {"acl": {"read_paths": ["Public/**"]}}


@paths.tool("read:notes")
def meant(ctx: Context, path: NotePath) -> str:
    """Say which note is meant."""
    return path


@paths.tool("write:notes", "delete:notes")
def shifted(ctx: Context, source: DeleteNotePath, target: WriteNotePath) -> str:
    """Say what would be moved."""
    return f"{source} {target}"


@paths.tool("read:notes")
def missed(ctx: Context) -> str:
    """Read a note that is not there."""
    return ctx.vault.read("Folder/Recpie.md").text


def code(call: Calls, tool: str, **arguments: str) -> str:
    with pytest.raises(ToolError) as error:
        call(paths, tool, **arguments)
    return error.value.code


def test_a_note_is_meant_by_path_name_alias_or_the_end_of_its_path(call: Calls, vault: VaultFolder) -> None:
    vault["Folder/Recipe.md"] = "---\naliases: [Dish]\n---\n"
    for given in ("Folder/Recipe.md", "Folder/Recipe", "Recipe", "recipe", "Dish", "folder/recipe"):
        assert call(paths, "meant", path=given) == "Folder/Recipe.md"


def test_a_folder_does_not_hide_the_note_of_its_name(call: Calls, vault: VaultFolder) -> None:
    vault["Projects/a.md"] = ""
    vault["Notes/Projects.md"] = ""
    assert call(paths, "meant", path="Projects") == "Notes/Projects.md"


def test_a_name_that_fits_several_notes_gets_them_as_candidates(call: Calls, vault: VaultFolder) -> None:
    vault["b/Twin.md"] = ""
    vault["a/Twin.md"] = ""
    with pytest.raises(ToolError) as error:
        call(paths, "meant", path="Twin")
    assert error.value.code == "path_ambiguous"
    assert error.value.details == {"candidates": ["a/Twin.md", "b/Twin.md"]}


def test_who_misses_a_note_is_told_the_nearest(call: Calls, vault: VaultFolder) -> None:
    vault["Folder/Recipe.md"] = ""
    with pytest.raises(ToolError) as error:
        call(paths, "meant", path="Recpie")
    assert error.value.code == "note_not_found"
    assert error.value.details["suggestions"] == ["Folder/Recipe.md"]


def test_a_tool_that_misses_a_note_inside_suggests_too(call: Calls, vault: VaultFolder) -> None:
    vault["Folder/Recipe.md"] = ""
    with pytest.raises(ToolError) as error:
        call(paths, "missed")
    assert error.value.details == {"path": "Folder/Recpie.md", "suggestions": ["Folder/Recipe.md"]}


def test_what_is_no_note_is_refused_where_a_note_is_wanted(call: Calls, vault: VaultFolder) -> None:
    vault["a.md"] = ""
    vault["plan.canvas"] = "{}"
    assert code(call, "meant", path="plan.canvas") == "invalid_input"
    assert code(call, "shifted", source="plan.canvas", target="b.md") == "invalid_input"
    assert code(call, "shifted", source="a.md", target="b") == "invalid_input"
    assert call(paths, "shifted", source="a.md", target="b.md") == "a.md b.md"


@links
def test_a_note_is_meant_by_a_link_that_leads_to_it(call: Calls, vault: VaultFolder) -> None:
    vault["Folder/Recipe.md"] = ""
    (vault.path / "Linked").symlink_to("Folder")
    assert call(paths, "meant", path="Linked/Recipe.md") == "Folder/Recipe.md"


@links
def test_a_link_to_what_is_refused_does_not_say_whether_a_note_is_there(
    call: Calls, vault: VaultFolder
) -> None:
    call.settings = PUBLIC
    vault["Public/Other.md"] = ""
    vault["Private/Secret.md"] = ""
    (vault.path / "Public/Way").symlink_to("../Private")
    for name in ("Secret.md", "Nothing.md"):
        assert code(call, "meant", path=f"Public/Way/{name}") == "acl_denied"


def test_a_restricted_caller_finds_permitted_notes_by_name(call: Calls, vault: VaultFolder) -> None:
    call.settings = PUBLIC
    vault["Public/Plan.md"] = ""
    vault["Private/Plan.md"] = ""
    assert call(paths, "meant", path="Plan") == "Public/Plan.md"
    assert call(paths, "meant", path="Plan.md") == "Public/Plan.md"


def test_a_refused_path_does_not_say_whether_a_note_is_there(call: Calls, vault: VaultFolder) -> None:
    call.settings = PUBLIC
    vault["Public/Other.md"] = ""
    vault["Private/Secret.md"] = ""
    vault["Secret.md"] = ""
    answers = []
    for given in ("Private/Secret.md", "Private/Nothing.md", "Secret.md", "Nothing.md"):
        with pytest.raises(ToolError) as error:
            call(paths, "meant", path=given)
        answers.append((error.value.code, error.value.message.replace(given, "…")))
    assert set(answers) == {("acl_denied", "the folder rules do not allow to read '…'")}
    assert code(call, "meant", path="Secret") == code(call, "meant", path="Nothing") == "note_not_found"
