"""Bridges: live engines inside a running Obsidian, as plugins hand them over, and what of their answers may go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from knapper import typed
from knapper.errors import ToolError
from knapper.vault import paths

if TYPE_CHECKING:
    from knapper.context import Context

T = TypeVar("T")
EngineName = Literal["auto", "native", "obsidian"]
COMPANION = "companion"
PATH_KEYS = ("path", "note_path", "file", "filePath")


class BridgeState(msgspec.Struct, frozen=True):
    """How a vault stands with Obsidian, and why."""

    state: Literal["live", "degraded", "headless", "unknown"]
    reason: str


class Bridge(msgspec.Struct, frozen=True):
    """A live engine: its capability key, the Obsidian plugin behind it, and how to open it for a vault.

    `connect` gets the vault's settings and returns the engine's object, or raises ToolError saying what is missing.
    `state` gets them and whether to ask Obsidian now; if not, it says what is known, without waiting for anybody.
    """

    key: str
    plugin_id: str
    connect: Callable[[Any], Any]
    state: Callable[[Any, bool], BridgeState] | None = None


def answer_as(answer: Any, type: type[T], key: str) -> T:
    """A live engine's answer as a domain expects it; one of another shape is not an answer."""
    try:
        return typed.convert(answer, type)
    except msgspec.ValidationError as error:
        message = f"the live engine of {key!r} gave an answer of another shape: {error}"
        raise ToolError("plugin_unreachable", message, plugin=key) from None


def readable_items(ctx: Context, items: Iterable[Any], key: str) -> list[Any]:
    """What this caller may read of what a live engine found; Obsidian knows no folder rules.

    Under folder rules an item that names no file is acl_denied, for nobody can tell whose it is.
    """
    if not ctx.index.restricted:
        return [*items]
    return [item for item in items if ctx.index.readable(_path_of(item, key))]


def refuse_restricted(ctx: Context, key: str, what: str) -> None:
    """Raise acl_denied under folder rules, for a live answer that may say something of any note."""
    if ctx.index.restricted:
        message = f"{what} in the live engine of {key!r} may reach any note, and folder rules are set; use engine native"
        raise ToolError("acl_denied", message, plugin=key, op="read")


def refuse_restricted_change(ctx: Context, key: str, what: str) -> None:
    """Raise acl_denied under folder rules of any kind, for what a live engine may do to any file."""
    if ctx.vault.restricted:
        message = f"{what} in the live engine of {key!r} may change any file, and folder rules are set"
        raise ToolError("acl_denied", message, plugin=key, op="write")


def _path_of(item: Any, key: str) -> str:
    named = (item.get(name) for name in PATH_KEYS) if isinstance(item, dict) else ()
    path = next((value for value in named if isinstance(value, str) and value), None)
    if path is None:
        message = f"the live engine of {key!r} gave an item that names no file, and folder rules are set"
        raise ToolError("acl_denied", message, plugin=key, op="read")
    return paths.canonical(path)
