"""How long each kind of search takes over stdio, on a vault that is given.

python3 benchmarks/retrieval.py VAULT [--cache FOLDER] [--calls N] [-- COMMAND…]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

Ask = Callable[[], tuple[str, dict[str, Any]]]


class Server:
    """A server on stdio, asked one thing at a time."""

    def __init__(self, command: list[str]) -> None:
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        client = {"name": "benchmark", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._child.stdin.write(json.dumps(request).encode() + b"\n")
        self._child.stdin.flush()
        while True:
            answer = json.loads(self._child.stdout.readline())
            if answer.get("id") == self._number:
                return answer

    def call(self, tool: str, **arguments: Any) -> Any:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer or answer["result"].get("isError"):
            raise SystemExit(f"{tool}: {json.dumps(answer)[:300]}")
        return answer["result"]["structuredContent"]

    def close(self) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait(30)


class Words:
    """Words and phrases of the vault, common and rare, drawn by chance but always the same."""

    def __init__(self, vault: Path) -> None:
        self._random = random.Random(7)
        self._texts = [f.read_text("utf-8", "ignore") for f in sorted(vault.rglob("*.md"))[::25]]
        self._all: list[str] = re.findall(r"\w{3,}", " ".join(self._texts).lower())
        counted = Counter(self._all)
        self._common = [word for word, _ in counted.most_common(30)]
        self._rare = [word for word, times in counted.items() if times == 1]

    def common(self) -> str:
        return self._random.choice(self._common)

    def rare(self) -> str:
        return self._random.choice(self._rare)

    def some(self, count: int = 4) -> str:
        return " ".join(self._random.sample(self._all, count))

    def phrase(self) -> str:
        words = self._random.choice(self._texts).split()
        start = self._random.randrange(max(1, len(words) - 3))
        return " ".join(words[start : start + 3]) or "the"


def measure(server: Server, name: str, ask: Ask, calls: int) -> None:
    took = []
    for _ in range(calls):
        tool, arguments = ask()
        started = time.perf_counter()
        server.call(tool, **arguments)
        took.append(1000 * (time.perf_counter() - started))
    took.sort()
    print(
        f"{name:24} p50 {statistics.median(took):7.1f} ms   p95 {took[int(0.95 * (len(took) - 1))]:7.1f} ms"
    )


def questions(server: Server, words: Words) -> dict[str, Ask]:
    ids = [r["note_id"] for _ in range(5) for r in server.call("search", query=words.some())["results"]]
    pick = random.Random(7)
    return {
        "text, rare word": lambda: ("search_text", {"query": words.rare(), "limit": 20}),
        "text, phrase": lambda: ("search_text", {"query": words.phrase(), "limit": 20}),
        "text, common word": lambda: ("search_text", {"query": words.common(), "limit": 20}),
        "text, two characters": lambda: ("search_text", {"query": words.some(1)[:2], "limit": 20}),
        "regex with a literal": lambda: ("search_regex", {"pattern": words.some(1) + r"\s+\w+", "limit": 50}),
        "semantic": lambda: ("search_semantic", {"query": words.some()}),
        "hybrid": lambda: ("search_vault", {"query": words.some(), "mode": "hybrid", "limit": 10}),
        "search": lambda: ("search", {"query": words.some()}),
        "graph": lambda: ("vault_graph_search", {"query": words.some()}),
        "context": lambda: ("vault_context", {"query": words.some()}),
        "related": lambda: ("related", {"type": "note", "id": pick.choice(ids)}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--calls", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = given.cache or Path(temporary)
        command = ["knapper", "serve", str(given.vault), "--facade", "flat", "--cache-dir", str(cache)]
        command += ["--set", "throttle.enabled=false"]
        server = Server(command)
        started = time.perf_counter()
        server.call("index_vault", vectors=True)
        print(f"{'index and vectors':24} {time.perf_counter() - started:11.1f} s")
        for name, ask in questions(server, Words(given.vault)).items():
            measure(server, name, ask, given.calls)
        server.close()
        again = Server(command)
        started = time.perf_counter()
        again.call("search_semantic", query="a first question")
        print(f"{'first semantic after start':24} {1000 * (time.perf_counter() - started):9.0f} ms")
        again.close()


if __name__ == "__main__":
    main()
