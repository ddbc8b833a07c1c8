"""Captures: where the text goes in the note."""

from typing import Any

import pytest

from knapper.testing import Calls, VaultFolder
from tests.quickadd.quickadd_vault import capture, install, refused, trigger

NOTE = "---\na: 1\n---\n# Log\n\nfirst\n\n## Inner\n\ndeep\n\n# Next\nlast\n"


def after(line: str, **rules: Any) -> dict[str, Any]:
    return {"insertAfter": {"enabled": True, "after": line, **rules}}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, NOTE.replace("# Log", "new\n# Log")),
        ({"prepend": True}, NOTE + "new\n"),
        ({"task": True}, NOTE.replace("# Log", "- [ ] new\n# Log")),
        ({"task": True, "prepend": True}, NOTE + "- [ ] new\n"),
        (
            {"format": {"enabled": True, "format": "- {{DATE:HH:mm}} {{VALUE}}\\n"}},
            NOTE.replace("# Log", "- 14:07 new\n# Log"),
        ),
        (after("# Log"), NOTE.replace("# Log\n", "# Log\nnew\n")),
        (after("# Log", blankLineAfterMatchMode="none"), NOTE.replace("# Log\n", "# Log\nnew\n")),
        (after("# Log", blankLineAfterMatchMode="auto"), NOTE.replace("first\n", "new\nfirst\n")),
        (after("first", blankLineAfterMatchMode="auto"), NOTE.replace("first\n", "first\nnew\n")),
        (after("first", blankLineAfterMatchMode="skip"), NOTE.replace("## Inner", "new\n## Inner")),
        (after("# Log", insertAtEnd=True), NOTE.replace("first\n", "first\nnew\n")),
        (after("# Log", insertAtEnd=True, considerSubsections=True), NOTE.replace("deep\n", "deep\nnew\n")),
        (after("## Inner", insertAtEnd=True), NOTE.replace("deep\n", "deep\nnew\n")),
        (after("first", insertAtEnd=True), NOTE.replace("first\n", "first\nnew\n")),
        (after("# Next", insertAtEnd=True), NOTE + "new\n"),
        (after("Inn"), NOTE.replace("## Inner\n", "## Inner\nnew\n")),
        (after("# {{VALUE:heading}}"), NOTE.replace("# Next\n", "# Next\nnew\n")),
        (
            after("# Gone", createIfNotFound=True, createIfNotFoundLocation="top"),
            NOTE.replace("# Log", "# Gone\nnew\n# Log"),
        ),
        (after("# Gone", createIfNotFound=True, createIfNotFoundLocation="bottom"), NOTE + "# Gone\nnew\n"),
        (after("first", inline=True), NOTE.replace("first", "firstnew")),
        (after("fir", inline=True), NOTE.replace("first", "firnewst")),
        (after("fir", inline=True, replaceExisting=True), NOTE.replace("first", "firnew")),
        ({"insertBefore": {"enabled": True, "before": "# Next"}}, NOTE.replace("# Next", "new\n# Next")),
        (
            {
                "insertBefore": {
                    "enabled": True,
                    "before": "# End",
                    "createIfNotFound": True,
                    "createIfNotFoundLocation": "bottom",
                }
            },
            NOTE + "new\n# End\n",
        ),
    ],
)
def test_a_capture_goes_where_the_choice_says(
    call: Calls, vault: VaultFolder, settings: dict[str, Any], text: str
) -> None:
    install(vault, capture(**settings))
    vault["Log.md"] = NOTE
    done = trigger(call, value="new", heading="Next")
    assert vault["Log.md"] == text
    assert done == {
        "action_name": "it",
        "engine": "native",
        "created_paths": [],
        "modified_paths": ["Log.md"],
    }


def test_an_exact_line_comes_before_one_that_only_holds_the_text(call: Calls, vault: VaultFolder) -> None:
    install(vault, capture(**after("# Log")))
    vault["Log.md"] = "## Logbook\n# Log\n"
    trigger(call, value="new")
    assert vault["Log.md"] == "## Logbook\n# Log\nnew\n"


def test_the_frontmatter_and_code_are_no_place_for_a_capture(call: Calls, vault: VaultFolder) -> None:
    install(vault, capture(**after("a: 1", insertAtEnd=True)))
    vault["Log.md"] = "---\na: 1\n---\na: 1\n```\n# no heading\n```\nend\n"
    trigger(call, value="new")
    assert vault["Log.md"] == "---\na: 1\n---\na: 1\n```\n# no heading\n```\nend\nnew\n"


def test_line_ends_and_a_missing_last_one_stay_as_they_are(call: Calls, vault: VaultFolder) -> None:
    install(vault, capture("top"), capture("bottom", prepend=True), capture("after", **after("b")))
    vault["Log.md"] = "a\r\nb\r\nc"
    for name in ("top", "bottom", "after"):
        trigger(call, name, value=name)
    assert vault.bytes("Log.md") == b"top\r\na\r\nb\r\nafter\r\nc\r\nbottom"


