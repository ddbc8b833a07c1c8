"""What a server can say before its plugins are loaded, kept from the start before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from knapper.runtime import Runtime


class Catalogue(msgspec.Struct):
    """What initialize, server/discover and tools/list answer for the local user."""

    min_protocol_version: str | None
    instructions: str
    tools: list[bytes]


def build(runtime: Runtime) -> Catalogue:
    """The catalogue of a loaded server."""
    from knapper.server.facade import items
    from knapper.server.instructions import text

    settings = runtime.settings
    return Catalogue(settings.mcp.min_protocol_version, text(settings), items(runtime, None))
