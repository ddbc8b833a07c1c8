"""`knapper plugins`: what is installed, what each hands over, and why one failed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from knapper.cli._options import as_json, source
from knapper.cli._source import found_plugins, usable
from knapper.cli._terminal import print_json, quiet, table
from knapper.errors import PluginError

if TYPE_CHECKING:
    from knapper.plugins import Plugin, Plugins


@click.command("plugins")
@source
@as_json
@click.option("--strict", is_flag=True, help="Stop at the first plugin that cannot be used, and exit 1.")
@click.option("--trace", is_flag=True, help="Show every hook call on stderr.")
def command(path: str | None, as_json: bool, strict: bool, trace: bool) -> int:
    """List the installed plugins, what each hands over, and why one failed."""
    loaded = usable(path)
    with quiet("knapper.plugins"):
        plugins = found_plugins(loaded.settings if loaded else None, strict=strict or None)
        if trace:
            plugins.trace(sys.stderr.write)
        handed, conflict = survey(plugins)
    rows = [_row(plugin, handed.get(plugin.name, [])) for plugin in plugins.all]
    if as_json:
        print_json(rows)
    else:
        _show(rows)
    if conflict:
        click.echo(f"knapper: {conflict}", err=True)
    return 1 if conflict else 0


def survey(plugins: Plugins) -> tuple[dict[str, list[str]], str]:
    """What each plugin handed over, and the clash that keeps them from being used together, if there is one."""
    from knapper.registry import Registry

    try:
        registry = Registry(plugins)
    except PluginError as error:
        if plugins.strict:
            raise
        return {}, str(error)
    found: dict[str, list[str]] = {}
    for what, plugin in registry.owners.items():
        found.setdefault(plugin.name, []).append(what)
    return found, ""


def _row(plugin: Plugin, handed: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "module": plugin.module,
        "state": plugin.state,
        "hooks": plugin.hooks,
        "provides": handed,
    }
    return row | ({"error": plugin.error} if plugin.error else {})


def _show(rows: list[dict[str, Any]]) -> None:
    if not rows:
        click.echo("No plugin is installed; the server has no tools. Try: pip install knapper-notes")
        return
    table(
        ["plugin", "distribution", "version", "state", "what"],
        [[r["name"], r["distribution"], r["version"], r["state"], _what(r)] for r in rows],
    )


def _what(row: dict[str, Any]) -> str:
    if row.get("error"):
        return str(row["error"])
    tools = sum(what.startswith("tool ") for what in row["provides"])
    other = [what for what in row["provides"] if not what.startswith(("tool ", "domain ", "service "))]
    parts = ([f"{tools} tool{'s' if tools > 1 else ''}"] if tools else []) + other
    return ", ".join(parts or row["hooks"])
