"""How often the host is looked at: regularly while it answers, ever more rarely while it does not."""

from __future__ import annotations

import random
from collections.abc import Callable

from knapper_bridge_stdio.http import HostError

ATTEMPTS = 30
LONGEST = 30.0


def delay(failures: int) -> float:
    """The pause after so many failures in a row: 1, 2, 4, 8, 16 and then always 30 seconds."""
    return min(LONGEST, 2.0 ** min(failures - 1, 10))


def shaken(seconds: float) -> float:
    """A pause that is cut by up to half, so that many proxies of one host do not come back in step."""
    return seconds * random.uniform(0.5, 1.0)


def follow(
    look: Callable[[], None],
    wait: Callable[[float], bool],
    poll_seconds: float,
    jitter: Callable[[float], float] = shaken,
) -> HostError | None:
    """Look until `wait` says that it is over; the error where a host that was never met is given up.

    One that refuses is not asked again, and one that is silent thirty times. A host that was met is never given up.
    """
    met, failures = False, 0
    while True:
        try:
            look()
            met, failures, pause = True, 0, poll_seconds
        except HostError as error:
            failures += 1
            if not met and (error.refused or failures >= ATTEMPTS):
                return error
            pause = jitter(delay(failures))
        if wait(pause):
            return None
