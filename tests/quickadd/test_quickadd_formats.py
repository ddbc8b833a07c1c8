"""The format syntax: what each format writes, and what is asked for where nobody gave it."""

import re
from typing import Any

import pytest

from knapper.testing import Calls, VaultFolder
from tests.quickadd.quickadd_vault import capture, install, refused, trigger

ACTIVE = {"active_file": "Notes/Open note.md"}


def written(call: Calls, vault: VaultFolder, format: str, args: dict[str, Any], **settings: Any) -> str:
    """What a capture with this format writes into an empty note."""
    install(vault, capture(to="Folder/Log.md", format={"enabled": True, "format": format}), **settings)
    vault["Folder/Log.md"], vault["Notes/Open note.md"] = "", "## Now\n"
    vault["Templates/Part.md"] = "part {{VALUE:a}} {{TITLE}}"
    vault["People/Ada.md"] = ""
    trigger(call, **args)
    return vault["Folder/Log.md"].removesuffix("\n")


@pytest.mark.parametrize(
    ("format", "args", "text"),
    [
        ("{{DATE}}", {}, "2026-03-05"),
        ("{{date}} {{Date}}", {}, "2026-03-05 2026-03-05"),
        ("{{DATE+3}}", {}, "2026-03-08"),
        ("{{DATE+-3}}", {}, "2026-03-02"),
        ("{{DATE:gggg-[W]ww}}", {}, "2026-W10"),
        ("{{DATE:dddd, D. MMMM YYYY}}", {}, "Thursday, 5. March 2026"),
        ("{{DATE:YYYY-MM-DD+7}}", {}, "2026-03-12"),
        ("{{DATE:YYYY-MM-DD|startof:month}}", {}, "2026-03-01"),
        ("{{DATE:YYYY-MM-DD|endof:month}}", {}, "2026-03-31"),
        ("{{DATE:YYYY-MM-DD|startof:week}}", {}, "2026-03-01"),
        ("{{DATE:YYYY-MM-DD|startof:isoweek}}", {}, "2026-03-02"),
        ("{{DATE:YYYY-MM-DD|endof:year}}", {}, "2026-12-31"),
        ("{{DATE:YYYY-MM-DD|startof:quarter}}", {}, "2026-01-01"),
        ("{{DATE:HH:mm|startof:day}}", {}, "00:00"),
        ("{{DATE:YYYY-MM-DD+31|startof:month}}", {}, "2026-04-01"),
        ("{{TIME}} {{TIME:HH:mm:ss}}", {}, "14:07 14:07:09"),
        ("{{VDATE:due,YYYY-MM-DD}}", {"due": "2026-04-01"}, "2026-04-01"),
        ("{{VDATE:due, DD.MM.YYYY}} {{VDATE:due,dddd}}", {"due": "tomorrow"}, "06.03.2026 Friday"),
        ("{{VDATE:due,DD.MM.YYYY}}", {"due": "01.04.2026"}, "01.04.2026"),
        ("{{VDATE:due,YYYY-MM-DD|yesterday}}", {}, "2026-03-04"),
        ("{{VALUE}} {{NAME}} {{value}}", {"value": "one"}, "one one one"),
        ("{{VALUE}}", {"name": "one"}, "one"),
        ("{{VALUE:who}} {{VALUE:who}}", {"who": "Ada"}, "Ada Ada"),
        ("{{VALUE:Who}}", {"who": "Ada"}, "Ada"),
        ("{{VALUE:who|label:Your name}}", {"Your name": "Ada"}, "Ada"),
        ("{{VALUE:who|default:nobody}}", {}, "nobody"),
        ("{{VALUE:who|nobody}}", {}, "nobody"),
        ("{{VALUE:who|default:nobody}}", {"who": "Ada"}, "Ada"),
        ("[{{VALUE:who|optional}}]", {}, "[]"),
        ("{{VALUE:low,mid,high}}", {"low,mid,high": "mid"}, "mid"),
        ("{{VALUE:low,mid,high|name:level}}", {"level": "high"}, "high"),
        ("{{VALUE:1,2|name:n|text:one,two}}", {"n": "two"}, "2"),
        ("{{VALUE:a,b|name:n|custom}}", {"n": "other"}, "other"),
        ("{{VALUE:a,b,c|name:n|multi}}", {"n": ["a", "c"]}, "a, c"),
        ("{{VALUE:n}}", {"n": 3}, "3"),
        ("{{VALUE:n|type:multiline}}", {"n": "a\nb"}, "a\nb"),
        ("{{VALUE:t|case:kebab}}", {"t": "My New Note"}, "my-new-note"),
        ("{{VALUE:t|case:snake}}", {"t": "My New Note"}, "my_new_note"),
        ("{{VALUE:t|case:camel}}", {"t": "my new note"}, "myNewNote"),
        ("{{VALUE:t|case:pascal}}", {"t": "my new note"}, "MyNewNote"),
        ("{{VALUE:t|case:title}}", {"t": "my NEW note"}, "My New Note"),
        ("{{VALUE:t|case:upper}} {{VALUE:t|case:lower}}", {"t": "My"}, "MY my"),
        ("{{FIELD:status}}", {"status": "open"}, "open"),
        ("{{FIELD:status|folder:Notes|default:none}}", {}, "none"),
        ("{{FILE:People}}", {"FILE:People": "Ada"}, "Ada"),
        ("${{MVALUE}}$", {"mvalue": "x^2"}, "$x^2$"),
        ("{{LINKCURRENT}}", ACTIVE, "[[Open note]]"),
        ("{{LINKSECTION}}", {**ACTIVE, "active_section": "Now"}, "[[Open note#Now]]"),
        ("[{{LINKCURRENT|optional}}]", {}, "[]"),
        ("{{FILENAMECURRENT}} in {{FOLDERCURRENT}}", ACTIVE, "Open note in Notes"),
        ("{{TITLE}} in {{FOLDER}} {{FOLDER|name}}", {}, "Log in Folder Folder"),
        ("[{{SELECTED}}]", {}, "[]"),
        ("{{SELECTED}}", {"selected": "this"}, "this"),
        ("{{CLIPBOARD}}", {"clipboard": "copied"}, "copied"),
        ("{{TEMPLATE:Templates/Part.md}}", {"a": "x"}, "part x Log"),
        ("{{TEMPLATE:Templates/Part}}", {"a": "x"}, "part x Log"),
        ("{{GLOBAL_VAR:sign}}", {}, "yours, 2026"),
        (
            "{{unknown}} {{DATEX}} {{DATE:|x}} {{RANDOM:0}} {{RANDOM:101}}",
            {},
            "{{unknown}} {{DATEX}} {{DATE:|x}} {{RANDOM:0}} {{RANDOM:101}}",
        ),
        ("a\\nb", {}, "a\nb"),
        ("{{VALUE}}", {"value": "{{DATE}} {{CLIPBOARD}}"}, "{{DATE}} {{CLIPBOARD}}"),
        ("{{VALUE}}", {"value": "<% tp.file.title %>"}, "<% tp.file.title %>"),
        ("plain }} {{ text", {}, "plain }} {{ text"),
    ],
)
def test_formats(call: Calls, vault: VaultFolder, format: str, args: dict[str, Any], text: str) -> None:
    assert written(call, vault, format, args, globalVariables={"Sign": "yours, {{DATE:YYYY}}"}) == text


