"""How long a client waits for its first answers: from the spawn of the process to each of them.

python benchmarks/start.py VAULT [--tool read_note] [--runs 10] [--imports]

The first start, which leaves the catalogue for the others, is shown apart. `--imports` shows instead what the plugins
cost to import, heaviest first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LIMITS = {"initialize": 120, "tools/list": 150, "tools/call": 500}


class Run:
    """One process, asked the first three things that clients ask."""

    def __init__(self, command: list[str], env: dict[str, str], call: dict[str, Any]) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        client = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "b", "version": "1"},
        }
        self.at: dict[str, float] = {}
        self._ask("initialize", client)
        self.tools = len(self._ask("tools/list", {})["tools"])
        answer = self._ask("tools/call", call)
        assert not answer.get("isError"), answer
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        while (answer := json.loads(self._process.stdout.readline())).get("id") != method:
            pass
        self.at[method] = (time.perf_counter() - self._began) * 1000
        return answer["result"]


def starts(options: argparse.Namespace) -> None:
    note = next(Path(options.vault).rglob("*.md")).relative_to(options.vault).as_posix()
    call = {"name": options.tool, "arguments": {"path": note}}
    with tempfile.TemporaryDirectory() as cache:
        env = {"KNAPPER_CACHE_DIR": cache, **os.environ}
        script = Path(sys.executable).with_name("knapper")
        command = [str(script)] if script.exists() else [sys.executable, "-m", "knapper"]
        command += ["serve", options.vault, "--facade", "flat"]
        first = Run(command, env, call)
        runs = [Run(command, env, call) for _ in range(options.runs)]
    print(
        f"{first.tools} tools, first start without a catalogue: {first.at['initialize']:.0f} ms to initialize"
    )
    for method, limit in LIMITS.items():
        times = sorted(run.at[method] for run in runs)
        print(f"{method:12} median {times[len(times) // 2]:4.0f} ms, best {times[0]:4.0f} ms (limit {limit})")


def imports() -> None:
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    from importlib.metadata import entry_points

    import knapper.runtime  # noqa: F401 (not part of what plugins cost)

    costs = []
    for entry in entry_points(group="knapper"):
        before, began = set(sys.modules), time.perf_counter()
        entry.load()
        took, new = (time.perf_counter() - began) * 1000, set(sys.modules) - before
        foreign = sorted({m.partition(".")[0] for m in new} - {"knapper"} - {entry.module.partition(".")[0]})
        costs.append((took, entry.name, len(new), [name for name in foreign if not name.startswith("_")]))
    print(f"{sum(c[0] for c in costs):.0f} ms for {len(costs)} plugins")
    for took, name, modules, brought in sorted(costs, reverse=True):
        print(f"{took:6.1f} ms {name:24} {modules:3} modules {' '.join(brought[:10])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("vault", nargs="?")
    parser.add_argument("--tool", default="read_note")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--imports", action="store_true")
    options = parser.parse_args()
    if options.imports:
        imports()
    elif options.vault is None:
        parser.error("name a vault")
    else:
        starts(options)


if __name__ == "__main__":
    main()
