"""Tools for the properties of one note."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from knapper import Context, Doc, NotePath, Record, ToolError, WriteNotePath
from knapper.vault import frontmatter as block
from knapper.vault.frontmatter import FrontmatterError
from knapper.vault.markdown import parse
from knapper_properties.domain import properties

Mode = Literal["set", "remove", "merge", "replace"]


class Frontmatter(Record):
    path: str
    frontmatter: dict[str, Any]
    format: Literal["yaml", "json", "missing"]
    content_hash: str
    problem: str | None = None


@properties.tool("read:notes", words="metadata yaml header fields attributes")
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


@properties.tool("read:notes", words="metadata yaml field attribute value")
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


@properties.tool(
    "write:notes",
    repeat="natural",
    keyed=True,
    confirm="mode=replace",
    words="metadata yaml header field attribute set change add alias delete remove",
)
def update_frontmatter(
    ctx: Context,
    path: WriteNotePath,
    mode: Mode,
    key: Annotated[str | None, Doc("For set and remove.", min_length=1)] = None,
    value: Annotated[Any, Doc("For set.")] = msgspec.UNSET,
    patch: Annotated[dict[str, Any] | None, Doc("For merge: keys and values; null is a value.")] = None,
    frontmatter: Annotated[dict[str, Any] | None, Doc("For replace: all properties.")] = None,
    nested: Annotated[bool, Doc("Keys are paths: a.b.c.")] = False,
    prev_hash: Annotated[str | None, Doc("Only if the note still has this content_hash.")] = None,
) -> Updated:
    """Set, remove, merge or replace properties; every byte of other keys stays as it is."""
    _check(mode, key, value, patch, frontmatter)
    before: dict[str, Any] = {}

    def change(text: str) -> str:
        nonlocal before
        before = block.read(text) or {}
        return _changed(text, mode, key, value, patch, frontmatter, nested)

    try:
        if mode == "replace":
            prev_hash = _confirm_replace(ctx, path, prev_hash)
        done = ctx.vault.edit(path, change, prev_hash=prev_hash)
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


def _confirm_replace(ctx: Context, path: str, prev_hash: str | None) -> str:
    """Ask before all properties go; what is then replaced is what was looked at."""
    file = ctx.vault.read(path)
    ctx.confirm(True, {"path": path, "replaces": sorted(block.read(file.text) or {})})
    return prev_hash or file.hash


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
