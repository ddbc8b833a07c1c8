"""Why a value does not fit its type, in words that say what would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

MOST_CHOICES = 20
FORMS = {r"^\d{4}-\d{2}-\d{2}$": "YYYY-MM-DD"}
STEP = re.compile(r"\.(\w+)|\[(?:\d+|\.\.\.)\]")


def told(error: msgspec.ValidationError, type_: Any) -> str:
    """The library's sentence, with the values there are to choose from, and a form instead of a known pattern."""
    text, _, place = str(error).partition(" - at ")
    for pattern, form in FORMS.items():
        text = text.replace(f"matching regex {pattern!r}", f"of the form {form}")
    if text.startswith("Invalid enum value"):
        choices = _choices(type_, place)
        if 0 < len(choices) <= MOST_CHOICES:
            text += f", expected one of {', '.join(map(repr, choices))}"
    elif text.startswith("Expected `object") and (fields := _fields(type_, place)):
        text += f"; its fields are {', '.join(fields)}"
    return (f"{text} - at {place}" if place else text).replace("`", "'")


def _choices(type_: Any, place: str) -> list[Any]:
    """The values allowed at a place; none where it is a key and no value."""
    return [value for node in _nodes(type_, place) for value in _values(node)]


def _fields(type_: Any, place: str) -> list[str]:
    """The names of what an object at a place is made of."""
    structs = [node for node in _nodes(type_, place) if isinstance(node, inspect.StructType)]
    return [field.encode_name for struct in structs for field in struct.fields]


def _nodes(type_: Any, place: str) -> list[inspect.Type]:
    """What the type says of a place such as `$.moves[0].kind`; nothing of a key."""
    if " in " in place:
        return []
    nodes = list(_plain(inspect.type_info(type_)))
    for step in STEP.finditer(place):
        nodes = [plain for node in nodes for inner in _inside(node, step[1]) for plain in _plain(inner)]
    return nodes


def _plain(node: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(node, inspect.Metadata):
        yield from _plain(node.type)
    elif isinstance(node, inspect.UnionType):
        for one in node.types:
            yield from _plain(one)
    else:
        yield node


def _inside(node: inspect.Type, field: str | None) -> Iterator[inspect.Type]:
    if isinstance(node, inspect.StructType):
        yield from (one.type for one in node.fields if one.encode_name == field)
    elif isinstance(node, inspect.CollectionType):
        yield node.item_type
    elif isinstance(node, inspect.DictType):
        yield node.value_type


def _values(node: inspect.Type) -> Iterator[Any]:
    if isinstance(node, inspect.LiteralType):
        yield from node.values
    elif isinstance(node, inspect.EnumType):
        yield from (member.value for member in node.cls)