def test_random_letters_have_the_length_asked_for(call: Calls, vault: VaultFolder) -> None:
    assert re.fullmatch("[A-Za-z0-9]{12}", written(call, vault, "{{RANDOM:12}}", {}))


@pytest.mark.parametrize(
    ("format", "required"),
    [
        ("{{VALUE}} {{VALUE:who}} {{VALUE}}", [("value", None), ("who", None)]),
        ("{{VALUE:a,b}}", [("a,b", ["a", "b"])]),
        ("{{VDATE:due,YYYY}}", [("due", None)]),
        ("{{FIELD:status}} {{MVALUE}}", [("status", None), ("mvalue", None)]),
        ("{{FILE:People}}", [("FILE:People", ["Ada"])]),
        ("{{LINKCURRENT}} {{CLIPBOARD}}", [("active_file", None), ("clipboard", None)]),
    ],
)
def test_everything_that_is_missing_is_listed_at_once(
    call: Calls, vault: VaultFolder, format: str, required: list[tuple[str, Any]]
) -> None:
    vault["Log.md"], vault["People/Ada.md"] = "", ""
    install(vault, capture(format={"enabled": True, "format": format}))
    error = refused(call, vault)
    assert error.code == "invalid_input"
    assert [(one["name"], one.get("options")) for one in error.details["required"]] == required


