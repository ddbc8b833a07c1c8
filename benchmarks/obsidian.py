"""How long the tools of the obsidian profile take on a large vault, from a request to its answer over stdio.

python benchmarks/obsidian.py [--notes 10000] [--runs 50]

The vault is made for the measurement: notes that link to each other, in a hundred folders. Every plugin is loaded.
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

CLIENT = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}


class Server:
    """One process, and how long each of its answers took."""

    def __init__(self, vault: Path, cache: Path) -> None:
        env = {**os.environ, "KNAPPER_CACHE_DIR": str(cache), "KNAPPER_THROTTLE__ENABLED": "false"}
        command = [sys.executable, "-m", "knapper", "serve", str(vault), "--facade", "flat"]
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._asked = 0

    def ask(self, method: str, params: dict[str, Any]) -> tuple[Any, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._asked += 1
        message = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        line = json.dumps(message).encode() + b"\n"
        began = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self._asked:
            pass
        return answer, (time.perf_counter() - began) * 1000

    def call(self, tool: str, **arguments: Any) -> float:
        answer, took = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "error" not in answer, answer
        assert not answer["result"].get("isError"), answer
        return took

    def leave(self) -> float:
        assert self.process.stdin is not None
        began = time.perf_counter()
        self.process.stdin.close()
        self.process.wait(60)
        return (time.perf_counter() - began) * 1000


def make(vault: Path, notes: int) -> None:
    for n in range(notes):
        folder = vault / f"Folder {n % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        links = " ".join(f"[[Note {(n * k) % notes}]]" for k in (3, 7, 11))
        (folder / f"Note {n}.md").write_text(
            f"---\ntags: [t{n % 50}]\n---\n# Note {n}\n\n{links}\n" + "words " * 200
        )


def show(what: str, times: list[float]) -> None:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(
        f"{what:24} median {ordered[len(ordered) // 2]:7.1f} ms  p95 {p95:7.1f} ms  worst {ordered[-1]:7.1f} ms"
    )


def handshakes(vault: Path, cache: Path, runs: int) -> None:
    """From the request to its answer in a process that is up, as the contract counts it: after a ping."""
    times: dict[str, list[float]] = {"initialize": [], "tools/list": [], "end": []}
    for _ in range(runs):
        server = Server(vault, cache)
        server.ask("ping", {})
        times["initialize"].append(server.ask("initialize", CLIENT)[1])
        times["tools/list"].append(server.ask("tools/list", {})[1])
        times["end"].append(server.leave())
    for method, took in times.items():
        show(method, took)


def tools(vault: Path, cache: Path, runs: int) -> None:
    server = Server(vault, cache)
    server.ask("initialize", CLIENT)
    first = {"name": "obsidian_read_note", "arguments": {"file": "Note 1"}}
    while "error" in server.ask("tools/call", first)[0]:  # a name has to wait until every file is indexed
        pass
    taken: dict[str, list[float]] = {}

    def call(tool: str, **arguments: Any) -> None:
        taken.setdefault(tool, []).append(server.call(tool, **arguments))

    for n in range(runs):
        call("obsidian_read_note", file=f"Note {n + 100}")
        call("obsidian_file_info", file=f"Note {n + 100}")
        call("obsidian_open_note", file=f"Note {n + 100}")
        call("obsidian_create_note", name=f"New/Made {n}", content="made")
        call("obsidian_append_note", file=f"Note {n + 100}", content="more")
        call("obsidian_prepend_note", file=f"Note {n + 100}", content="more")
        call("obsidian_rename_note", file=f"Note {n + 200}", name=f"Renamed {n}")
        call("obsidian_move_note", file=f"Made {n}", to="New/Sub")
        call("search_text", query="words Note")
    for tool, times in taken.items():
        show(tool, times)
    server.leave()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault, cache = Path(folder, "vault"), Path(folder, "cache")
        make(vault, options.notes)
        tools(vault, cache, options.runs)
        handshakes(vault, cache, options.runs)


if __name__ == "__main__":
    main()
