"""Template choices: the new note's name, folder and text, and notes that are there already."""

from typing import Any

import pytest

from knapper.caller import LOCAL, Caller
from knapper.testing import Calls, VaultFolder
from knapper_quickadd import quickadd
from tests.quickadd.quickadd_vault import THURSDAY, capture, install, refused, template, trigger

NAMED: dict[str, Any] = {"fileNameFormat": {"enabled": True, "format": "{{DATE:YYYY}}/{{VALUE:title}}"}}


def applied(mode: str) -> dict[str, Any]:
    return {"fileExistsBehavior": {"kind": "apply", "mode": mode}}


def test_a_note_is_made_from_a_template(call: Calls, vault: VaultFolder) -> None:
    install(vault, template(folder={"enabled": True, "folders": ["People"]}, **NAMED))
    vault["Templates/T.md"] = "# {{TITLE}} in {{FOLDER}}\n{{DATE}} {{VALUE:job}}\n"
    done = trigger(call, title="Ada", job="maths")
    assert done == {
        "action_name": "it",
        "engine": "native",
        "created_paths": ["People/2026/Ada.md"],
        "modified_paths": [],
    }
    assert vault["People/2026/Ada.md"] == "# Ada in People/2026\n2026-03-05 maths\n"


def test_without_a_format_the_name_is_the_value(call: Calls, vault: VaultFolder) -> None:
    install(vault, template(path="Templates/T"))
    vault["Templates/T.md"] = "{{VALUE}}"
    assert trigger(call, value="My note")["created_paths"] == ["My note.md"]
    assert vault["My note.md"] == "My note"


@pytest.mark.parametrize(
    ("app", "folder", "path"),
    [
        ("{}", {}, "N.md"),
        ('{"newFileLocation": "folder", "newFileFolderPath": "Inbox"}', {}, "Inbox/N.md"),
        ('{"newFileLocation": "current"}', {}, "Open/N.md"),
        ("{}", {"enabled": True, "createInSameFolderAsActiveFile": True}, "Open/N.md"),
        ("{}", {"enabled": True, "folders": ["A/{{DATE:YYYY}}"]}, "A/2026/N.md"),
        ("{}", {"enabled": True, "folders": ["A", "B"]}, "B/N.md"),
        ("{}", {"enabled": True, "folders": ["A"], "chooseFromSubfolders": True}, "A/Sub/N.md"),
        ("{}", {"enabled": True, "folders": [], "chooseWhenCreatingNote": True}, "A/Sub/N.md"),
    ],
)
def test_the_folder_is_the_one_of_the_settings_or_of_the_caller(
    call: Calls, vault: VaultFolder, app: str, folder: dict[str, Any], path: str
) -> None:
    vault[".obsidian/app.json"], vault["A/Sub/x.md"], vault["Open/O.md"] = app, "", ""
    vault["Templates/T.md"] = "x"
    install(vault, template(folder=folder))
    chosen = path.rpartition("/")[0]
    assert trigger(call, value="N", active_file="Open/O.md", folder=chosen)["created_paths"] == [path]


def test_a_folder_that_is_not_clear_is_asked_for(call: Calls, vault: VaultFolder) -> None:
    vault["Templates/T.md"] = "x"
    install(vault, template(folder={"enabled": True, "folders": ["A", "B"]}))
    error = refused(call, vault, value="N")
    assert error.details["required"] == [
        {"name": "folder", "about": "the folder of the new note", "options": ["A", "B"]}
    ]
    assert "'C' is not one of the options" in refused(call, vault, value="N", folder="C").message


