"""Templates that move their note or create others, where that is permitted; and the vault's list of templates."""

from typing import Any

import pytest

from knapper.testing import Calls, VaultFolder
from knapper_templater import templater
from tests.known_vaults import real_folder

SETTINGS = ".obsidian/plugins/templater-obsidian/data.json"


@pytest.fixture(autouse=True)
def permitted(call: Calls) -> None:
    call.settings = {"templater": {"allow_file_changes": True}}


def run(
    call: Calls, vault: VaultFolder, template: str, target: str = "In/New.md", **arguments: Any
) -> dict[str, Any]:
    vault["T.md"] = template
    done: dict[str, Any] = call.confirmed(
        templater, "execute_template", template="T.md", target=target, **arguments
    )
    return done


def test_a_new_note_is_written_where_the_template_moves_it(call: Calls, vault: VaultFolder) -> None:
    done = run(call, vault, "<% await tp.file.move('/Deep/er/Moved') %><% tp.file.title %>")
    assert (done["target"], vault["Deep/er/Moved.md"]) == ("Deep/er/Moved.md", "New")
    assert "In/New.md" not in vault


def test_a_new_note_is_written_under_its_new_name(call: Calls, vault: VaultFolder) -> None:
    done = run(call, vault, "<% tp.file.rename('Other') %>x")
    assert (done["target"], vault["In/Other.md"]) == ("In/Other.md", "x")


def test_moving_a_note_that_is_there_takes_its_links_along(call: Calls, vault: VaultFolder) -> None:
    vault["In/New.md"], vault["Index.md"] = "old", "see [[In/New]]\n"
    done = run(call, vault, "<% tp.file.move('Out/Renamed') %><% tp.file.content %> text", overwrite=True)
    assert done["target"] == "Out/Renamed.md"
    assert (vault["Out/Renamed.md"], vault["Index.md"]) == ("old text", "see [[Renamed]]\n")
    assert "In/New.md" not in vault


def test_notes_are_created_beside_the_target(call: Calls, vault: VaultFolder) -> None:
    vault["Part.md"] = "part of <% tp.file.title %> in <% tp.file.folder(true) %>"
    template = (
        "<% (await tp.file.create_new('plain', 'A')).path %>\n"
        "<% tp.file.create_new(tp.file.find_tfile('Part'), 'B', false, 'Sub').path %>\n"
        "<% tp.file.create_new('one').path %>\n<% tp.file.create_new('two').path %>"
    )
    run(call, vault, template)
    assert vault["In/New.md"] == "In/A.md\nSub/B.md\nIn/Untitled.md\nIn/Untitled 1.md"
    assert (vault["In/A.md"], vault["Sub/B.md"]) == ("plain", "part of B in Sub")
    assert (vault["In/Untitled.md"], vault["In/Untitled 1.md"]) == ("one", "two")


def test_templates_are_listed_with_what_they_use(call: Calls, vault: VaultFolder) -> None:
    vault[SETTINGS] = '{"templates_folder": "Meta/Templates"}'
    vault["Meta/Templates/Plain.md"] = "nothing"
    vault["Meta/Templates/Sub/Full.md"] = (
        "<% tp.date.now() %><%* tR += tp.date.now('YY') + await tp.system.prompt('Who?', 'me') %>"
        "<% tp.user.mine() %><% tp.system.clipboard() %><% tp.frontmatter['x'] %> tp.web.request"
    )
    vault["Meta/Templates/Broken.md"] = "<% tp.date.now( %> <% open"
    vault["Meta/Templates/image.png"] = "x"
    vault["Elsewhere.md"] = "<% tp.date.now() %>"
    assert call(templater, "list_templates") == {
        "items": [
            {
                "path": "Meta/Templates/Broken.md",
                "name": "Broken",
                "has_user_functions": False,
                "commands": [],
            },
            {"path": "Meta/Templates/Plain.md", "name": "Plain", "has_user_functions": False, "commands": []},
            {
                "path": "Meta/Templates/Sub/Full.md",
                "name": "Full",
                "has_user_functions": True,
                "commands": [
                    "tp.date.now",
                    "tp.system.prompt",
                    "tp.user.mine",
                    "tp.system.clipboard",
                    "tp.frontmatter",
                ],
                "parameters": ["Who?", "clipboard"],
            },
        ]
    }


@pytest.mark.parametrize(
    "settings", [None, "{}", "broken", '{"templates_folder": ""}', '{"templates_folder": "Gone"}']
)
def test_without_a_folder_there_are_no_templates(
    call: Calls, vault: VaultFolder, settings: str | None
) -> None:
    if settings is not None:
        vault[SETTINGS] = settings
    vault["A.md"] = "x"
    assert call(templater, "list_templates") == {"items": []}


def test_the_whole_vault_may_be_the_folder(call: Calls, vault: VaultFolder) -> None:
    vault[SETTINGS], vault["A.md"] = '{"templates_folder": "/"}', "x"
    assert [item["path"] for item in call(templater, "list_templates")["items"]] == ["A.md"]


def test_templates_the_caller_may_not_read_are_not_listed(call: Calls, vault: VaultFolder) -> None:
    vault[SETTINGS] = '{"templates_folder": "Templates"}'
    vault["Templates/open/A.md"], vault["Templates/closed/B.md"] = "a", "b"
    call.settings = {"acl": {"read_paths": ["Templates/open/**"]}}
    assert [item["path"] for item in call(templater, "list_templates")["items"]] == ["Templates/open/A.md"]


def test_the_templates_of_a_real_vault_run(call: Calls, vault: VaultFolder) -> None:
    for path in (folder := real_folder("kepano")).rglob("*"):
        if path.is_file():
            vault[path.relative_to(folder).as_posix()] = path.read_bytes()
    call.runtime(templater).clock = lambda: 1_772_719_629.0
    listed = call(templater, "list_templates")["items"]
    assert len(listed) == 52
    for number, item in enumerate(listed):
        source = vault[item["path"]]
        target = f"Made/{number}.md"
        call.confirmed(templater, "execute_template", template=item["path"], target=target)
        assert vault[target] == source.replace("{{date}}", "2026-03-05"), item["path"]
