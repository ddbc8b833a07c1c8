import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_workspaces import workspaces

FILE = ".obsidian/workspaces.json"
SESSION = ".obsidian/workspace.json"


def leaf(own: str, file: str) -> dict[str, Any]:
    state = {"file": file, "mode": "source", "source": False}
    return {"id": own, "type": "leaf", "state": {"type": "markdown", "state": state, "title": file}}


def layout(*files: str, **more: Any) -> dict[str, Any]:
    leaves = [leaf(f"{number:016x}", file) for number, file in enumerate(files)]
    tabs = {"id": "t", "type": "tabs", "children": leaves, "currentTab": 0}
    main = {"id": "m", "type": "split", "children": [tabs], "direction": "vertical"}
    return {"main": main, "left-ribbon": {"hiddenItems": {"Graph": False}}, "active": "0" * 16, **more}


STORED = json.dumps(
    {
        "workspaces": {
            "Writing": layout("a.md", mtime="2024-05-01T10:00:00+02:00", pluginKey={"x": [1.5]}),
            "Review": layout("secret/b.md", "a.md"),
        },
        "active": "Writing",
        "pluginKey": True,
    },
    indent=2,
)
NOW = layout("c.md", lastOpenFiles=["c.md", "a.md"])


def fill(vault: VaultFolder) -> None:
    vault[FILE] = STORED
    vault[SESSION] = json.dumps(NOW)


