"""Metrics of calls on a listener of their own, under the same rules of binding and bearers as the server."""

from __future__ import annotations

from typing import Any

from knapper import Observer, Sink, hookimpl


def build(settings: Any) -> Observer | None:
    """The metrics and their listener, where they are enabled."""
    if not settings.observability.prometheus.enabled:
        return None
    from prometheus_client import CollectorRegistry  # not before: most servers do not count

    from knapper_sink_prometheus.listener import Listener
    from knapper_sink_prometheus.metrics import Metrics

    registry = CollectorRegistry()
    return Metrics(registry, Listener(settings, registry))


@hookimpl
def knapper_sinks() -> Sink:
    return Sink(name="prometheus", build=build)
