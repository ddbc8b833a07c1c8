"""The live engine: a plugin that reads pictures, inside a running Obsidian, behind a bridge.

It is asked where a caller wants it, and where no program for reading pictures is installed beside the server.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context
from knapper.bridge import answer_as

KEY = "ocr"


class LiveOcr(Protocol):
    """What a bridge with the key `ocr` connects to; a file that it cannot read is a ToolError invalid_input."""

    def read(self, path: str, force: bool) -> Any:
        """An object with text, and path, cached and duration_ms where they are known."""


class LiveText(msgspec.Struct):
    """What the plugin has read; Obsidian tells no pages apart."""

    text: str
    cached: bool = False


def read(ctx: Context, path: str, force: bool) -> LiveText:
    """The text of one file, which this caller may read: the folder rules were asked before."""
    engine: LiveOcr = ctx.bridge(KEY)
    return answer_as(engine.read(path, force), LiveText, KEY)
