"""Tools that look at the properties of all notes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from knapper import Context, Doc, Page, Record, ToolError
from knapper.index.queries.properties import PropertyFilter
from knapper_properties.domain import properties

Op = Literal["eq", "neq", "gt", "gte", "lt", "lte", "in", "nin", "contains", "exists", "absent"]


class PropertyUse(Record):
    key: str
    types: list[str]
    note_count: int
    sample_values: list[Any]


@properties.tool("read:notes", words="metadata yaml keys fields attributes used")
def list_properties(
    ctx: Context,
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    sample_size: Annotated[int, Doc("How many values to show of each.", ge=0, le=50)] = 5,
    page: Page = Page(),
) -> Page.Of[PropertyUse]:
    """List the properties in use, with their types, how many notes have them, and sample values."""
    rows, total, last = ctx.index.list_properties(page, root=root, samples=sample_size)
    items = [
        PropertyUse(key=key, types=types, note_count=count, sample_values=samples)
        for key, types, count, samples in rows
    ]
    return page.of(items, total, last)


class Filter(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    op: Op
    value: Any = msgspec.UNSET


class Match(Record):
    path: str
    matched_values: dict[str, Any]


@properties.tool("read:notes", words="metadata where whose field value equals compare number")
def find_notes_by_property(
    ctx: Context,
    filter: Annotated[list[Filter], Doc("Conditions that must all hold.", min_length=1, max_length=20)],
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    nested: Annotated[bool, Doc("Keys are paths: a.b.c.")] = False,
    page: Page = Page(),
) -> Page.Of[Match]:
    """Find notes by their properties; dates and numbers compare as such."""
    wanted = [_condition(one) for one in filter]
    rows, total, last = ctx.index.notes_by_property(page, wanted, root=root, nested=nested)
    return page.of([Match(path=path, matched_values=values) for path, values in rows], total, last)


def _condition(one: Filter) -> PropertyFilter:
    """A filter whose value fits its operator."""
    value = one.value
    if one.op in ("exists", "absent"):
        return PropertyFilter(one.key, one.op)
    if value is msgspec.UNSET:
        raise ToolError("invalid_input", f"filter on {one.key!r}: {one.op} needs a value", key=one.key)
    if one.op in ("in", "nin") and not isinstance(value, list):
        raise ToolError("invalid_input", f"filter on {one.key!r}: {one.op} takes a list", key=one.key)
    if one.op in ("gt", "gte", "lt", "lte") and value is None:
        raise ToolError("invalid_input", f"filter on {one.key!r}: nothing is {one.op} null", key=one.key)
    for item in value if one.op in ("in", "nin") else [value]:
        if isinstance(item, (list, dict)):
            raise ToolError(
                "invalid_input",
                f"filter on {one.key!r}: a property is compared with a text, a number, true or false",
                key=one.key,
            )
    return PropertyFilter(one.key, one.op, value)
