"""What every tool must have, and what no client may be sent: for our own tools and everybody's."""

from __future__ import annotations

from typing import Any

import pytest

from knapper import Context, Domain
from knapper.domain import Tool
from knapper.lint import REJECTED, problems
from knapper.plugins import Plugins
from knapper.registry import Registry
from knapper.testing import check_domain

REGISTRY = Registry(Plugins.discover())


@pytest.mark.parametrize("tool", REGISTRY.tools.values(), ids=lambda tool: str(tool.name))
def test_every_registered_tool_can_be_sent_to_every_client(tool: Tool) -> None:
    assert [p for p in problems(tool.domain) if f"tool {tool.name!r}" in p] == []
    for schema in (tool.input_schema, tool.output_schema):
        assert schema["type"] == "object"
        assert keywords(schema).isdisjoint(REJECTED)


def test_a_domain_that_lacks_things_is_told_all_of_them() -> None:
    bare = Domain("bare", summary="")

    @bare.tool("look:notes", vault=False)
    def glance(ctx: Context, anything):  # type: ignore[no-untyped-def]
        """Glance."""

    @bare.tool("write:notes", vault=False)
    def scribble(ctx: Context, text: str) -> None:
        """Scribble."""

    found = "\n".join(problems(bare))
    assert "domain 'bare' has no summary: say in a sentence what it is for" in found
    assert "tool 'glance': scope 'look:notes' is not family:resource with a known family" in found
    assert (
        "tool 'glance': its return type is missing: annotate it, clients get it as the output schema" in found
    )
    assert "tool 'scribble': it changes something but takes no vault: drop vault=False" in found


def test_check_domain_fails_with_what_to_add() -> None:
    with pytest.raises(pytest.fail.Exception, match="say in a sentence what it is for"):
        check_domain(Domain("bare", summary=""))


def keywords(schema: Any) -> set[str]:
    """Every JSON Schema keyword used, not the names of properties."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema)) if schema else set()
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for name, value in schema.items():
        if name == "properties":
            found |= set().union(*(keywords(field) for field in value.values())) if value else set()
        elif name not in ("default", "enum", "required", "examples"):
            found |= keywords(value)
    return found
