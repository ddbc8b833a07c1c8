"""The page about templates is true: each of its examples is run."""

import re
from datetime import datetime

import pytest

from devtools.members import ROOT
from knapper import ToolError
from knapper.testing import Calls, VaultFolder
from knapper_templater import templater

PAGE = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(.+?)` \| `(.*?)` \|$", re.MULTILINE)
ARGS = {"Name?": "Ada", "Sure?": "Yes", "clipboard": "copied"}
TARGET = "Notes/My note.md"


def rows(title: str) -> list[tuple[str, str]]:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found: list[tuple[str, str]] = ROW.findall(section)
    assert found
    return found


def prepare(call: Calls, vault: VaultFolder, template: str) -> dict[str, object]:
    block = re.search(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    vault[TARGET] = block[1]
    vault["Part.md"] = "part of <% tp.file.title %>"
    vault["T.md"] = template
    call.runtime(templater).clock = datetime(2026, 3, 5, 14, 7).timestamp
    return {"template": "T.md", "target": TARGET, "overwrite": True, "args": ARGS}


@pytest.mark.parametrize(("template", "text"), rows("What runs"))
def test_each_example_writes_what_the_page_says(
    call: Calls, vault: VaultFolder, template: str, text: str
) -> None:
    call.confirmed(templater, "execute_template", **prepare(call, vault, template))
    assert vault[TARGET] == text


@pytest.mark.parametrize(("template", "construct"), rows("What does not run"))
def test_each_refusal_names_what_the_page_says(
    call: Calls, vault: VaultFolder, template: str, construct: str
) -> None:
    with pytest.raises(ToolError) as refused:
        call(templater, "execute_template", **prepare(call, vault, template))
    assert (refused.value.code, refused.value.details["construct"]) == ("plugin_missing", construct)
