"""The server's metrics in the form that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from knapper.metrics import Family, Metrics, Reading


class Exposition(Collector):
    """Reads the metrics each time that Prometheus asks; nothing is counted twice."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        for family, readings in self._metrics.read():
            yield _histogram(family, readings) if family.type == "histogram" else _plain(family, readings)


def _plain(family: Family, readings: list[Reading]) -> Metric:
    kind = CounterMetricFamily if family.type == "counter" else GaugeMetricFamily
    found: CounterMetricFamily | GaugeMetricFamily = kind(family.name, family.help, labels=family.labels)
    for reading in readings:
        found.add_metric(list(reading.labels.values()), reading.value)
    return found


def _histogram(family: Family, readings: list[Reading]) -> Metric:
    found = HistogramMetricFamily(family.name, family.help, labels=family.labels)
    bounds = [*map(floatToGoString, family.buckets), "+Inf"]
    for reading in readings:
        counts = list(zip(bounds, map(float, reading.counts), strict=True))
        found.add_metric(list(reading.labels.values()), counts, reading.value)
    return found