@pytest.mark.parametrize(
    ("settings", "path", "text"),
    [
        (applied("appendBottom"), "N1.md", "---\na: 1\n---\nold\nnew\n"),
        (applied("appendTop"), "N1.md", "---\na: 1\n---\nnew\nold\n"),
        (applied("overwrite"), "N1.md", "new"),
        (applied("increment"), "N2.md", "new"),
        (applied("duplicateSuffix"), "N1 (1).md", "new"),
        (
            {
                "fileExistsBehavior": None,
                "setFileExistsBehavior": True,
                "fileExistsMode": "Increment the file name",
            },
            "N2.md",
            "new",
        ),
        (
            {
                "fileExistsBehavior": None,
                "setFileExistsBehavior": True,
                "fileExistsMode": "Overwrite the file",
            },
            "N1.md",
            "new",
        ),
        (
            {
                "fileExistsBehavior": None,
                "setFileExistsBehavior": True,
                "fileExistsMode": "Append to the bottom of the file",
            },
            "N1.md",
            "---\na: 1\n---\nold\nnew\n",
        ),
        ({"fileExistsBehavior": None, "incrementFileName": True}, "N2.md", "new"),
    ],
)
def test_a_note_that_is_there_is_treated_as_the_choice_says(
    call: Calls, vault: VaultFolder, settings: dict[str, Any], path: str, text: str
) -> None:
    vault["Templates/T.md"], vault["N1.md"] = "new", "---\na: 1\n---\nold\n"
    install(vault, template(**settings))
    done = trigger(call, value="N1")
    assert vault[path] == text
    assert (done["created_paths"], done["modified_paths"]) == (
        ([], [path]) if path == "N1.md" else ([path], [])
    )
    if path != "N1.md":
        assert vault["N1.md"] == "---\na: 1\n---\nold\n"


@pytest.mark.parametrize(
    ("taken", "path"),
    [
        (["N.md"], "N1.md"),
        (["N.md", "N1.md", "N2.md"], "N3.md"),
        (["N09.md"], "N10.md"),
        (["N099.md"], "N100.md"),
    ],
)
def test_numbers_rise_until_a_name_is_free(
    call: Calls, vault: VaultFolder, taken: list[str], path: str
) -> None:
    vault["Templates/T.md"] = "new"
    for name in taken:
        vault[name] = "old"
    install(vault, template(**applied("increment")))
    assert trigger(call, value=taken[0].removesuffix(".md"))["created_paths"] == [path]


def test_nothing_is_done_where_the_choice_says_so(call: Calls, vault: VaultFolder) -> None:
    vault["Templates/T.md"], vault["N.md"] = "new", "old"
    install(vault, template(**applied("doNothing")))
    done = trigger(call, value="N")
    assert (done["created_paths"], done["modified_paths"], vault["N.md"]) == ([], [], "old")


def test_where_the_plugin_would_ask_the_caller_says(call: Calls, vault: VaultFolder) -> None:
    vault["Templates/T.md"], vault["N.md"] = "new", "old"
    install(vault, template())
    asked = refused(call, vault, value="N").details["required"]
    assert [(one["name"], one["options"][2]) for one in asked] == [("file_exists", "overwrite")]
    assert trigger(call, value="N", file_exists="overwrite")["modified_paths"] == ["N.md"]
    assert vault["N.md"] == "new"


@pytest.mark.parametrize(
    ("link", "settings", "text"),
    [
        (True, "{}", "a\n[[N]]\n"),
        ({"enabled": True, "placement": "newLine", "requireActiveFile": True}, "{}", "a\n[[N]]\n"),
        (True, '{"useMarkdownLinks": true}', "a\n[N](N.md)\n"),
        (True, '{"newLinkFormat": "absolute"}', "a\n[[In/N]]\n"),
    ],
)
def test_a_link_is_left_in_the_open_note(
    call: Calls, vault: VaultFolder, link: Any, settings: str, text: str
) -> None:
    vault["Templates/T.md"], vault["Open.md"], vault[".obsidian/app.json"] = "x", "a\n", settings
    install(vault, template(appendLink=link, folder={"enabled": True, "folders": ["In"]}))
    done = trigger(call, value="N", active_file="Open.md")
    assert (done["created_paths"], done["modified_paths"], vault["Open.md"]) == (
        ["In/N.md"],
        ["Open.md"],
        text,
    )


