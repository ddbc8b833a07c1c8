"""The only engine that commands have: the palette of a running Obsidian, behind a bridge."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from knapper import Context
from knapper.bridge import answer_as

KEY = "commands"


class LiveCommands(Protocol):
    """What a bridge with the key `commands` connects to; a command that cannot run is a ToolError invalid_input."""

    def list(self) -> Any:
        """An object with items[], each with id and name and perhaps hotkey."""

    def execute(self, command_id: str) -> Any:
        """An object with fired_at and plugin_response where they are known."""


class Listed(msgspec.Struct):
    id: str
    name: str
    hotkey: str | None = None


class _List(msgspec.Struct):
    items: list[Listed]


class Done(msgspec.Struct):
    fired_at: str | None = None
    plugin_response: Any = None


def listed(ctx: Context) -> list[Listed]:
    engine: LiveCommands = ctx.bridge(KEY)
    return answer_as(engine.list(), _List, KEY).items


def executed(ctx: Context, command_id: str) -> Done:
    engine: LiveCommands = ctx.bridge(KEY)
    ctx.takes_effect()
    return answer_as(engine.execute(command_id), Done, KEY)
