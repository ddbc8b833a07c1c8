"""The figures of a soak: calls, times, and what the servers held in memory."""

from __future__ import annotations

import os
import platform
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.load.soak import Soak

WARM_UP = 0.2  # of the run: caches fill, pools grow to their size
MOST_GROWTH = 0.10


class Sample(NamedTuple):
    """What a process held at a time, in bytes: of its own, and in all with files it has mapped."""

    at: float
    server: str
    own: int
    resident: int


class Growth(NamedTuple):
    """A process's own memory after the warm-up and at the end."""

    server: str
    before: float
    after: float
    resident: float

    @property
    def share(self) -> float:
        return self.after / self.before - 1


def memory(pid: int) -> tuple[int, int] | None:
    """A process's own and its whole resident memory, where the system says it."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    found = dict(re.findall(r"^(RssAnon|VmRSS):\s+(\d+) kB$", status.read_text(), re.MULTILINE))
    return int(found["RssAnon"]) * 1024, int(found["VmRSS"]) * 1024


def growths(samples: list[Sample], seconds: float) -> list[Growth]:
    """Means over a tenth of the run each: the first after the warm-up, and the last."""
    by: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by[sample.server].append(sample)
    found = []
    for server, all_ in by.items():
        first = [s.own for s in all_ if WARM_UP * seconds <= s.at < (WARM_UP + 0.1) * seconds]
        last = [s for s in all_ if s.at >= 0.9 * seconds]
        if first and last:
            found.append(Growth(server, _mean(first), _mean([s.own for s in last]), last[-1].resident))
    return found


def growth_problems(samples: list[Sample], seconds: float) -> list[str]:
    return [
        f"the memory of {one.server} grew by {one.share:.0%}"
        for one in growths(samples, seconds)
        if one.share >= MOST_GROWTH
    ]


def written(soak: Soak, problems: list[str]) -> str:
    """The figures as a page."""
    told = [worker.told for worker in soak.workers]
    calls = sum(one.calls for one in told)
    lines = [
        "# The soak",
        "",
        f"{len(soak.workers)} clients in {len(soak.servers)} processes on one vault for {soak.seconds:.0f} s;"
        f" {platform.python_implementation()} {platform.python_version()} on {platform.machine()},"
        f" {os.cpu_count()} cores. Another program made {soak.edits} edits beside them.",
        "",
        f"- wrong answers, lost writes, lock errors: {len(problems)}",
        f"- calls: {calls}, {calls / soak.seconds:.0f} a second",
        f"- appended lines, each there once: {sum(len(one.appended) for one in told)}",
        f"- counter raised by compare-and-swap: {sum(one.raised for one in told)}"
        f" ({sum(one.retried for one in told)} tries were refused, as they have to be)",
        f"- moves with the links to them: {sum(one.moved for one in told)}",
        "",
        "| call | times | median | p95 | p99 | longest |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    seconds: dict[str, list[float]] = defaultdict(list)
    for one in told:
        for tool, times in one.seconds.items():
            seconds[tool] += times
    lines += [_row(tool, sorted(times)) for tool, times in sorted(seconds.items())]
    lines += [
        "",
        "| process | own memory after warm-up | at the end | growth | resident with mapped files |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {g.server} | {g.before / 1e6:.1f} MB | {g.after / 1e6:.1f} MB | {g.share:+.1%} | {g.resident / 1e6:.1f} MB |"
        for g in growths(soak.samples, soak.seconds)
    ]
    return "\n".join([*lines, *(f"\n- {text}" for text in problems[:50])]) + "\n"


def _row(tool: str, times: list[float]) -> str:
    shown = [times[min(len(times) - 1, int(len(times) * p))] * 1000 for p in (0.5, 0.95, 0.99)]
    cells = [f"{ms:.1f} ms" for ms in (*shown, times[-1] * 1000)]
    return f"| {tool} | {len(times)} | {' | '.join(cells)} |"


def _mean(values: list[int]) -> float:
    return sum(values) / len(values)
