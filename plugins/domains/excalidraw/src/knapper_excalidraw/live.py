"""The live engine: the Excalidraw plugin itself, inside a running Obsidian, behind a bridge; it reads a drawing's texts.

A text in a drawing may show a piece of any note, and Obsidian knows no folder rules: under such rules it is refused.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context
from knapper.bridge import answer_as, refuse_restricted

KEY = "excalidraw"


class LiveExcalidraw(Protocol):
    """What a bridge with the key `excalidraw` connects to."""

    def read(self, path: str, *, format: str) -> Any:
        """An object with text_content."""


class _Read(msgspec.Struct):
    text_content: str


def text(ctx: Context, path: str, format: str) -> str:
    refuse_restricted(ctx, KEY, "a drawing")
    engine: LiveExcalidraw = ctx.bridge(KEY)
    return answer_as(engine.read(path, format=format), _Read, KEY).text_content
