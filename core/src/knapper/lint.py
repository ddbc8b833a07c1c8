"""What every tool must have, and what no client may be sent: one list of rules for our own tools and everybody's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knapper.domain import Domain, Tool

SCOPE = re.compile(r"(read|write|delete|execute|admin|bulk):[a-z][a-z0-9_-]*")
REJECTED = (
    "$ref",
    "$defs",
    "oneOf",
    "allOf",
    "not",
    "patternProperties",
    "if",
    "then",
    "else",
    "const",
    "prefixItems",
)
PATHS = re.compile(r"(^|_)(path|paths|from|to|folder|root)$")


def problems(domain: Domain) -> list[str]:
    """Everything a domain should mend, each as a sentence that says what to add."""
    found = []
    if not domain.summary:
        found.append(f"domain {domain.slug!r} has no summary: say in a sentence what it is for")
    for tool in domain.tools.values():
        found += [f"tool {tool.name!r}: {problem}" for problem in tool_problems(tool)]
    return found


def tool_problems(tool: Tool) -> Iterator[str]:
    """Everything a tool should mend."""
    first = tool.description.splitlines()[0]
    if len(first) > 160:
        yield "the first sentence of its docstring is over 160 characters: say it shorter, add the rest below"
    for scope in tool.scopes:
        if not SCOPE.fullmatch(scope):
            yield f"scope {scope!r} is not family:resource with a known family"
    if tool.mutating and tool.vault is False and not tool.home:
        yield "it changes something but takes no vault: drop vault=False"
    if tool.mutating and not tool.reach and not any(a.op != "read" for a in tool.signature.accesses):
        yield (
            "it changes something, but no parameter is a WritePath or DeletePath: type its paths so, or say with"
            " reach='…' what it changes"
        )
    for model in tool.signature.models:
        if not model.__struct_config__.forbid_unknown_fields:
            yield f"{model.__name__} in its parameters lets unknown keys pass: add forbid_unknown_fields=True"
    if tool.signature.returns is None:
        yield "its return type is missing: annotate it, clients get it as the output schema"
    if "kwargs" in tool.fn.__code__.co_varnames[: tool.fn.__code__.co_argcount]:
        yield "it takes **kwargs: name every parameter"
    yield from _schema(tool.input_schema, "input schema")


def _schema(node: Any, where: str, *, top: bool = True) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _schema(item, where, top=False)
        return
    if not isinstance(node, dict):
        return
    for key in REJECTED:
        if key in node:
            yield f"its {where} uses {key!r}, which some clients reject"
    if top and "anyOf" in node:
        yield f"its {where} has anyOf at the top, which some clients reject"
    if "enum" in node and "type" not in node:
        yield f"its {where} has an enum without a type, which some clients reject: use choices of one type"
    if isinstance(node.get("type"), list):
        yield f"its {where} has a list of types, which some clients reject"
    for name, value in node.items():
        if name == "properties":
            for field in value.values():
                yield from _schema(field, where, top=False)
        elif name not in ("default", "enum", "required", "description"):
            yield from _schema(value, where, top=False)
