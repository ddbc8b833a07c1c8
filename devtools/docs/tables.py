"""Markdown tables, and types as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows under their heads."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def described(schema: dict[str, Any]) -> str:
    """A JSON Schema in a few words."""
    if "enum" in schema:
        return " or ".join(f"`{choice}`" for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(described(option) for option in schema["anyOf"])
    kind = schema.get("type")
    if kind == "array":
        return f"list of {described(schema.get('items', {}))}"
    if kind == "object":
        return _fields(schema)
    words = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "true or false",
        "null": "null",
    }
    return words.get(str(kind), "any value") + _limits(schema)


def _fields(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    names = [name if name in required else f"{name}?" for name in schema.get("properties", {})]
    return f"object with {', '.join(f'`{name}`' for name in names)}" if names else "object"


def _limits(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" from {low}"
    return f" to {high}" if high is not None else ""
