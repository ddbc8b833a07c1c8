"""A change of a text as people read it."""

from __future__ import annotations

from difflib import unified_diff

MOST_LINES = 400


def diff(path: str, old: str, new: str) -> str:
    """What a person is shown of a change before confirming it."""
    lines = unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=2)
    return "\n".join(list(lines)[:MOST_LINES])
