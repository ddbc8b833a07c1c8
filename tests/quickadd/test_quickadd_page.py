"""What the page about templates says of QuickAdd is true: each of its formats is run."""

import json
import re

import pytest

from devtools.members import ROOT
from knapper.testing import Calls, VaultFolder
from tests.quickadd.quickadd_vault import capture, install, trigger

PAGE = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## QuickAdd\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `(.+?)` \| `(\{.*?\})` \| `(.*?)` \|$", SECTION, re.MULTILINE)


def test_the_page_has_examples() -> None:
    assert len(ROWS) == SECTION.count("\n| `{{")


@pytest.mark.parametrize(("format", "args", "text"), ROWS)
def test_each_format_writes_what_the_page_says(
    call: Calls, vault: VaultFolder, format: str, args: str, text: str
) -> None:
    source = format.replace("\\|", "|")  # a bar in a table is escaped
    install(
        vault,
        capture(format={"enabled": True, "format": source}),
        globalVariables={"greeting": "hello in {{DATE:YYYY}}"},
    )
    vault["Log.md"], vault["Notes/Open.md"] = "", "## Now\n"
    trigger(call, **json.loads(args))
    assert vault["Log.md"] == f"{text}\n"
