"""Where Obsidian keeps bookmarks: one file now, another before version 1.2."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from knapper import Context, ToolError
from knapper.vault.files import Written
from knapper.vault.jsontext import Document
from knapper_bookmarks.items import Json

FILE = ".obsidian/bookmarks.json"
OLDER = ".obsidian/starred.json"
EMPTY = '{\n  "items": []\n}'


def load(ctx: Context) -> list[Json]:
    """The items as they are now; none where there is no file."""
    return _opened(_text(ctx)).value["items"]  # type: ignore[no-any-return]


def change(ctx: Context, act: Callable[[list[Json]], None]) -> Written | None:
    """Change the items in place; the rest of the file stays as it is. None where nothing changes."""

    def changed(text: str) -> str:
        document = _opened(text)
        items = document.value["items"]
        empty = not items
        act(items)
        return text if empty and not items else document.text()

    if ctx.vault.exists(FILE) is not None:
        return ctx.vault.edit(FILE, changed)
    before = _text(ctx)  # what was starred goes along: Obsidian reads one file only
    after = changed(before)
    return None if after == before else ctx.vault.write(FILE, after, mode="create")


def _text(ctx: Context) -> str:
    if ctx.vault.exists(FILE) is not None:
        return ctx.vault.read(FILE).text
    if ctx.vault.exists(OLDER) is None:
        return EMPTY
    starred = _opened(ctx.vault.read(OLDER).text).value["items"]
    return json.dumps({"items": starred}, indent=2, ensure_ascii=False)


def _opened(text: str) -> Document:
    try:
        document = Document(text if text.strip() else EMPTY)
    except ValueError as error:
        raise _broken(str(error)) from None
    value = document.value
    if not isinstance(value, dict):
        raise _broken("it is not an object")
    _check(value.setdefault("items", []))
    return document


def _check(items: Any) -> None:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _broken("items is not a list of objects")
    for item in items:
        if item.get("type") == "group" and "items" in item:
            _check(item["items"])


def _broken(reason: str) -> ToolError:
    return ToolError("invalid_input", f"Obsidian's file of bookmarks is broken: {reason}", path=FILE)