def refusal(call: Calls, tool: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as refused:
        call(workspaces, tool, **arguments)
    return refused.value


def test_saved_workspaces_are_listed_with_the_active_one(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    assert call(workspaces, "list_workspaces")["workspaces"] == [
        {"name": "Writing", "active": True, "modified_at": "2024-05-01T10:00:00+02:00"},
        {"name": "Review", "active": False, "modified_at": None},
    ]


@pytest.mark.parametrize("text", [None, "", "{}"])
def test_a_vault_without_workspaces_has_none_and_takes_the_first(
    call: Calls, vault: VaultFolder, text: str | None
) -> None:
    if text is not None:
        vault[FILE] = text
    assert call(workspaces, "list_workspaces") == {"workspaces": []}
    call(workspaces, "save_workspace", name="New", layout=layout("a.md"))
    assert [one["name"] for one in call(workspaces, "list_workspaces")["workspaces"]] == ["New"]


def test_opening_makes_a_workspace_active_and_hands_over_its_layout(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    opened = call(workspaces, "open_workspace", name="Review")
    assert opened["layout"] == layout("secret/b.md", "a.md")
    assert (opened["name"], opened["prior_workspace"]) == ("Review", "Writing")
    assert vault[FILE] == STORED.replace('"active": "Writing"', '"active": "Review"')
    again = call(workspaces, "open_workspace", name="Review")
    assert again["prior_workspace"] == "Review"


def test_an_unknown_workspace_is_refused_with_the_known_ones(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    error = refusal(call, "open_workspace", name="Nobody", save_current_first=True)
    assert (error.code, error.details["known"]) == ("invalid_input", ["Writing", "Review"])
    assert vault[FILE] == STORED
    del vault[FILE]
    assert refusal(call, "open_workspace", name="Nobody").code == "invalid_input"
    assert FILE not in vault


def test_what_is_shown_can_be_saved_before_another_is_opened(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    call(workspaces, "open_workspace", name="Review", save_current_first=True)
    stored = json.loads(vault[FILE])
    kept = stored["workspaces"]["Writing"]
    assert kept.pop("mtime").endswith("Z")
    assert kept == layout("c.md")
    assert stored["active"] == "Review"
    assert json.loads(vault[SESSION]) == NOW


def test_saving_first_needs_something_shown_and_a_name_for_it(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    del vault[SESSION]
    error = refusal(call, "open_workspace", name="Review", save_current_first=True)
    assert "has not stored a current layout" in error.message
    vault[SESSION] = json.dumps(NOW)
    vault[FILE] = json.dumps({"workspaces": {"Review": layout("a.md")}})
    error = refusal(call, "open_workspace", name="Review", save_current_first=True)
    assert "no workspace is active" in error.message


def test_what_is_shown_is_saved_under_a_name_and_becomes_active(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    saved = call(workspaces, "save_workspace", name="Fresh")
    stored = json.loads(vault[FILE])
    assert stored["workspaces"]["Fresh"] == {**layout("c.md"), "mtime": saved["saved_at"]}
    assert stored["active"] == "Fresh"
    assert stored["pluginKey"] is True


def test_a_given_layout_is_saved_and_the_rest_of_the_file_stays(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    call(
        workspaces,
        "save_workspace",
        name="Given",
        layout=layout("z.md", floating={"type": "floating", "children": []}),
    )
    text = vault[FILE]
    head, tail = STORED.split('\n  },\n  "active"')
    assert text.startswith(head + ",\n    ")
    assert text.endswith('\n  },\n  "active"' + tail)
    assert json.loads(text)["workspaces"]["Given"]["floating"] == {"type": "floating", "children": []}


def test_a_name_that_is_taken_is_replaced_only_when_a_person_confirms(
    call: Calls, vault: VaultFolder
) -> None:
    fill(vault)
    assert refusal(call, "save_workspace", name="Writing").code == "note_exists"
    assert refusal(call, "save_workspace", name="Writing", overwrite=True).code == "elicit_required"
    assert vault[FILE] == STORED
    call.confirmed(workspaces, "save_workspace", name="Writing", overwrite=True)
    stored = json.loads(vault[FILE])["workspaces"]
    assert stored["Writing"]["main"] == NOW["main"]
    assert "pluginKey" not in stored["Writing"]
    assert stored["Review"] == layout("secret/b.md", "a.md")


@pytest.mark.parametrize(
    ("given_layout", "field"),
    [
        ({}, "main"),
        ({"main": {"id": "x"}}, "main"),
        ({"main": {"type": "split", "children": {}}}, "main.children"),
        ({"main": {"type": "split", "children": [{"type": "leaf"}]}}, "main.children[0].state"),
        ({"main": {"type": "split"}, "left": []}, "left"),
    ],
)
def test_a_layout_that_obsidian_could_not_restore_is_refused(
    call: Calls, vault: VaultFolder, given_layout: dict[str, Any], field: str
) -> None:
    error = refusal(call, "save_workspace", name="Bad", layout=given_layout)
    assert (error.code, error.details["field"]) == ("invalid_input", field)
    assert FILE not in vault


@pytest.mark.parametrize("text", ["{", "[]", '{"workspaces": []}', '{"workspaces": {"a": 1}}'])
def test_a_broken_file_is_reported_and_never_rewritten(call: Calls, vault: VaultFolder, text: str) -> None:
    vault[FILE] = text
    assert refusal(call, "list_workspaces").code == "invalid_input"
    assert refusal(call, "open_workspace", name="a").code == "invalid_input"
    assert refusal(call, "save_workspace", name="b", layout=layout("a.md")).code == "invalid_input"
    assert vault[FILE] == text


def test_a_layout_names_no_file_the_caller_may_not_read(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    call.settings["acl"] = {"read_paths": ["*.md", ".obsidian/*"]}
    opened = call(workspaces, "open_workspace", name="Review")
    assert "secret" not in json.dumps(opened)
    leaves = opened["layout"]["main"]["children"][0]["children"]
    assert [one["state"]["state"].get("file") for one in leaves] == [None, "a.md"]
    assert "secret/b.md" in vault[FILE]


def test_the_folder_rules_hold_for_the_file_of_workspaces(call: Calls, vault: VaultFolder) -> None:
    fill(vault)
    call.settings["acl"] = {"write_paths": ["notes/**"]}
    assert refusal(call, "open_workspace", name="Review").code == "acl_denied"
    assert refusal(call, "save_workspace", name="x", layout=layout("a.md")).code == "acl_denied"
    assert vault[FILE] == STORED


def test_no_other_file_of_obsidian_is_opened_by_the_exemption() -> None:
    assert workspaces.exempt == {".obsidian/workspaces.json", ".obsidian/workspace.json"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_unknown_keys_and_spellings_survive_opening_there_and_back(
    call: Calls, vault: VaultFolder, foreign: dict[str, Any], indent: int | str | None
) -> None:
    layouts = {"one": {**foreign, **layout("a.md")}, "two": {**foreign, **layout("b.md")}}
    stored = {**foreign, "workspaces": layouts, "active": "one"}
    vault[FILE] = text = json.dumps(stored, indent=indent, ensure_ascii=False)
    assert call(workspaces, "open_workspace", name="two")["prior_workspace"] == "one"
    assert json.loads(vault[FILE]) == {**stored, "active": "two"}
    call(workspaces, "open_workspace", name="one")
    assert vault[FILE] == text


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(workspaces)
    assert {name: (tool.rate, tool.confirm) for name, tool in workspaces.tools.items()} == {
        "list_workspaces": ("read", ""),
        "open_workspace": ("write", ""),
        "save_workspace": ("write", "overwrite"),
    }
