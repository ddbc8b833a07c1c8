"""The tables of the page about security are what the code does."""

from __future__ import annotations

import re
import tomllib

import pytest

from devtools.members import ROOT
from knapper.caller import Caller
from knapper.config.load import PROFILES
from knapper.config.model import AclSettings, Settings
from knapper.dispatch.confirm import FLOORS
from knapper.dispatch.pipeline import GATES
from knapper.errors import CODES
from knapper.index.credentials import SHAPES
from knapper.vault.acl import Acl, Op
from tests.docs.snippets import blocks

PAGE = ROOT / "docs" / "security.md"
TEXT = PAGE.read_text(encoding="utf-8")


def table(heading: str, first: str) -> list[list[str]]:
    """The rows of the table under a heading whose first column has this title."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    start = next(place for place, row in enumerate(rows) if row[0] == first)
    found = []
    for row in rows[start + 2 :]:
        if len(row) != len(rows[start]):
            break
        found.append(row)
    return found


def code(cell: str) -> str:
    return cell.strip("`")


def test_the_gates_are_listed_in_their_order_each_once() -> None:
    listed = [code(row[0]) for row in table("What every call passes", "gate")]
    assert listed == list(dict.fromkeys(gate.__name__ for gate in GATES))


def test_every_code_that_a_gate_refuses_with_is_one() -> None:
    named = {
        name for row in table("What every call passes", "gate") for name in re.findall(r"`(\w+)`", row[1])
    }
    assert named <= set(CODES)
    assert len(named) > 12


@pytest.mark.parametrize(("granted", "needed", "enough"), table("Scopes", "granted"))
def test_scopes_cover_what_the_table_says(granted: str, needed: str, enough: str) -> None:
    assert Caller("x", frozenset({code(granted)})).may(code(needed)) is (enough == "yes")


def rules() -> Acl:
    (example,) = [block for block in blocks(PAGE) if block.file == "knapper.toml"]
    acl = AclSettings.model_validate(tomllib.loads(example.text)["vaults"][0]["acl"])
    scoped = [(rule.glob, rule.scopes) for rule in acl.rules]
    return Acl(
        acl.read_only, acl.read_paths, acl.write_paths, acl.delete_paths, acl.strict_read_default, scoped
    )


@pytest.mark.parametrize(("op", "path", "verdict"), table("Folder rules", "op"))
def test_folder_rules_decide_as_the_table_says(op: Op, path: str, verdict: str) -> None:
    found = rules().evaluate(op, code(path))
    if found.denied_by:
        assert verdict == f"denied by `{found.denied_by}`"
    else:
        scopes = "".join(f" with `{scope}`" for scope in found.required_scopes)
        assert verdict == f"allowed{scopes}"


def test_what_asks_on_every_call_is_named() -> None:
    section = TEXT.split("\n## Confirmation\n")[1]
    for scope in FLOORS:
        assert f"`{scope}`" in section
    assert "every `execute` scope" in section


def test_the_defaults_that_are_mentioned_are_the_defaults() -> None:
    settings = Settings.model_validate({"vaults": [{"id": "main", "path": "."}]})
    assert settings.elicit_ttl_seconds == 300
    assert settings.transports.http.host == "127.0.0.1"
    assert settings.auth.mode == "none"
    assert PROFILES["hardened"]["acl"]["strict_read_default"] is True


def test_every_shape_of_a_credential_is_described() -> None:
    assert [code(row[0]) for row in table("Credentials in notes", "kind")] == [s.name for s in SHAPES]
