"""Choices as the plugin's settings have them: listed, found, run only with a person's word."""

from typing import Any

import pytest

from knapper import ToolError
from knapper.testing import Calls, VaultFolder, check_domain
from knapper_quickadd import quickadd
from tests.quickadd.quickadd_vault import DATA, capture, choice, install, refused, template, trigger


def test_every_choice_is_listed_those_inside_of_multis_too(call: Calls, vault: VaultFolder) -> None:
    install(
        vault,
        template("New person", "Templates/Person.md"),
        choice(
            "Multi",
            "More",
            choices=[
                capture("Log", "Log.md"),
                choice("Multi", "Deep", choices=[choice("Macro", "Run")]),
                capture("Same"),
            ],
        ),
        choice("Multi", "Empty"),
        capture("Same", captureToActiveFile=True),
        {"name": "odd", "type": "Unknown"},
        {"type": "Capture"},
        "nonsense",
    )
    assert call(quickadd, "list_quickadd_actions") == {
        "items": [
            {
                "name": "New person",
                "type": "template",
                "description": "from the template 'Templates/Person.md'",
            },
            {"name": "More", "type": "multi"},
            {"name": "Log", "type": "capture", "description": "into 'Log.md', in More"},
            {"name": "Deep", "type": "multi", "description": "in More"},
            {"name": "Run", "type": "macro", "description": "in More/Deep"},
            {"name": "More/Same", "type": "capture", "description": "into 'Log.md', in More"},
            {"name": "Empty", "type": "multi"},
            {"name": "Same", "type": "capture", "description": "into the note that is open"},
        ]
    }


@pytest.mark.parametrize(
    "data", [None, "{}", "broken", "[]", "[" * 100_000, '{"choices": 5}', '{"choices": null}']
)
def test_without_choices_the_list_is_empty(call: Calls, vault: VaultFolder, data: str | None) -> None:
    if data is not None:
        vault[DATA] = data
    assert call(quickadd, "list_quickadd_actions") == {"items": []}


def test_a_choice_is_found_by_name_full_name_and_id(call: Calls, vault: VaultFolder) -> None:
    inner = {**capture("Same", prepend=True), "id": "inner"}
    install(vault, choice("Multi", "More", choices=[inner]), {**capture("Same", prepend=True), "id": "outer"})
    vault["Log.md"] = ""
    for name in ("More/Same", "inner", "outer"):
        assert trigger(call, name, value=name)["modified_paths"] == ["Log.md"]
    assert vault["Log.md"] == "More/Same\ninner\nouter\n"


def test_a_name_of_none_or_several_is_refused_with_candidates(call: Calls, vault: VaultFolder) -> None:
    install(vault, choice("Multi", "A", choices=[capture("x")]), choice("Multi", "B", choices=[capture("x")]))
    error = refused(call, vault, "nothing")
    assert (error.code, error.message) == ("invalid_input", "QuickAdd has no choice named 'nothing'")
    assert error.details["candidates"] == ["A", "A/x", "B", "B/x"]
    assert refused(call, vault, "x").details["candidates"] == ["A/x", "B/x"]


def test_a_multi_is_no_choice_to_run(call: Calls, vault: VaultFolder) -> None:
    install(vault, choice("Multi", "More", choices=[capture("a"), capture("b")]))
    error = refused(call, vault, "More")
    assert (error.code, error.details["candidates"]) == ("invalid_input", ["a", "b"])


def test_every_run_asks_a_person(call: Calls, vault: VaultFolder) -> None:
    install(vault, capture())
    vault["Log.md"] = "old\n"
    with pytest.raises(ToolError) as asked:
        call(quickadd, "trigger_quickadd", action_name="it", args={"value": "x"})
    assert (asked.value.code, vault["Log.md"]) == ("elicit_required", "old\n")


@pytest.mark.parametrize(
    ("settings", "construct"),
    [
        (choice("Macro", "it", macro={"commands": []}), "the macro 'it'"),
        (capture(format={"enabled": True, "format": "{{MACRO:fetch}}"}), "the macro 'fetch'"),
        (
            capture(format={"enabled": True, "format": "```js quickadd\nreturn 1\n```"}),
            "inline JavaScript (js quickadd)",
        ),
        (capture(newLineCapture={"enabled": True, "direction": "above"}), "a capture at the cursor"),
        (capture(to="Board.canvas"), "a capture into 'Board.canvas'"),
        (template(path="Templates/Script.md"), "inline JavaScript (js quickadd)"),
        (template(path="Templates/Templater.md"), "Templater's commands"),
    ],
)
def test_what_needs_the_plugin_is_named(
    call: Calls, vault: VaultFolder, settings: dict[str, Any], construct: str
) -> None:
    install(vault, settings)
    vault["Log.md"], vault["Board.canvas"] = "", "{}"
    vault["Templates/Script.md"] = "text\n```js quickadd\nreturn 1\n```\n"
    vault["Templates/Templater.md"] = "<% tp.file.title %>"
    error = refused(call, vault, value="x")
    assert (error.code, error.details["construct"]) == ("plugin_missing", construct)
    assert f"'it' needs the QuickAdd plugin in a running Obsidian for {construct}" in error.message


def test_the_domain_has_what_every_domain_needs() -> None:
    check_domain(quickadd)
