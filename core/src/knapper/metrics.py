"""What is counted of calls and measured of the server: the one source of `get_metrics` and of the metrics listener."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Literal, NamedTuple

from knapper.sinks import CallRecord, Event

log = logging.getLogger("knapper.metrics")

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
BYTES = (1e3, 1e4, 1e5, 1e6, 1e7)
REFUSED = frozenset({"forbidden", "acl_denied", "read_only_mode", "unauthorized"})
UNKNOWN = "unknown"


class Family(NamedTuple):
    """One name and all that is counted under it; never labelled by caller, scope or anything a caller can choose."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


class Reading(NamedTuple):
    """A value of a family now; a histogram's is its sum, with how many there were up to each bound, and in all."""

    labels: dict[str, str]
    value: float
    counts: tuple[int, ...] = ()


class Live(NamedTuple):
    """A value that somebody else keeps."""

    name: str
    labels: tuple[str, ...]
    value: float


TOOL, CLASS = ("vault", "tool"), ("vault", "scope_class")
CALLS = Family("knapper_tool_calls_total", "counter", "Finished calls.", (*TOOL, "status"))
DURATION = Family("knapper_tool_duration_seconds", "histogram", "How long calls took.", TOOL, SECONDS)
ANSWERS = Family("knapper_response_bytes", "histogram", "How large answers were.", TOOL, BYTES)
DENIED = Family("knapper_acl_denied_total", "counter", "Refused calls.", (*CLASS, "reason"))
ASKED = Family("knapper_hitl_elicited_total", "counter", "Calls that a person had to confirm.", TOOL)
LIMITED = Family("knapper_rate_limit_hits_total", "counter", "Calls that came too fast.", CLASS)
REPLAYED = Family("knapper_idempotency_hits_total", "counter", "Calls answered from an earlier one.", TOOL)
UNKEPT = Family(
    "knapper_idempotency_cache_skipped_total", "counter", "Keyed answers too large to keep.", TOOL
)
TRUNCATED = Family("knapper_governor_truncations_total", "counter", "Answers over the byte limit.", TOOL)
REJECTED = Family("knapper_auth_rejections_total", "counter", "Bearers that were refused.", ("reason",))
COUNTED = (CALLS, DURATION, ANSWERS, DENIED, ASKED, LIMITED, REPLAYED, UNKEPT, TRUNCATED, REJECTED)


class Metrics:
    """Counts since the start of this process, and what others measure when they are asked."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._families: dict[str, Family] = {}
        self._values: dict[str, dict[tuple[str, ...], float]] = {}
        self._spread: dict[str, dict[tuple[str, ...], list[int]]] = {}
        self._sources: list[Callable[[], Iterable[Live]]] = []
        for family in COUNTED:
            self.declare(family)

    def declare(self, family: Family) -> None:
        """Make a family known before anything is counted under it."""
        self._families[family.name] = family
        self._values.setdefault(family.name, {})
        self._spread.setdefault(family.name, {})

    def measure(self, source: Callable[[], Iterable[Live]]) -> None:
        """Have values of declared families read from somebody who keeps them, each time that somebody looks."""
        self._sources.append(source)

    def add(self, family: Family, *labels: str, by: float = 1) -> None:
        with self._lock:
            self._add(family, labels, by)

    def take(self, item: CallRecord | Event) -> None:
        """Count a finished call, or an event."""
        with self._lock:
            if isinstance(item, CallRecord):
                self._call(item)
            elif item.type == "auth.rejected":
                self._add(REJECTED, (str(item.data.get("reason", UNKNOWN)),))

    def read(self) -> Iterator[tuple[Family, list[Reading]]]:
        """Every family with its values, in the order of their names and labels."""
        live = self._live()
        with self._lock:
            values = {name: {**found, **live.get(name, {})} for name, found in self._values.items()}
            spread = {
                name: {key: tuple(counts) for key, counts in found.items()}
                for name, found in self._spread.items()
            }
        for name, family in sorted(self._families.items()):
            yield (
                family,
                [
                    Reading(dict(zip(family.labels, key, strict=True)), value, spread[name].get(key, ()))
                    for key, value in sorted(values[name].items())
                ],
            )

    def _live(self) -> dict[str, dict[tuple[str, ...], float]]:
        found: dict[str, dict[tuple[str, ...], float]] = {}
        for source in self._sources:
            try:
                for name, labels, value in source():
                    found.setdefault(name, {})[labels] = value
            except Exception:  # one that cannot be measured hides only itself
                log.exception("a metric could not be measured")
        return found

    def _call(self, record: CallRecord) -> None:
        # A name that is no tool's is the caller's to choose, and every label costs memory for good.
        name = record.tool if record.rate != UNKNOWN or record.kind != "tool" else UNKNOWN
        tool, rated, code = (record.vault, name), (record.vault, record.rate), record.error_code
        self._add(CALLS, (*tool, record.status))
        self._observe(DURATION, tool, record.duration_us / 1e6)
        if code is None:
            self._observe(ANSWERS, tool, record.result_size)
        if record.replayed:
            self._add(REPLAYED, tool)
        if code in REFUSED:
            self._add(DENIED, (*rated, code))
        elif code == "elicit_required":
            self._add(ASKED, tool)
        elif code == "throttled":
            self._add(LIMITED, rated)
        elif code == "overflow":
            self._add(TRUNCATED, tool)
            if record.idempotency_key is not None and not record.replayed:
                self._add(UNKEPT, tool)

    def _add(self, family: Family, labels: tuple[str, ...], by: float = 1) -> None:
        values = self._values[family.name]
        values[labels] = values.get(labels, 0) + by

    def _observe(self, family: Family, labels: tuple[str, ...], value: float) -> None:
        """Each count is of the values up to its bound, so the last one is of all."""
        self._add(family, labels, value)
        counts = self._spread[family.name].setdefault(labels, [0] * (len(family.buckets) + 1))
        for place in range(bisect_left(family.buckets, value), len(counts)):
            counts[place] += 1
