"""Bridges: live engines inside a running Obsidian, as plugins hand them over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec


class Bridge(msgspec.Struct, frozen=True):
    """A live engine: its capability key, the Obsidian plugin behind it, and how to open it for a vault.

    `connect` gets the vault's settings and returns the engine's object, or raises ToolError saying what is missing.
    """

    key: str
    plugin_id: str
    connect: Callable[[Any], Any]
