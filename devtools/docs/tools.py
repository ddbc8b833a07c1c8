"""A page a domain: its tools, what each takes and returns, and under which policy it is called."""

from __future__ import annotations

import json
from typing import Any

from devtools.docs.tables import described, table
from knapper.dispatch.confirm import has_floor
from knapper.domain import Domain, Tool
from knapper.registry import Registry

NOTICE = "<!-- Written by `python3 dev.py docs`; change the docstrings instead. -->"
EXAMPLE = "On the example vault, with long texts and lists cut short; through `call_capability` the arguments go under `args`:"
REPEATS = {
    "pure": "changes nothing",
    "natural": "a second call changes nothing more",
    "keyed": "done once for each `idempotency_key`",
    "once": "a second call does it again",
}


def overview(registry: Registry) -> str:
    """The index of the pages."""
    count = len(registry.tools)
    return f"# Domains\n\n{NOTICE}\n\n{count} tools in {len(_with_tools(registry))} domains.\n\n{listing(registry, '')}\n"


def listing(registry: Registry, folder: str = "docs/domains/") -> str:
    """The domains in a table, each with its tools."""
    rows = [
        [
            f"[{slug}]({folder}{slug}.md)",
            f"`{_distribution(registry, domain)}`",
            domain.summary,
            ", ".join(f"`{name}`" for name in sorted(domain.tools)),
        ]
        for slug, domain in _with_tools(registry).items()
    ]
    return table(["domain", "distribution", "what it is for", "tools"], rows)


def page(registry: Registry, slug: str, example: str | None = None) -> str:
    domain = registry.domains[slug]
    install = f"```console\npip install knapper-core {_distribution(registry, domain)}\n```"
    parts = [f"# {slug}", NOTICE, domain.summary, install, *_settings(domain)]
    if example is not None:
        parts += ["## Example", EXAMPLE, example]
    parts += [_tool(tool) for _, tool in sorted(domain.tools.items())]
    for prompt in sorted(domain.prompts, key=lambda one: one.name):
        parts.append(f"## Prompt: {prompt.name}\n\n{prompt.description}")
    return "\n\n".join(parts) + "\n"


def _with_tools(registry: Registry) -> dict[str, Domain]:
    return {slug: domain for slug, domain in sorted(registry.domains.items()) if domain.tools}


def _distribution(registry: Registry, domain: Domain) -> str:
    return registry.owners[f"domain {domain.slug}"].distribution


def _settings(domain: Domain) -> list[str]:
    return (
        [f"Its settings are in [configuration](../configuration.md#{domain.slug})."]
        if domain.settings
        else []
    )


def _tool(tool: Tool) -> str:
    scopes = ", ".join(f"`{scope}`" for scope in tool.scopes) or "none"
    asks = "on every call" if has_floor(tool) else tool.confirm or "never"
    policy = f"Scopes: {scopes}. Class: {tool.rate}. Asks a person: {asks}. Repeated: {REPEATS[tool.repeat]}."
    if tool.reach:
        policy += f" Reaches: {tool.reach.rstrip('.')}."
    parts = [f"## {tool.name}", tool.description, policy]
    if parameters := _parameters(tool):
        parts.append(table(["parameter", "type", "default", "meaning"], parameters))
    parts.append(f"Returns {_returns(tool.output_schema)}.")
    return "\n\n".join(parts)


def _parameters(tool: Tool) -> list[list[str]]:
    schema = tool.input_schema
    required = schema.get("required", ())
    return [
        [
            f"`{name}`",
            described(field),
            "required" if name in required else _default(field),
            field.get("description", ""),
        ]
        for name, field in schema.get("properties", {}).items()
    ]


def _default(field: dict[str, Any]) -> str:
    return f"`{json.dumps(field['default'], ensure_ascii=False)}`" if "default" in field else ""


def _returns(schema: dict[str, Any]) -> str:
    properties = schema.get("properties", {})
    if list(properties) == ["result"]:
        return described(properties["result"])
    return described(schema)
