"""`knapper doctor`: what is wrong here, and how to mend it. It works with no vault and with every plugin broken."""

from __future__ import annotations

from typing import Any

import click

from knapper.cli._options import as_json, source
from knapper.cli._terminal import console, print_json, quiet
from knapper.cli.checks import access, clients, configuration, machine, plugins, stores, vaults
from knapper.cli.checks.report import Check, report
from knapper.cli.checks.subject import Subject

CHECKS: dict[str, Check] = {
    id: check
    for module in (access, clients, configuration, machine, plugins, stores, vaults)
    for id, check in module.CHECKS.items()
}
GLYPHS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "fail": ("✗", "red")}


@click.command("doctor")
@source
@as_json
@click.option("--fix", is_flag=True, help="Mend what can be mended without harm.")
@click.option("--probe", is_flag=True, help="Also check every page of the databases, and embed a word.")
@click.option("--token", help="A bearer token, to look at its dates.")
@click.option("--verbose", "-v", is_flag=True, help="Show the details of every check.")
def command(path: str | None, as_json: bool, fix: bool, probe: bool, token: str | None, verbose: bool) -> int:
    """Examine this installation; exits 1 where something does not work."""
    with quiet("knapper"):
        found = report(CHECKS, Subject(path, fix=fix, probe=probe, token=token))
    if as_json:
        print_json(found)
    else:
        _show(found, verbose)
    return 1 if found["overallStatus"] == "fail" else 0


def _show(found: dict[str, Any], verbose: bool) -> None:
    from rich.text import Text

    shown = console()

    def line(text: str, style: str = "") -> None:
        shown.print(Text(text, style=style), soft_wrap=True)

    for id, check in found["checks"].items():
        glyph, colour = GLYPHS[check["status"]]
        line(f"{glyph} {id:22} {check['summary']}", colour if check["status"] != "ok" else "")
        for issue in check["issues"]:
            if issue != check["summary"]:
                line(f"    {issue}")
        if check.get("remediation"):
            line(f"    → {check['remediation']}")
        if verbose:
            for name, value in check["details"].items():
                line(f"    {name}: {', '.join(value) if isinstance(value, list) else value}", "dim")
        for note in check["notes"]:
            if verbose or note.startswith("fixed"):
                line(f"    {note}", "dim")
    line(f"overall: {found['overallStatus']}")
