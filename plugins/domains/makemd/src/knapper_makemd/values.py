"""Cells: make.md keeps every value as text; here it is what its column says, as far as it is that."""

from __future__ import annotations

import json
import math
import re
from typing import Any

COMMA = re.compile(r"(?<!\\),")
TRUTH = {"true": True, "1": True, "false": False, "0": False}


def typed(type: str, raw: Any) -> Any:
    """A cell as its column's type has it; one that is not so stays as it is kept, and an empty one is None."""
    if raw is None or raw == "":
        return None
    if not isinstance(raw, str):
        return raw
    if type == "number":
        return _number(raw)
    if type == "boolean":
        return TRUTH.get(raw.strip().lower(), raw)
    if type.endswith("-multi"):
        return _several(raw)
    if type == "object":
        return _json(raw)
    return raw


def _number(raw: str) -> Any:
    try:
        return int(raw)
    except ValueError:
        pass
    try:
        value = float(raw)
    except ValueError:
        return raw
    return value if math.isfinite(value) else raw


def _several(raw: str) -> list[Any]:
    """A list as JSON, or with commas between, where a backslash keeps one that belongs to a value."""
    found = _json(raw) if raw.lstrip().startswith("[") else None
    if isinstance(found, list):
        return found
    return [part.replace("\\,", ",").strip() for part in COMMA.split(raw) if part.strip()]


def _json(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw
