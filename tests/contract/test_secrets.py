"""What nobody may see is in no answer and in no error, whatever is asked of any tool."""

from __future__ import annotations

from typing import Any

import pytest

from knapper.domain import Tool
from knapper.touches import Access
from tests.contract.surface import ALICE, SECRET, Server, arguments, tools, usual_paths

EVERY = pytest.mark.parametrize("tool", tools().values(), ids=list(tools()))
# Beginnings of the secret, so that a tool that repeats what it was asked is not taken for one that leaks.
ASKED = (
    "XSECRET",
    "xsecret7f",
    "Private",
    "Private/secret",
    "Private/XSECRET",
    "fern",
    "*",
    "plant",
    "green",
    ".",
)
ODD = (
    "",
    " ",
    "\u0000",
    "\ud83d\ude00",
    "../..",
    "[[",
    "((((",
    "{{",
    "a" * 300,
    "-1",
    "1e999",
    "2024-05-02",
    "\\",
)


def everything_said(outcome: Any) -> str:
    return repr((outcome.payload, outcome.error, outcome.attachments))


def questions(tool: Tool) -> list[dict[str, Any]]:
    usual = usual_paths(tool)

    def present(access: Access) -> str:
        return usual(access._replace(op="read"))

    asked = [arguments(tool, present, text, whole=whole) for text in ASKED for whole in (False, True)]
    for text in ASKED:
        whole = arguments(tool, present, text, whole=True)
        needed = arguments(tool, present, text)
        asked += [{**needed, name: value} for name, value in whole.items() if name not in needed]
    return asked


@EVERY
def test_no_answer_holds_what_the_folder_rules_keep_back(fenced: Server, tool: Tool) -> None:
    for given in questions(tool):
        outcome = fenced.call(tool.name, given, ask=lambda question: True)
        said = everything_said(outcome)
        assert SECRET not in said, given
        assert str(fenced.folder.parent) not in said, given


@EVERY
def test_no_error_holds_a_notes_text_or_the_place_of_the_vault(server: Server, tool: Tool) -> None:
    """Nothing is kept back here, so only errors are looked at; the paths that were given are the caller's own."""
    usual = usual_paths(tool)
    for text in (*ODD, *ASKED):
        for paths in (usual, lambda access: "Private/secret.md", lambda access: "Private"):
            for whole in (False, True):
                given = arguments(tool, paths, text, whole=whole)
                error = repr(server.call(tool.name, given, ALICE).error)
                assert "XSECRET7f3aX body" not in error, given
                assert "XSECRET7f3aXvalue" not in error, given
                assert str(server.folder.parent) not in error, given


@EVERY
def test_no_argument_of_the_right_type_makes_it_fail_inside(server: Server, tool: Tool) -> None:
    if tool.name == "fail_inside":
        return
    for text in (*ODD, *ASKED):
        for whole in (False, True):
            outcome = server.call(tool.name, arguments(tool, None, text, whole=whole))
            assert outcome.error is None or outcome.error["code"] != "internal", (text, whole)