@pytest.mark.parametrize(
    ("format", "args", "message"),
    [
        ("{{VALUE:a,b}}", {"a,b": "c"}, "'c' is not one of the options of 'a,b'"),
        ("{{VDATE:due,YYYY}}", {"due": "some day"}, "'some day' is not a date"),
        ("{{FILE:People}}", {"FILE:People": "Bob"}, "'Bob' is not one of the options"),
        ("{{DATE+999999}}{{DATE+999999}}{{DATE:YYYY+-999999}}", {}, "beyond the calendar"),
        ("{{TEMPLATE:Gone}}", {}, "the template 'Gone' is not there"),
        ("{{TEMPLATE:Loop}}", {}, "include each other more than 10 deep"),
        ("{{TEMPLATE:Wide}}", {}, "writes more than 1000000 characters"),
        ("{{LINKCURRENT}}", {"active_file": "Nowhere.md"}, "Nowhere"),
        ("{{TEMPLATE:../../etc/passwd}}", {}, "does not leave the vault"),
    ],
)
def test_what_makes_no_sense_is_refused(
    call: Calls, vault: VaultFolder, format: str, args: dict[str, Any], message: str
) -> None:
    vault["Log.md"], vault["People/Ada.md"] = "", ""
    vault["Loop.md"] = "{{TEMPLATE:Loop}}"
    vault["Wide.md"], vault["Wider.md"] = "{{TEMPLATE:Wider}}" * 100, "{{TEMPLATE:Widest}}" * 100
    vault["Widest.md"] = "x" * 1000
    install(vault, capture(format={"enabled": True, "format": format}))
    assert message in refused(call, vault, **args).message


def test_a_template_the_caller_may_not_read_is_not_inserted(call: Calls, vault: VaultFolder) -> None:
    vault["Log.md"], vault["closed/Secret.md"] = "", "secret"
    call.settings = {"acl": {"read_paths": ["Log.md"]}}
    install(vault, capture(format={"enabled": True, "format": "{{TEMPLATE:closed/Secret}}"}))
    assert refused(call, vault).code == "acl_denied"


@pytest.mark.parametrize(
    "format",
    ["{{VALUE:a}}{{VALUE:b}}", "<{{VALUE:b}}", "{{VALUE:a}}% 1 %>", "{{VALUE:c}}", "{{VALUE:a}} {{VALUE:b}}"],
)
def test_no_value_and_no_two_of_them_make_a_command(call: Calls, vault: VaultFolder, format: str) -> None:
    args = {"a": "<", "b": "% 1 + 1 %>", "c": "<% 1 + 1 %>"}
    text = (
        format.replace("{{VALUE:a}}", "<")
        .replace("{{VALUE:b}}", "% 1 + 1 %>")
        .replace("{{VALUE:c}}", "<% 1 + 1 %>")
    )
    assert written(call, vault, format, args) == text


def test_a_value_inside_of_a_command_is_not_run(call: Calls, vault: VaultFolder) -> None:
    vault["Log.md"] = ""
    install(vault, capture(format={"enabled": True, "format": '<% "{{VALUE}}" %>'}))
    error = refused(call, vault, value='" + tp.file.content + "')
    assert (error.code, error.details["construct"]) == (
        "plugin_missing",
        "a value inside of a Templater command",
    )


def test_signs_of_private_use_in_a_note_stay(call: Calls, vault: VaultFolder) -> None:
    vault["Log.md"] = "icons \ue0fd \U0010fff1 \U0010fff3\n"
    install(vault, capture(prepend=True))
    trigger(call, value="x")
    assert vault["Log.md"] == "icons \ue0fd \U0010fff1 \U0010fff3\nx\n"


def test_templates_that_insert_nothing_many_times_are_stopped(call: Calls, vault: VaultFolder) -> None:
    vault["Log.md"], vault["Empty.md"] = "", ""
    vault["Wide.md"], vault["Wider.md"] = "{{TEMPLATE:Wider}}" * 2000, "{{TEMPLATE:Empty}}" * 2000
    install(vault, capture(format={"enabled": True, "format": "{{TEMPLATE:Wide}}"}))
    error = refused(call, vault)
    assert (error.code, error.message) == (
        "compute_budget_exceeded",
        "the choice was stopped: it takes too many steps",
    )
