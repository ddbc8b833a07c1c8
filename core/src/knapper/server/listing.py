"""What tools/list shows, page by page."""

from __future__ import annotations

from typing import Any

import msgspec

from knapper.server.exchange import Exchange

PAGE = 1000


def tools(exchange: Exchange) -> dict[str, Any]:
    """The tools of the configured facade, as this caller may see them."""
    start = exchange.offset()
    listed = exchange.host.tools(exchange.caller)
    result: dict[str, Any] = {"tools": [msgspec.Raw(one) for one in listed[start : start + PAGE]]}
    if len(listed) > start + PAGE:
        result["nextCursor"] = str(start + PAGE)
    return cacheable(exchange, result)


def cacheable(exchange: Exchange, result: dict[str, Any]) -> dict[str, Any]:
    """The modern revisions let clients keep a list; ours may change at any time and belongs to one caller."""
    if exchange.modern:
        result |= {"ttlMs": 0, "cacheScope": "private"}
    return result