def test_a_missing_line_is_an_error_where_it_is_not_created(call: Calls, vault: VaultFolder) -> None:
    install(vault, capture(**after("# Gone")))
    vault["Log.md"] = NOTE
    error = refused(call, vault, value="x")
    assert (error.code, error.details["line"]) == ("invalid_input", "# Gone")


@pytest.mark.parametrize("where", ["cursor", "ordered"])
def test_a_line_created_at_the_cursor_needs_the_plugin(call: Calls, vault: VaultFolder, where: str) -> None:
    install(vault, capture(**after("# Gone", createIfNotFound=True, createIfNotFoundLocation=where)))
    vault["Log.md"] = NOTE
    error = refused(call, vault, value="x")
    assert (error.code, error.details["construct"]) == ("plugin_missing", f"creating a line at {where!r}")


def test_a_missing_note_is_created_only_where_the_choice_says_so(call: Calls, vault: VaultFolder) -> None:
    install(vault, capture("no"), capture("yes", "New/{{DATE}}", createFileIfItDoesntExist={"enabled": True}))
    assert refused(call, vault, "no", value="x").code == "note_not_found"
    done = trigger(call, "yes", value="new")
    assert (done["created_paths"], done["modified_paths"]) == (["New/2026-03-05.md"], [])
    assert vault["New/2026-03-05.md"] == "new\n"


def test_a_missing_note_is_created_from_a_template(call: Calls, vault: VaultFolder) -> None:
    create = {"enabled": True, "createWithTemplate": True, "template": "T.md"}
    install(vault, capture(createFileIfItDoesntExist=create, **after("# {{TITLE}}")))
    vault["T.md"] = "# {{TITLE}}\nsince {{DATE}}\n"
    trigger(call, value="new")
    assert vault["Log.md"] == "# Log\nnew\nsince 2026-03-05\n"


def test_the_open_note_is_the_one_the_caller_names(call: Calls, vault: VaultFolder) -> None:
    install(
        vault,
        capture("top", captureToActiveFile=True, activeFileWritePosition="top"),
        capture("bottom", captureToActiveFile=True, activeFileWritePosition="bottom"),
        capture("cursor", captureToActiveFile=True),
    )
    vault["Open.md"] = "a\n"
    assert refused(call, vault, "top", value="x").details["required"][0]["name"] == "active_file"
    trigger(call, "top", value="t", active_file="Open.md")
    trigger(call, "bottom", value="b", active_file="Open")
    assert vault["Open.md"] == "t\na\nb\n"
    assert (
        refused(call, vault, "cursor", value="x", active_file="Open.md").details["construct"]
        == "a capture at the cursor"
    )


def test_a_folder_or_a_tag_lets_the_caller_pick(call: Calls, vault: VaultFolder) -> None:
    create = {"enabled": True}
    install(vault, capture("folder", "Logs/", createFileIfItDoesntExist=create), capture("tag", "#log"))
    vault["Logs/A.md"], vault["Tagged.md"] = "", "#log/daily\n"
    asked = refused(call, vault, "folder", value="x").details["required"]
    assert asked == [{"name": "capture_to", "about": "a note in Logs", "options": ["Logs/A.md"]}]
    assert refused(call, vault, "tag", value="x").details["required"][0]["options"] == ["Tagged.md"]
    trigger(call, "folder", value="one", capture_to="A")
    trigger(call, "folder", value="two", capture_to="Logs/B.md")
    trigger(call, "tag", value="three", capture_to="Tagged.md")
    assert (vault["Logs/A.md"], vault["Logs/B.md"], vault["Tagged.md"]) == (
        "one\n",
        "two\n",
        "three\n#log/daily\n",
    )
    assert refused(call, vault, "folder", value="x", capture_to="Elsewhere/B.md").code == "invalid_input"
    assert refused(call, vault, "tag", value="x", capture_to="Logs/A.md").code == "invalid_input"


def test_a_capture_that_changes_nothing_says_so(call: Calls, vault: VaultFolder) -> None:
    install(vault, capture(format={"enabled": True, "format": "{{SELECTED}}"}))
    vault["Log.md"] = NOTE
    assert trigger(call)["modified_paths"] == []
    assert vault["Log.md"] == NOTE


@pytest.mark.parametrize(
    ("to", "code"),
    [
        ("../out", "path_invalid"),
        ("{{VALUE}}", "path_invalid"),
        (".obsidian/app", "acl_denied"),
        ("C:/out", "path_invalid"),
        ("closed/x", "acl_denied"),
    ],
)
def test_a_capture_stays_where_the_caller_may_write(
    call: Calls, vault: VaultFolder, to: str, code: str
) -> None:
    call.settings = {"acl": {"write_paths": ["open/**"]}}
    install(vault, capture(to=to, createFileIfItDoesntExist={"enabled": True}))
    assert refused(call, vault, value="../../etc/x").code == code
