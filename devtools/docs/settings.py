"""The settings: a table a section, with type, default and meaning."""

from __future__ import annotations

import functools
import json
import types
import typing
from typing import Any, Literal, Union

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from devtools.docs.tables import table
from knapper.cli.checks.configuration import VARIABLES
from knapper.config.load import NAMED
from knapper.config.meanings import meaning
from knapper.config.model import Settings
from knapper.registry import Registry

WORDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    SecretStr: "secret",
}


def core() -> str:
    """Every section of the core's own settings."""
    found = nested(Settings)
    seen: dict[type[BaseModel], str] = {}
    parts = []
    for name, section in found.items():
        if section in seen:
            parts.append(f"### {name}\n\nThe same keys as `{seen[section]}`.")
        else:
            parts.append(_section(name or "At the top", section) + _given(name))
        seen.setdefault(section, name)
    return "\n\n".join(parts)


def _given(name: str) -> str:
    """What a table of sections holds where nothing is configured."""
    place, dot, _ = name.rpartition(".NAME")
    if not dot:
        return ""
    settings = Settings.model_validate({"vaults": [{"id": "any", "path": "."}]})
    held: dict[str, BaseModel] = functools.reduce(getattr, place.split("."), settings)  # type: ignore[arg-type]
    rows = [[f"`{key}`", *(f"{value:g}" for value in one.model_dump().values())] for key, one in held.items()]
    heads = ["by default", *(f"`{key}`" for one in list(held.values())[:1] for key in one.model_dump())]
    return f"\n\n{table(heads, rows)}" if rows else ""


def sections(registry: Registry) -> str:
    """The sections that domains bring."""
    owned = [(d.slug, d.settings) for _, d in sorted(registry.domains.items()) if d.settings is not None]
    return "\n\n".join(_section(slug, section) for slug, section in owned)


def variables() -> str:
    rows = [[f"`{name}`", text[0].upper() + text[1:]] for name, text in VARIABLES.items()]
    rows += [[f"`{name}`", f"Sets `{key}`"] for name, key in NAMED.items()]
    return table(["variable", "what it does"], sorted(rows))


def keys(section: type[BaseModel]) -> list[str]:
    """The settings of a section that are values; tables have a section of their own."""
    return [name for name, field in section.model_fields.items() if _inner(field.annotation) is None]


def nested(section: type[BaseModel], at: str = "") -> dict[str, type[BaseModel]]:
    """A section and those inside it, by their dotted names."""
    found = {at: section}
    for name, field in section.model_fields.items():
        inner = _inner(field.annotation)
        if inner is not None:
            found |= nested(inner, f"{at}.{name}".lstrip(".") + _suffix(field.annotation))
    return found


def _suffix(annotation: Any) -> str:
    return {list: "[]", dict: ".NAME"}.get(typing.get_origin(annotation), "")


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The section that a setting is, or is a list or a table of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((inner for one in typing.get_args(annotation) if (inner := _inner(one))), None)


def _section(title: str, section: type[BaseModel]) -> str:
    about = (section.__doc__ or "").strip() if section is not Settings else ""
    rows = [
        [f"`{name}`", _type(field.annotation), _default(field), meaning(section, name)]
        for name, field in section.model_fields.items()
        if name in keys(section)
    ]
    head = f"### {title}" + (f"\n\n{about}" if about else "")
    return head + ("\n\n" + table(["key", "type", "default", "meaning"], rows) if rows else "")


def _type(annotation: Any) -> str:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(args[0])
    if origin is Literal:
        return " or ".join(f"`{choice}`" for choice in args)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(one) for one in args if one is not type(None)))
    if origin in (list, tuple, set, frozenset):
        return f"list of {_type(args[0])}"
    if origin is dict or annotation is dict:
        return "table"
    return WORDS.get(annotation, "any value")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value is PydanticUndefined:
        return ""
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"