def test_a_link_that_may_be_left_out_needs_no_open_note(call: Calls, vault: VaultFolder) -> None:
    vault["Templates/T.md"] = "x"
    optional = {"enabled": True, "requireActiveFile": False}
    install(vault, template("may", appendLink=optional), template("must", appendLink=True))
    assert trigger(call, "may", value="N")["created_paths"] == ["N.md"]
    assert refused(call, vault, "must", value="M").details["required"][0]["name"] == "active_file"


def test_all_of_a_choice_happens_or_nothing(call: Calls, vault: VaultFolder) -> None:
    call.settings = {"acl": {"write_paths": ["In/**"]}}
    vault["Templates/T.md"], vault["Open.md"] = "x", "a\n"
    install(vault, template(appendLink=True, folder={"enabled": True, "folders": ["In"]}))
    assert refused(call, vault, value="N", active_file="Open.md").code == "acl_denied"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("../../out", "path_invalid"),
        ("", "invalid_input"),
        ("a\u0000b", "path_invalid"),
        ("x" * 3000, "path_invalid"),
    ],
)
def test_a_name_that_cannot_be_is_refused(call: Calls, vault: VaultFolder, value: str, code: str) -> None:
    vault["Templates/T.md"] = "x"
    install(vault, template())
    assert refused(call, vault, value=value).code == code


def test_a_template_that_is_not_there_is_said(call: Calls, vault: VaultFolder) -> None:
    install(vault, template(path="Templates/Gone.md"))
    assert refused(call, vault, value="N").code == "note_not_found"


def test_a_canvas_is_made_from_a_canvas(call: Calls, vault: VaultFolder) -> None:
    vault["Templates/B.canvas"] = '{"nodes": []}'
    install(vault, template(path="Templates/B.canvas"))
    assert trigger(call, value="N")["created_paths"] == ["N.canvas"]


def test_templaters_commands_run_but_none_that_a_value_brings(call: Calls, vault: VaultFolder) -> None:
    """With the templater domain beside it, as in a whole installation."""
    runtime = call.runtime(quickadd, pytest.importorskip("knapper_templater").templater)
    runtime.clock = THURSDAY.timestamp
    vault["Templates/T.md"] = (
        "<% tp.file.title %> {{VALUE:x}} <% tp.date.now() %> <% tp.system.prompt('Who') %>"
    )
    vault["Log.md"] = "old <% tp.file.title %>\n"
    whole = capture("whole", templater={"afterCapture": "wholeFile"})
    install(vault, template(), whole, capture("plain"), template("web", "Templates/Web.md"))
    vault["Templates/Web.md"] = "<% tp.web.daily_quote() %>"

    def run(name: str, **args: Any) -> dict[str, Any] | None:
        caller = Caller("test", LOCAL, authenticated=True, session="test")
        given = {"action_name": name, "args": args}
        for one in runtime.vaults:
            one.index.reconcile()
        first = runtime.call("trigger_quickadd", given, caller)
        if first.error is None or first.error["code"] != "elicit_required":
            return first.error
        runtime.approvals.approve(first.error["details"]["approval"])
        return runtime.call("trigger_quickadd", given, caller).error

    assert run("it", value="N", x="<% 1 + 1 %>", Who="Ada") is None
    assert vault["N.md"] == "N <% 1 + 1 %> 2026-03-05 Ada"
    assert run("plain", value="<% 2 %>") is None
    assert vault["Log.md"] == "<% 2 %>\nold <% tp.file.title %>\n"
    vault["Log.md"] = "old <% tp.file.title %>\n"
    assert run("whole", value="<% 3 %>") is None
    assert vault["Log.md"] == "<% 3 %>\nold Log\n"
    error = run("web", value="M")
    assert error is not None
    assert (error["code"], error["details"]["construct"]) == ("plugin_missing", "tp.web.daily_quote()")
