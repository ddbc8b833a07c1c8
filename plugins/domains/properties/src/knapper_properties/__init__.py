"""Properties: the frontmatter of notes, read, changed byte for byte, and searched."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from knapper import Context, Doc, Domain, NotePath, Page, Record, ToolError, WritePath, hookimpl
from knapper.index.queries.properties import PropertyFilter
from knapper.vault import frontmatter as block
from knapper.vault.frontmatter import FrontmatterError
from knapper.vault.markdown import parse

properties = Domain(
    "properties", summary="Read, change and search the properties in frontmatter.", group="metadata"
)

Op = Literal["eq", "neq", "gt", "gte", "lt", "lte", "in", "nin", "contains", "exists", "absent"]
Mode = Literal["set", "remove", "merge", "replace"]


class Frontmatter(Record):
    path: str
    frontmatter: dict[str, Any]
    format: Literal["yaml", "json", "missing"]
    content_hash: str
    problem: str | None = None


@properties.tool("read:notes")
def read_frontmatter(ctx: Context, path: NotePath) -> Frontmatter:
    """Read all properties of a note, with the values Obsidian sees."""
    file = ctx.vault.read(path)
    parsed = parse(file.text)
    found = block.find(file.text)
    kind: Literal["yaml", "json", "missing"] = "missing"
    if found is not None:
        kind = "json" if file.text[found.start : found.end].strip().startswith("{") else "yaml"
    return Frontmatter(
        path=path,
        frontmatter=parsed.frontmatter or {},
        format=kind,
        content_hash=file.hash,
        problem=parsed.frontmatter_error,
    )


class Property(Record):
    path: str
    key: str
    value: Any
    present: bool


@properties.tool("read:notes")
def read_property(
    ctx: Context,
    path: NotePath,
    key: str,
    nested: Annotated[bool, Doc("Read the key as a path: a.b.c.")] = False,
) -> Property:
    """Read one property of a note."""
    values = parse(ctx.vault.read(path).text).frontmatter or {}
    present, value = _lookup(values, key.split(".") if nested else [key])
    return Property(path=path, key=key, value=value, present=present)


class Updated(Record):
    path: str
    mode_used: Mode
    content_hash: str
    updated_at: str
    prev_value: Any = None
    applied: list[str] | None = None
    removed: bool | None = None
    prev_frontmatter: dict[str, Any] | None = None


@properties.tool("write:notes", repeat="keyed", confirm="mode=replace")
def update_frontmatter(
    ctx: Context,
    path: WritePath,
    mode: Mode,
    key: str | None = None,
    value: Annotated[Any, Doc("For set.")] = msgspec.UNSET,
    patch: Annotated[dict[str, Any] | None, Doc("For merge: keys and values; null is a value.")] = None,
    frontmatter: Annotated[dict[str, Any] | None, Doc("For replace: all properties.")] = None,
    nested: Annotated[bool, Doc("Keys are paths: a.b.c.")] = False,
    prev_hash: Annotated[str | None, Doc("Only if the note still has this content_hash.")] = None,
) -> Updated:
    """Set, remove, merge or replace properties; every byte of other keys stays as it is."""
    _check(mode, key, value, patch, frontmatter)
    before = parse(ctx.vault.read(path).text).frontmatter or {}
    ctx.confirm(mode == "replace", {"path": path, "replaces": sorted(before)})
    try:
        done = ctx.vault.edit(
            path,
            lambda text: _changed(text, mode, key, value, patch, frontmatter, nested),
            prev_hash=prev_hash,
        )
    except FrontmatterError as error:
        raise ToolError(
            "invalid_input", f"the properties of {path!r} cannot be changed: {error}", path=path
        ) from None
    present, old = _lookup(before, (key or "").split(".") if nested else [key or ""])
    return Updated(
        path=done.path,
        mode_used=mode,
        content_hash=done.hash,
        updated_at=done.at,
        prev_value=old if mode in ("set", "remove") else None,
        applied=sorted(patch) if patch else None,
        removed=present if mode == "remove" else None,
        prev_frontmatter=before if mode == "replace" else None,
    )


class PropertyUse(Record):
    key: str
    types: list[str]
    note_count: int
    sample_values: list[Any]


@properties.tool("read:notes")
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
    value: Any = None


class Match(Record):
    path: str
    matched_values: dict[str, Any]


@properties.tool("read:notes")
def find_notes_by_property(
    ctx: Context,
    filter: Annotated[list[Filter], Doc("Conditions that must all hold.", min_length=1, max_length=20)],
    root: Annotated[str, Doc("Only notes below this folder.")] = "",
    nested: Annotated[bool, Doc("Keys are paths: a.b.c.")] = False,
    page: Page = Page(),
) -> Page.Of[Match]:
    """Find notes by their properties; dates and numbers compare as such."""
    wanted = [PropertyFilter(one.key, one.op, one.value) for one in filter]
    rows, total, last = ctx.index.notes_by_property(page, wanted, root=root, nested=nested)
    return page.of([Match(path=path, matched_values=values) for path, values in rows], total, last)


def _check(mode: Mode, key: str | None, value: Any, patch: Any, whole: Any) -> None:
    needed = {
        "set": key and value is not msgspec.UNSET,
        "remove": key,
        "merge": patch,
        "replace": whole is not None,
    }
    if not needed[mode]:
        words = {"set": "key and value", "remove": "key", "merge": "patch", "replace": "frontmatter"}
        raise ToolError("invalid_input", f"mode={mode} needs {words[mode]}")


def _changed(
    text: str,
    mode: Mode,
    key: str | None,
    value: Any,
    patch: dict[str, Any] | None,
    whole: dict[str, Any] | None,
    nested: bool,
) -> str:
    if mode == "set" and key:
        return block.set_key(text, key, value, nested=nested)
    if mode == "remove" and key:
        return block.remove_key(text, key, nested=nested)
    if mode == "merge":
        return block.merge(text, patch or {}, nested=nested)
    return block.replace_all(text, whole or {})


def _lookup(values: Any, path: list[str]) -> tuple[bool, Any]:
    for part in path:
        if isinstance(values, list) and part.isdigit() and int(part) < len(values):
            values = values[int(part)]
        elif isinstance(values, dict) and part in values:
            values = values[part]
        else:
            return False, None
    return True, values


@hookimpl
def knapper_domains() -> Domain:
    return properties
