"""Writing settings as TOML, so that what is shown can be used as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(table: Mapping[str, Any]) -> str:
    """A TOML document; what is None is left out, because TOML has no word for it."""
    return "\n".join(_table(table, ())).strip() + "\n"


def _table(table: Mapping[str, Any], at: tuple[str, ...]) -> Iterator[str]:
    """Plain values first: in TOML they belong to the last header before them."""
    for key, value in table.items():
        if value is not None and not _nested(value):
            yield f"{_key(key)} = {inline(value)}"
    for key, value in table.items():
        if not _nested(value):
            continue
        name = ".".join(_key(part) for part in (*at, key))
        for item in value if isinstance(value, list) else [value]:
            yield ""
            yield f"[[{name}]]" if isinstance(value, list) else f"[{name}]"
            yield from _table(item, (*at, key))


def _nested(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, dict) for item in value)
    return isinstance(value, dict) and bool(value)


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else _text(key)


def inline(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {inline(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(item) for item in value if item is not None) + "]"
    return json.dumps(value)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped and JSON does not.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
