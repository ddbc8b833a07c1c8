"""How long a client waits for its first answers: from the spawn of the process to each of them.

python benchmarks/start.py VAULT [--runs 10] [--imports]

The vault is indexed first, with all vectors, and a first start compiles and leaves the catalogue: the starts that are
measured are of new processes on warm files. One kind of client asks initialize, tools/list and read_note one after the
other, also where the catalogue is gone, as after a change of plugins. The others send initialize and a call at once, as
one who has a question already: read_note, search_semantic, and search_vault in mode hybrid, which load the model, its
tokenizer and all vectors before they answer. `--imports` shows instead what the plugins cost to import, heaviest first.
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

CLIENT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "b", "version": "1"},
}
QUESTION = "what did we decide about the project"


class Server:
    """One process, and when it answered what."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.at: dict[str, float] = {}

    def send(self, *requests: tuple[str, dict[str, Any]]) -> None:
        lines = [{"jsonrpc": "2.0", "id": method, "method": method, "params": p} for method, p in requests]
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        self._process.stdin.flush()

    def answer(self, method: str) -> Any:
        """The answer to a request; those before it are only timed."""
        assert self._process.stdout is not None
        while True:
            line = json.loads(self._process.stdout.readline())
            self.at[line.get("id", "")] = (time.perf_counter() - self._began) * 1000
            if line.get("id") == method:
                assert "result" in line, line
                assert not line["result"].get("isError"), line
                return line["result"]

    def leave(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


class Starts:
    """Servers of one vault, begun and asked again and again."""

    def __init__(self, vault: str, cache: str) -> None:
        self._cache = Path(cache)
        self._env = {**os.environ, "KNAPPER_CACHE_DIR": cache}
        self._env.pop("PYTHONDONTWRITEBYTECODE", None)  # a start that compiles everything is another thing
        script = Path(sys.executable).with_name("knapper")
        program = [str(script)] if script.exists() else [sys.executable, "-m", "knapper"]
        self._command = [*program, "serve", vault, "--facade", "flat"]
        subprocess.run([*program, "index", vault], env=self._env, check=True, stdout=subprocess.DEVNULL)

    def in_turn(self, call: dict[str, Any], *, catalogue: bool = True) -> tuple[dict[str, float], int]:
        """When each of the first three questions was answered, and how many tools there are."""
        if not catalogue:
            for kept in self._cache.glob("catalogue-*.bin"):
                kept.unlink()
        server = Server(self._command, self._env)
        server.send(("initialize", CLIENT))
        server.answer("initialize")
        server.send(("tools/list", {}))
        tools = len(server.answer("tools/list")["tools"])
        server.send(("tools/call", call))
        server.answer("tools/call")
        server.leave()
        return server.at, tools

    def at_once(self, call: dict[str, Any]) -> float:
        """When a call was answered that was sent together with the handshake."""
        server = Server(self._command, self._env)
        server.send(("initialize", CLIENT), ("tools/call", call))
        found = server.answer("tools/call")["structuredContent"]
        assert found.get("items", [1]), "nothing was found"
        assert found.get("vectors_ready", True), "the index was begun anew"
        server.leave()
        return server.at["tools/call"]


def starts(vault: str, runs: int) -> None:
    note = next(Path(vault).rglob("*.md")).relative_to(vault).as_posix()
    read = {"name": "read_note", "arguments": {"path": note}}
    meaning = {"name": "search_semantic", "arguments": {"query": QUESTION}}
    hybrid = {"name": "search_vault", "arguments": {"query": QUESTION, "mode": "hybrid"}}
    with tempfile.TemporaryDirectory() as cache:
        servers = Starts(vault, cache)
        _, tools = servers.in_turn(read)
        print(f"{tools} tools, {runs} starts each")
        warm = [servers.in_turn(read)[0] for _ in range(runs)]
        for method, limit in (("initialize", 120), ("tools/list", 150), ("tools/call", 500)):
            tell(method, [at[method] for at in warm], limit)
        bare = [servers.in_turn(read, catalogue=False)[0]["tools/call"] for _ in range(runs)]
        tell("tools/call, other plugins", bare, 1000)
        for name, call, limit in (
            ("read_note at once", read, 500),
            ("search_semantic at once", meaning, 600),
            ("hybrid search_vault at once", hybrid, 600),
        ):
            tell(name, [servers.at_once(call) for _ in range(runs)], limit)


def tell(name: str, took: list[float], limit: int) -> None:
    took = sorted(took)
    print(
        f"{name:28} median {took[len(took) // 2]:4.0f} ms, best {took[0]:4.0f}, worst {took[-1]:4.0f} (limit {limit})"
    )


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
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--imports", action="store_true")
    options = parser.parse_args()
    if options.imports:
        imports()
    elif options.vault is None:
        parser.error("name a vault")
    else:
        starts(options.vault, options.runs)


if __name__ == "__main__":
    main()
