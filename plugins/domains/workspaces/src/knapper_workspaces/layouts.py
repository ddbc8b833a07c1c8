"""A layout: the tree of splits, tabs and leaves that Obsidian restores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knapper import ToolError

Json = dict[str, Any]
ROOTS = ("main", "left", "right", "floating")
SESSION = "lastOpenFiles"  # what the running session adds to its layout, and a saved one does not have


def check(layout: Json) -> None:
    """Raise invalid_input unless this is a tree that Obsidian can restore."""
    if not isinstance(layout.get("main"), dict):
        raise _wrong("main", "is not an object; a layout has main, and left and right beside it")
    for root in ROOTS:
        if root in layout:
            _check_node(layout[root], root)


def _check_node(node: Any, place: str) -> None:
    if not isinstance(node, dict) or not isinstance(node.get("type"), str):
        raise _wrong(place, "is not an object with a type")
    children = node.get("children", [])
    if not isinstance(children, list):
        raise _wrong(f"{place}.children", "is not a list")
    if node["type"] == "leaf" and not isinstance(node.get("state"), dict):
        raise _wrong(f"{place}.state", "is missing: a leaf says what it shows")
    for number, child in enumerate(children):
        _check_node(child, f"{place}.children[{number}]")


def _wrong(place: str, reason: str) -> ToolError:
    return ToolError("invalid_input", f"layout: {place} {reason}", field=place)


def saved(session: Json, stamp: str) -> Json:
    """The layout of a running session as it is saved under a name."""
    return {**{name: value for name, value in session.items() if name != SESSION}, "mtime": stamp}


def shown(value: Any, readable: Callable[[str], bool]) -> Any:
    """A copy in which no leaf names a file that is not readable."""
    if isinstance(value, list):
        return [shown(one, readable) for one in value]
    if not isinstance(value, dict):
        return value
    copy = {name: shown(one, readable) for name, one in value.items()}
    if _hides(value, readable):
        copy.pop("title", None)
        copy["state"] = {name: one for name, one in copy["state"].items() if name != "file"}
    return copy


def _hides(node: Json, readable: Callable[[str], bool]) -> bool:
    """Whether this is a leaf's state, of a file that is not to be named."""
    inner = node.get("state")
    file = inner.get("file") if isinstance(inner, dict) else None
    return isinstance(file, str) and not readable(file)
