"""Commands: the command palette of a running Obsidian, behind the companion or else the Local REST API itself."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from knapper import Bridge, ToolError, hookimpl
from knapper_companion import Remote, companion_bridge
from knapper_companion.envelope import unexpected

KEY = "commands"


class Palette:
    """The palette behind the companion, as the domain commands asks for it."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def list(self) -> Any:
        """Every command, with its id and name."""
        return self._remote.ask("/commands/list")

    def execute(self, command_id: str) -> Any:
        """Run one by its id."""
        return self._remote.act("/commands/execute", command_id=command_id)


class BarePalette:
    """The same by the routes that the Local REST API has of its own."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    def list(self) -> Any:
        """Every command, with its id and name."""
        answer = self._remote.native("GET", "/commands/")
        try:
            return {"items": msgspec.json.decode(answer.body)["commands"]}
        except (msgspec.DecodeError, KeyError, TypeError):
            raise unexpected(answer, KEY) from None

    def execute(self, command_id: str) -> Any:
        """Run one by its id; when it ran is not told."""
        answer = self._remote.native("POST", f"/commands/{quote(command_id, safe='')}/")
        if answer.status == 404:
            message = f"{command_id} is no command of this vault"
            raise ToolError("invalid_input", message, plugin=KEY, command_id=command_id)
        if not 200 <= answer.status < 300:
            raise unexpected(answer, KEY)
        return {"command_id": command_id}


@hookimpl
def knapper_bridges() -> Bridge:
    return companion_bridge(KEY, Palette, fallback=BarePalette)
