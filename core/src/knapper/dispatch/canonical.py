"""Arguments as one canonical text, and the hash that stands for a call wherever it is remembered."""

from __future__ import annotations

from hashlib import sha256
from math import isfinite
from typing import Any

import msgspec

DEEPEST = 200
_EXACT = 2**53  # beyond this, two integers can be one float


def args_hash(tool: str, args: dict[str, Any]) -> str:
    """Thirty-two hex digits for a tool and its arguments as they came; empty where they have no canonical text.

    The order of keys and the spelling of a number (`1` or `1.0`) do not count; everything else does.
    """
    try:
        canonical = msgspec.json.encode(args, order="deterministic")
        if canonical.count(b"[") + canonical.count(b"{") > DEEPEST and _too_deep(args):
            return ""
        if b".0" in canonical or b"null" in canonical:
            canonical = msgspec.json.encode(whole(args), order="deterministic")
        return sha256(tool.encode() + b" " + canonical).hexdigest()[:32]
    except (RecursionError, TypeError, ValueError):  # ValueError: a lone surrogate
        return ""


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [child for one in level for child in _children(one)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [child for child in inside if isinstance(child, (dict, list))]


def whole(value: Any) -> Any:
    """The value with floats that are whole numbers as integers, at any depth, as JSON Schema takes them for."""
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("JSON has no such number; it would be written as null")
        return int(value) if value.is_integer() and abs(value) <= _EXACT else value
    if isinstance(value, dict):
        return {key: whole(inside) for key, inside in value.items()}
    return [whole(inside) for inside in value] if isinstance(value, list) else value
