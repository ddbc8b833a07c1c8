"""One hash for a list of tools, so that whoever polls it sees whether anything changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

FIELDS = ("name", "description", "inputSchema")


def shown(tools: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the hash looks at: three fields of every tool, by name."""
    cut = ({field: tool[field] for field in FIELDS if field in tool} for tool in tools)
    return sorted(cut, key=lambda tool: str(tool.get("name")))


def canonical(tools: Iterable[Mapping[str, Any]]) -> bytes:
    """The text that is hashed: tools by name, keys in order, lists as they are, no blanks."""
    text = json.dumps(shown(tools), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def tools_hash(tools: Iterable[Mapping[str, Any]]) -> str:
    """Sixty-four hex digits that differ where a tool came, went, or reads differently."""
    return sha256(canonical(tools)).hexdigest()
