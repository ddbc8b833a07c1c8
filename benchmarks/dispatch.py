"""What the gates cost: a read of a trivial tool, a read of a note, a write, and a keyed write; with what dominates each.

Run it on a quiet machine: python benchmarks/dispatch.py [calls]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from knapper import Context, Domain, ReadPath, WritePath, hookimpl
from knapper.caller import LOCAL, Caller
from knapper.config.model import Settings
from knapper.dispatch.call import Call
from knapper.dispatch.canonical import args_hash
from knapper.dispatch.pipeline import GATES, run
from knapper.plugins import Plugins
from knapper.runtime import Runtime

TARGETS = {"trivial read": 150.0, "write of a note": 1000.0}
CALLER = Caller("bench", LOCAL, authenticated=True, session="bench")
bench = Domain("bench", summary="Tools with next to nothing inside.")


@bench.tool("read:notes")
def add(ctx: Context, a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@bench.tool("read:notes")
def peek(ctx: Context, path: ReadPath) -> str:
    """Read a note."""
    return ctx.vault.read(path).text


@bench.tool("write:notes", repeat="keyed")
def put(ctx: Context, path: WritePath, text: str) -> str:
    """Write a note."""
    return ctx.vault.write(path, text).hash


class Given:
    """Hands the domain over."""

    @hookimpl
    def knapper_domains(self) -> Domain:
        return bench


class Syncs:
    """Time spent in fsync, which belongs to the disk and not to us."""

    def __init__(self) -> None:
        self.ns = 0
        self._fsync = os.fsync
        os.fsync = self._timed

    def _timed(self, fd: Any) -> None:
        began = perf_counter_ns()
        self._fsync(fd)
        self.ns += perf_counter_ns() - began

    def taken(self) -> int:
        ns, self.ns = self.ns, 0
        return ns


def microseconds(values: list[int]) -> str:
    ordered = sorted(values)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"median {statistics.median(ordered) / 1000:8.1f} µs   p95 {p95 / 1000:8.1f} µs"


def measure(
    runtime: Runtime, name: str, tool: str, make: Callable[[int], dict[str, Any]], calls: int
) -> None:
    """Time whole calls without their fsyncs, then the same again gate by gate."""
    syncs = Syncs()
    whole, waits = [], []
    for number in range(calls):
        arguments = make(number)
        syncs.taken()
        began = perf_counter_ns()
        outcome = runtime.call(tool, arguments, CALLER)
        took = perf_counter_ns() - began
        assert outcome.error is None, outcome.error
        waits.append(syncs.taken())
        whole.append(took - waits[-1])
    os.fsync = syncs._fsync
    target = TARGETS.get(name)
    verdict = "" if target is None else f"   target {target:.0f} µs"
    if target is not None:
        verdict += "   met" if statistics.median(whole) / 1000 <= target else "   MISSED"
    print(f"\n{name}: {microseconds(whole)}{verdict}")
    if any(waits):
        print(f"  its fsyncs beside that: {microseconds(waits)}")
    _by_gate(runtime, tool, lambda number: make(number + calls), min(calls, 500))


def _by_gate(runtime: Runtime, tool: str, make: Callable[[int], dict[str, Any]], calls: int) -> None:
    spent: dict[str, list[int]] = {}

    def timed(gate: Callable[[Call], None]) -> Callable[[Call], None]:
        def inside(call: Call) -> None:
            began = perf_counter_ns()
            gate(call)
            spent.setdefault(gate.__name__, []).append(perf_counter_ns() - began)

        return inside

    gates = tuple(map(timed, GATES))
    for number in range(calls):
        arguments = make(number)
        began = perf_counter_ns()
        hashed = args_hash(tool, arguments)
        spent.setdefault("hash", []).append(perf_counter_ns() - began)
        call = Call(runtime, tool, arguments, CALLER, hashed)
        began = perf_counter_ns()
        run(call, gates)
        total = perf_counter_ns() - began
        inside = sum(times[-1] for name, times in spent.items() if name != "hash")
        spent.setdefault("record, audit, outcome", []).append(total - inside)
    medians = {name: statistics.median(times) / 1000 for name, times in spent.items()}
    for name, value in sorted(medians.items(), key=lambda item: -item[1])[:6]:
        print(f"    {name:24} {value:8.1f} µs")


def main(calls: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "vault")
        vault.mkdir()
        (vault / "note.md").write_text("# Note\n\n" + "text " * 400)
        plugins = Plugins(strict=True)
        plugins.add(Given(), "bench")
        settings: dict[str, Any] = {
            "vaults": [{"id": "main", "path": str(vault)}],
            "cache_dir": str(Path(folder, "cache")),
            "throttle": {
                "tiers": {name: {"per_minute": 1e9, "burst": 1_000_000} for name in ("read", "write")}
            },
            "watch": {"enabled": False},
            "index": {"vectors": False},
        }
        runtime = Runtime(Settings.model_validate(settings), plugins)
        runtime.vaults.get(None).index.reconcile()
        for number in range(200):
            runtime.call("add", {"a": number, "b": 1}, CALLER)
        measure(runtime, "trivial read", "add", lambda n: {"a": n, "b": 1}, calls)
        measure(runtime, "read of a note", "peek", lambda n: {"path": "note.md"}, calls)
        text = "# Title\n\n" + "words of a note " * 60
        few = max(200, calls // 20)
        measure(runtime, "write of a note", "put", lambda n: {"path": "w.md", "text": f"{text}{n}"}, few)
        measure(
            runtime,
            "keyed write of a note",
            "put",
            lambda n: {"path": "k.md", "text": f"{text}{n}", "idempotency_key": f"k{n}"},
            few,
        )
        runtime.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
