"""What the page about the profile says is what the tools do."""

from __future__ import annotations

import re
from pathlib import Path

from knapper_obsidian.domain import REFUSALS, TIMEOUTS, obsidian

PAGE = Path(__file__).parents[2] / "docs" / "obsidian-profile.md"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def named(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


def test_it_has_every_tool_with_what_it_takes_and_gives() -> None:
    listed = {name.strip("`"): (named(takes), named(gives)) for name, takes, gives in rows("Tools")}
    assert listed == {
        name: (
            {p.wire for p in tool.signature.parameters} - {"vault", "idempotency_key"},
            set(tool.output_schema["properties"]["data"]["properties"]),
        )
        for name, tool in obsidian.tools.items()
    }


def test_it_has_every_number_and_name_of_an_error() -> None:
    listed = {(int(number), name) for number, names, _ in rows("Errors") for name in named(names)}
    published = {
        (refusal.number, refusal.name or code.upper()) for code, refusal in REFUSALS.items() if code != "*"
    }
    assert listed - {(-32000, "ELICIT_REQUIRED")} == published


def test_it_has_the_time_of_every_tool() -> None:
    assert {name.strip("`"): float(seconds) for name, seconds in rows("Time limits")} == TIMEOUTS
