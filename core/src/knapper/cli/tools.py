"""`knapper tools`: every tool the installed plugins register, and what its description costs a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from knapper.cli._names import check
from knapper.cli._options import as_json, source
from knapper.cli._source import configured, found_plugins
from knapper.cli._terminal import print_json, table

if TYPE_CHECKING:
    from knapper.config.model import VisibilitySettings
    from knapper.domain import Tool
    from knapper.registry import Registry

BYTES_A_TOKEN = 4


@click.command("tools")
@source
@as_json
@click.option("--size", is_flag=True, help="Show how large each tool's entry in tools/list is.")
@click.option("--domain", help="Only the tools of this domain.")
@click.option("--strict", is_flag=True, help="Exit 1 where a plugin cannot be used.")
def command(path: str | None, as_json: bool, size: bool, domain: str | None, strict: bool) -> None:
    """List the tools, with the scopes each needs."""
    from knapper.config.model import VisibilitySettings
    from knapper.registry import Registry

    loaded = configured(path)
    settings = loaded.settings if loaded else None
    registry = Registry(found_plugins(settings, strict=strict or None))
    if domain is not None:
        check("domain", domain, registry.domains)
    rules = settings.tool_visibility if settings else VisibilitySettings()
    tools = [tool for _, tool in sorted(registry.tools.items()) if domain in (None, tool.domain.slug)]
    rows = [_row(registry, tool, rules) for tool in tools]
    if as_json:
        print_json(rows)
    elif size:
        _show_sizes(rows)
    else:
        _show(rows)


def _row(registry: Registry, tool: Tool, rules: VisibilitySettings) -> dict[str, Any]:
    from knapper.dispatch.visibility import verdict
    from knapper.server.facade import item, summary

    owner = registry.owner(tool)
    return {
        "name": tool.name,
        "domain": tool.domain.slug,
        "group": tool.domain.group,
        "summary": summary(tool),
        "scopes": list(tool.scopes),
        "rate": tool.rate,
        "mutating": tool.mutating,
        "destructive": tool.destructive,
        "confirm": tool.confirm,
        "repeat": tool.repeat,
        "tags": sorted(tool.tags),
        "visibility": verdict(tool, rules, None),
        "plugin": owner.name,
        "distribution": owner.distribution,
        "bytes": len(msgspec.json.encode(item(tool))),
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    table(
        ["domain", "tool", "scopes", "asks a person", "does"],
        [[r["domain"], r["name"], " ".join(r["scopes"]), _asks(r), r["summary"]] for r in rows],
    )
    hidden = sum(r["visibility"] != "listed" for r in rows)
    click.echo(f"{len(rows)} tools" + (f", {hidden} of them not shown to clients" if hidden else ""))


def _asks(row: dict[str, Any]) -> str:
    return "always" if row["destructive"] else str(row["confirm"])


def _show_sizes(rows: list[dict[str, Any]]) -> None:
    ordered = sorted(rows, key=lambda r: -r["bytes"])
    table(
        ["tool", "domain", "bytes", "tokens"],
        [[r["name"], r["domain"], r["bytes"], r["bytes"] // BYTES_A_TOKEN] for r in ordered],
        numbers=["bytes", "tokens"],
    )
    total = sum(r["bytes"] for r in rows)
    click.echo(f"{len(rows)} tools, {total} bytes, about {total // BYTES_A_TOKEN} tokens if all are listed")
