"""JSON Schema that every client accepts: self-contained, no references, no union at the top."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec


def of_parameters(model: Any) -> dict[str, Any]:
    """The input schema of a tool: an object, optional parameters without null."""
    schema = _inline(model)
    for field in schema.get("properties", {}).values():
        _drop_null(field)
    schema["additionalProperties"] = False
    return schema


def of_result(returns: Any, terse: Collection[str] = ()) -> dict[str, Any]:
    """The output schema of a tool; a result that is not an object is wrapped as `result`.

    Of a page's items only what a terse answer keeps is required.
    """
    schema = _inline(returns)
    if terse:
        item = schema["properties"]["items"]["items"]
        item["required"] = [name for name in item.get("required", ()) if name in terse]
    if schema.get("type") == "object":
        return schema
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def is_object(returns: Any) -> bool:
    """Whether a result of this type is sent as it is."""
    return _inline(returns).get("type") == "object"


def _inline(annotation: Any) -> dict[str, Any]:
    (schema,), components = msgspec.json.schema_components([annotation], ref_template="{name}")
    expanded = _expand(schema, components, ())
    assert isinstance(expanded, dict)
    return expanded


def _expand(node: Any, components: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_expand(item, components, inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"]
        if name in inside:  # a recursive record: any object from here on
            return {"type": "object"}
        rest = {k: v for k, v in node.items() if k != "$ref"}
        return {**_expand(components[name], components, (*inside, name)), **rest}
    out = {}
    for key, value in node.items():
        if key == "title" and isinstance(value, str):
            continue
        if key == "default" and value in (None, [], {}):
            continue
        if key == "properties":
            value = {
                name: _optional(_expand(field, components, inside), name, node)
                for name, field in value.items()
            }
        else:
            value = _expand(value, components, inside)
        out[key] = value
    if out.get("required") == []:
        del out["required"]
    if "type" not in out and all(isinstance(value, str) for value in out.get("enum", [0])):
        out["type"] = "string"  # some clients refuse a choice that does not say what it is a choice of
    return out


def _optional(field: dict[str, Any], name: str, owner: dict[str, Any]) -> dict[str, Any]:
    """A field that may be absent says so by being absent, never by null."""
    if name not in owner.get("required", ()):
        _drop_null(field)
    return field


def _drop_null(field: dict[str, Any]) -> None:
    options = field.get("anyOf")
    if not options:
        return
    kept = [o for o in options if o.get("type") != "null"]
    if len(kept) == 1:
        del field["anyOf"]
        for key, value in kept[0].items():
            field.setdefault(key, value)
    else:
        field["anyOf"] = kept
