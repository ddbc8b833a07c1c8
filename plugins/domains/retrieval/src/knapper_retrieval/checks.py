"""Checks of what callers send, each with the code this contract names."""

from __future__ import annotations

import re

from knapper import ToolError
from knapper_retrieval.ranking import MODES, Mode

NOTE_ID = re.compile(r"[0-9a-f]{32}")
CHUNK_ID = re.compile(r"([0-9a-f]{32}):(\d{1,9})")
LONGEST_QUERY = 1000
MOST = 50


def query(text: str) -> str:
    if not text.strip():
        raise ToolError("INVALID_QUERY", "query is blank", field="query")
    if len(text) > LONGEST_QUERY:
        raise ToolError("INVALID_QUERY", f"query is longer than {LONGEST_QUERY} characters", field="query")
    return text


def mode(given: str | None) -> Mode | None:
    if given is not None and given not in MODES:
        raise ToolError("INVALID_MODE", f"mode is none of {', '.join(MODES)}", field="mode")
    return given


def limit(given: int, most: int = MOST) -> int:
    if not 1 <= given <= most:
        raise ToolError("INVALID_LIMIT", f"limit is not from 1 to {most}", field="limit")
    return given


def note_id(given: str) -> str:
    if not NOTE_ID.fullmatch(given):
        raise ToolError("INVALID_ID", "note_id is not 32 hexadecimal digits", field="note_id")
    return given


def chunk_id(given: str) -> tuple[str, int]:
    found = CHUNK_ID.fullmatch(given)
    if found is None:
        raise ToolError("INVALID_ID", "id is not a note id, a colon and a number", field="id")
    return found[1], int(found[2])
