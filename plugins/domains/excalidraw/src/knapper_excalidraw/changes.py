"""A change to a drawing: what is removed, updated and added, in that order, or nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from knapper import Record, ToolError
from knapper_excalidraw.drawing import Drawing, Json, raw_text
from knapper_excalidraw.elements import (
    check,
    check_references,
    complete,
    place,
    set_text,
    shorten,
    tie,
    untie,
)


class Applied(Record, omit_defaults=False):
    """How many elements a change touched."""

    added: int = 0
    removed: int = 0
    updated: int = 0


class Change(NamedTuple):
    """What is asked of a drawing."""

    add: list[Json]
    remove: frozenset[str]
    update: Mapping[str, Json]
    app_state: Json


class Changed(NamedTuple):
    """The file after a change, what was done, and the new ids of elements whose own were too long for a note."""

    text: str
    applied: Applied
    renamed: dict[str, str]


def apply(text: str, path: str, change: Change, now_ms: int) -> Changed:
    """The drawing with the change in it, everything else as it was."""
    drawing = Drawing(text, path)
    texts: dict[str, str | None] = {}
    links: dict[str, str | None] = {}
    removed = _remove(drawing, change.remove, texts, links)
    _update(drawing, change.update, now_ms, texts, links)
    renamed = _add(drawing, change.add, now_ms, texts, links)
    if change.app_state:
        _merge(drawing.app_state, change.app_state)
    applied = Applied(added=len(change.add), removed=removed, updated=len(change.update))
    return Changed(drawing.text(texts, links), applied, renamed)


def _remove(
    drawing: Drawing, asked: frozenset[str], texts: dict[str, str | None], links: dict[str, str | None]
) -> int:
    """Remove elements, and the texts inside of those."""
    found = {str(one.get("id")) for one in drawing.elements} & asked
    if not found:
        return 0
    gone = found | {str(one.get("id")) for one in drawing.elements if str(one.get("containerId")) in found}
    drawing.elements[:] = [one for one in drawing.elements if str(one.get("id")) not in gone]
    untie(drawing.elements, gone)
    texts |= dict.fromkeys(gone)
    links |= dict.fromkeys(gone)
    return len(found)


def _update(
    drawing: Drawing,
    patches: Mapping[str, Json],
    now_ms: int,
    texts: dict[str, str | None],
    links: dict[str, str | None],
) -> None:
    by_id = {str(one.get("id")): one for one in drawing.shown}
    for own, patch in patches.items():
        element = by_id.get(own)
        if element is None:
            raise ToolError("invalid_input", f"there is no element {own!r} to update", id=own)
        if patch.get("id", own) != own or patch.get("type", element.get("type")) != element.get("type"):
            raise ToolError("invalid_input", f"the id and type of element {own!r} cannot be changed", id=own)
        if all(name in element and element[name] == value for name, value in patch.items()):
            continue
        if element.get("type") == "text" and {"text", "rawText", "originalText"} & patch.keys():
            set_text(element, raw_text(patch))
            texts[own] = raw_text(element)
        element.update(patch)
        check(element)
        if "link" in patch and element.get("type") != "text":
            links[own] = patch["link"]
        version = element.get("version", 0)
        element |= {"version": version + 1 if isinstance(version, int) else 1, "updated": now_ms}
    ids = {str(one.get("id")) for one in drawing.elements}
    check_references([by_id[own] for own in patches], ids)


def _add(
    drawing: Drawing,
    given: list[Json],
    now_ms: int,
    texts: dict[str, str | None],
    links: dict[str, str | None],
) -> dict[str, str]:
    if not given:
        return {}
    new = [complete(one, nth, now_ms) for nth, one in enumerate(given)]
    ids = {str(one.get("id")) for one in drawing.elements}
    for element in new:
        if element["id"] in ids:
            raise ToolError("invalid_input", f"element {element['id']!r}: the id is taken", id=element["id"])
        ids.add(element["id"])
    check_references(new, ids)
    renamed = shorten(new, drawing.elements) if drawing.is_note else {}
    drawing.elements.extend(new)
    place(new, given, drawing.elements)
    tie(new, drawing.elements)
    texts |= {one["id"]: raw_text(one) for one in new if one["type"] == "text"}
    links |= {one["id"]: one["link"] for one in new if one["type"] != "text" and one.get("link")}
    return renamed


def _merge(into: Json, patch: Json) -> None:
    """Set what the patch names; null takes a setting away."""
    for name, value in patch.items():
        if value is None:
            into.pop(name, None)
        else:
            into[name] = value
