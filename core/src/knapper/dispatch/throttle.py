"""A token bucket for each caller, class of tool and target vault."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from knapper.errors import ToolError

if TYPE_CHECKING:
    from knapper.dispatch.call import Call

SWEEP_SECONDS, IDLE_SECONDS, MOST_BUCKETS = 60.0, 600.0, 10_000


class Bucket:
    __slots__ = ("at", "level")

    def __init__(self, level: float, at: float) -> None:
        self.level = level
        self.at = at


class Throttle:
    """Refills lazily from a clock; a refused call takes nothing."""

    def __init__(self, settings: Any, clock: Callable[[], float]) -> None:
        self.enabled = settings.enabled
        self.tiers = settings.tiers
        self.hits: dict[tuple[str, str], int] = {}
        self._clock = clock
        self._buckets: dict[tuple[str, str, str], Bucket] = {}
        self._lock = threading.Lock()
        self._swept = clock()

    def take(self, caller: str, rate: str, vault: str) -> None:
        tier = self.tiers.get(rate)
        if not self.enabled or tier is None:
            return
        now = self._clock()
        refill = tier.per_minute / 60.0
        with self._lock:
            self._sweep(now)
            bucket = self._buckets.setdefault((caller, rate, vault), Bucket(tier.burst, now))
            bucket.level = min(tier.burst, bucket.level + (now - bucket.at) * refill)
            bucket.at = now
            if bucket.level >= 1:
                bucket.level -= 1
                return
            self.hits[vault, rate] = self.hits.get((vault, rate), 0) + 1
            wait = math.ceil((1 - bucket.level) / refill)
        raise ToolError(
            "throttled",
            f"too many {rate} calls; try again in {wait} s",
            scope_class=rate,
            retry_after_seconds=wait,
            current_burst=tier.burst,
            current_rate=tier.per_minute,
        )

    def _sweep(self, now: float) -> None:
        """Forget idle buckets; one that is not yet full again stays, or eviction would mint fresh burst."""
        if now - self._swept < SWEEP_SECONDS:
            return
        self._swept = now
        idle = 0.0 if len(self._buckets) > MOST_BUCKETS else IDLE_SECONDS
        for key, bucket in list(self._buckets.items()):
            tier = self.tiers[key[1]]
            full = (tier.burst - bucket.level) * 60.0 / tier.per_minute
            if now - bucket.at >= max(full, idle):
                del self._buckets[key]


def throttle(call: Call) -> None:
    call.runtime.throttle.take(call.caller.hash, call.rate, call.vault.id)
