"""subscriptions/listen: a request of the modern era that stays open and is answered with notifications."""

from __future__ import annotations

import threading
from typing import Any

from knapper.server import eras
from knapper.server.changes import Change
from knapper.server.exchange import Exchange
from knapper.server.resources import readable
from knapper.server.wire import INVALID_PARAMS, ProtocolError

LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


def wanted(exchange: Exchange) -> dict[str, Any]:
    """What the client asked to be told of, as far as it may know of it."""
    given = exchange.table("notifications")
    if "notifications" not in exchange.params:
        raise ProtocolError(INVALID_PARAMS, "Invalid params: 'notifications' is required")
    honoured: dict[str, Any] = {name: True for name in LISTS.values() if given.get(name) is True}
    uris = given.get("resourceSubscriptions")
    if isinstance(uris, list) and uris:
        honoured["resourceSubscriptions"] = [u for u in uris if isinstance(u, str) and readable(exchange, u)]
    return honoured


def fits(honoured: dict[str, Any], change: Change) -> bool:
    if change.kind == "updated":
        return change.uri in honoured.get("resourceSubscriptions", ())
    return bool(honoured.get(LISTS[change.kind]))


def listen(exchange: Exchange) -> None:
    """Acknowledge first, then tell of every change that was asked for, until the client cancels."""
    honoured = wanted(exchange)
    meta = {eras.SUBSCRIPTION: exchange.id}
    changes, acknowledged = exchange.host.changes, threading.Event()

    def tell(change: Change) -> None:
        if fits(honoured, change):
            acknowledged.wait()
            exchange.peer.notify(change.method, {**change.params, "_meta": meta})

    for uri in honoured.get("resourceSubscriptions", ()):
        changes.watch(exchange.session, uri)
        exchange.on_stop.append(lambda uri=uri: changes.unwatch(exchange.session, uri))  # type: ignore[misc]
    exchange.on_stop.append(changes.listen(tell))
    told = {"notifications": honoured, "_meta": meta}
    exchange.peer.notify("notifications/subscriptions/acknowledged", told)
    acknowledged.set()
