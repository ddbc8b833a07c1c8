"""The server's metrics on a listener of their own, under the same rules of binding and bearers as the server."""

from __future__ import annotations

from typing import Any

from knapper import CallRecord, Event, Observer, Sink, hookimpl


class Exposed:
    """The server counts; all that is left to do for calls is to hold the listener open."""

    def __init__(self, listener: Any) -> None:
        self.listener = listener

    def call(self, record: CallRecord) -> None:
        """Counted before any sink is told."""

    def event(self, event: Event) -> None:
        """Counted before any sink is told."""

    def close(self) -> None:
        self.listener.close()


def build(server: Any) -> Observer | None:
    """The listener, where it is enabled."""
    if not server.settings.observability.prometheus.enabled:
        return None
    from knapper_sink_prometheus.listener import Listener  # not before: most servers have none

    return Exposed(Listener(server))


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="prometheus", build=build)
