"""How many calls a second one core serves, how long each takes, and what a slow call beside them costs the others.

python benchmarks/load.py VAULT [--edge http|stdio] [--era modern|legacy] [--clients 16] [--seconds 5] [--beside regex ...]
                                [--yardstick ROUNDS]

The server runs on one core, with every process and thread that it starts, and the clients on another. It is measured
alone first and then once for each slow call, which one more client repeats all the time. The vault is copied before.

How much a machine does in a second differs by the hour. With --yardstick the server takes turns on its core with the
official SDK alone, whose one tool reads the file and does nothing else (yardstick.py).
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

META = "io.modelcontextprotocol/"
ENVELOPE = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}
OPENED = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
NOTES = 500
WARM_SECONDS = 1.0
# The slow calls: a pattern that no note matches and that is stopped at its budget, the whole vault read anew, all passages
# compared, a query that reads every page, and fifty notes written.
BESIDE: dict[str, tuple[str, Callable[[list[str], int], dict[str, Any]]]] = {
    "regex": ("search_regex", lambda notes, n: {"pattern": r"(\w+ ?)+\d{9}x"}),
    "index": ("index_vault", lambda notes, n: {"force": True}),
    "semantic": ("search_semantic", lambda notes, n: {"query": f"plans for quarter {n}", "k": 100}),
    "dql": ("search_dql", lambda notes, n: {"dql": f"TABLE length(file.outlinks) WHERE file.size > {n} SORT file.size LIMIT 100"}),
    "bulk": ("bulk_set_property", lambda notes, n: {"paths": notes[-50:], "key": "load", "value": n}),
}  # fmt: skip
Call = Callable[[str, dict[str, Any]], Awaitable[bool]]


def pin(core: int, process: int = 0) -> None:
    """Keep a process, with all its threads, on one core."""
    if not hasattr(os, "sched_setaffinity"):
        return
    threads = [int(t.name) for t in Path(f"/proc/{process}/task").iterdir()] if process else [0]
    for thread in threads:
        with suppress(ProcessLookupError):
            os.sched_setaffinity(thread, {core % (os.cpu_count() or 1)})


class Server:
    """A server process, and connections to it."""

    def __init__(self, options: argparse.Namespace, vault: str, cache: str) -> None:
        self._over_http = options.edge == "http"
        self._vault = vault
        self.modern = options.era == "modern"
        self._command = [
            sys.executable,
            "-m",
            "knapper",
            "serve",
            vault,
            "--cache-dir",
            cache,
            "--facade",
            "flat",
        ]
        self._command += ["--set", "throttle.enabled=false", *(["--port", "0"] if self._over_http else [])]
        for one in options.set:
            self._command += ["--set", one]

    def as_yardstick(self) -> Server:
        """The SDK alone instead of the server."""
        self._command = [sys.executable, str(Path(__file__).with_name("yardstick.py")), self._vault]
        return self

    async def start(self) -> None:
        self.process: Process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE if self._over_http else None, limit=1 << 26
        )
        if self._over_http:
            assert self.process.stderr is not None
            while not (
                found := re.search(
                    rb"listening on http://([\d.]+):(\d+)", await self.process.stderr.readline()
                )
            ):
                if self.process.stderr.at_eof():
                    raise SystemExit("the server did not start")
            self.host, self.port = found[1].decode(), int(found[2])
        else:
            self._pipe = Pipe(self)
            await self._pipe.connect()

    async def connect(self) -> Client:
        """A connection of its own over HTTP; over stdio there is but one."""
        if not self._over_http:
            return self._pipe
        client = Http(self)
        await client.connect()
        return client

    def cpu(self) -> float:
        """Seconds of processor time that the server has used, where the system says it."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        if not stat.exists():
            return 0.0
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    async def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        await self.process.wait()


class Client:
    """Sends requests and takes their answers, written and read by hand."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._ids = itertools.count(1)

    async def connect(self) -> None:
        if not self._server.modern:
            await self.ask("initialize", OPENED)
            await self.ask("notifications/initialized", None)

    async def call(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether the tool succeeded."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if self._server.modern:
            params["_meta"] = ENVELOPE
        answer = await self.ask("tools/call", params, tool)
        assert b'"result"' in answer, answer
        return b'"isError":true' not in answer

    async def ask(self, method: str, params: Any, name: str = "") -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        """Leave; what still runs for this client is cancelled."""

    def _message(self, method: str, params: Any) -> tuple[int | None, bytes]:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is None:
            return None, json.dumps(message).encode()
        id = next(self._ids)
        return id, json.dumps(message | {"id": id, "params": params}).encode()


class Http(Client):
    """One connection, with one request on it at a time."""

    async def connect(self) -> None:
        self._session = ""
        self._in, self._out = await asyncio.open_connection(
            self._server.host, self._server.port, limit=1 << 26
        )
        await super().connect()

    async def ask(self, method: str, params: Any, name: str = "") -> bytes:
        _, body = self._message(method, params)
        lines = [
            "POST /mcp HTTP/1.1",
            f"Host: 127.0.0.1:{self._server.port}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}",
        ]
        if self._server.modern:
            lines += ["MCP-Protocol-Version: 2026-07-28", f"Mcp-Method: {method}", f"Mcp-Name: {name}"]
        elif self._session:
            lines += ["MCP-Protocol-Version: 2025-11-25", f"Mcp-Session-Id: {self._session}"]
        self._out.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        headers = await self._in.readuntil(b"\r\n\r\n")
        assert headers[9:10] == b"2", headers
        if opened := re.search(rb"mcp-session-id: (\S+)", headers, re.IGNORECASE):
            self._session = opened[1].decode()
        if length := re.search(rb"content-length: (\d+)", headers, re.IGNORECASE):
            return await self._in.readexactly(int(length[1]))
        return await self._chunks() if b"chunked" in headers else b""

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self._in.readline(), 16):
            body += await self._in.readexactly(size)
            await self._in.readline()
        await self._in.readline()
        return body

    def close(self) -> None:
        self._out.close()


class Pipe(Client):
    """The pipes of a process, with many requests on the way at once."""

    async def connect(self) -> None:
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._reading = asyncio.create_task(self._read())
        await super().connect()

    async def ask(self, method: str, params: Any, name: str = "") -> bytes:
        id, line = self._message(method, params)
        pipe = self._server.process.stdin
        assert pipe is not None
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if id is not None:
            self._waiting[id] = answered
        pipe.write(line + b"\n")
        try:
            return await answered if id is not None else b""
        except asyncio.CancelledError:
            pipe.write(
                self._message("notifications/cancelled", None)[1][:-1]
                + b', "params": {"requestId": %d}}\n' % (id or 0)
            )
            raise

    async def _read(self) -> None:
        pipe = self._server.process.stdout
        assert pipe is not None
        while line := await pipe.readline():
            found = re.match(rb'\{"jsonrpc":"2.0","id":(\d+)', line)
            waiting = self._waiting.pop(int(found[1]), None) if found else None
            if waiting is not None and not waiting.done():
                waiting.set_result(line)


class Measured(NamedTuple):
    """What the clients saw in one run."""

    times: list[float]
    seconds: float
    cpu: float

    def at(self, percent: float) -> float:
        """Milliseconds that so many in a hundred calls took at most."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] * 1000

    def __str__(self) -> str:
        shown = ", ".join(f"p{p} {self.at(p):.1f} ms" for p in (50, 95, 99))
        used = f"; {self.cpu / len(self.times) * 1e6:.0f} µs of processor a call" if self.cpu else ""
        return f"{len(self.times) / self.seconds:.0f} calls/s, {shown}, most {max(self.times) * 1000:.0f} ms{used}"


async def measured(server: Server, clients: list[Client], notes: list[str], seconds: float) -> Measured:
    """All clients read notes for so long, each its next as soon as it has one."""
    times: list[float] = []
    used, end = server.cpu(), time.perf_counter() + seconds

    async def work(client: Client, n: int) -> None:
        while (started := time.perf_counter()) < end:
            assert await client.call("read_note", {"path": notes[n % len(notes)]})
            times.append(time.perf_counter() - started)
            n += len(clients)

    await asyncio.gather(*[work(client, n) for n, client in enumerate(clients)])
    return Measured(times, seconds, server.cpu() - used)


async def slow(server: Server, name: str, notes: list[str], took: list[float]) -> None:
    """Repeat a slow call until it is cancelled."""
    tool, arguments = BESIDE[name]
    client = await server.connect()
    try:
        for n in itertools.count():
            started = time.perf_counter()
            assert await client.call(tool, arguments(notes, n)) or name == "regex"
            took.append(time.perf_counter() - started)
    finally:
        client.close()


async def run(options: argparse.Namespace, vault: str, cache: str, notes: list[str]) -> None:
    server = Server(options, vault, cache)
    await server.start()
    try:
        clients = [await server.connect() for _ in range(options.clients)]
        assert await clients[0].call("index_vault", {"vectors": True})
        pin(1)
        pin(0, server.process.pid)
        await measured(server, clients, notes, WARM_SECONDS)
        alone = await measured(server, clients, notes, options.seconds)
        print(f"read_note over {options.edge}, {options.era}, {options.clients} clients: {alone}", flush=True)
        for name in options.beside:
            took: list[float] = []
            other = asyncio.create_task(slow(server, name, notes, took))
            await measured(server, clients, notes, WARM_SECONDS)
            beside = await measured(server, clients, notes, options.seconds)
            other.cancel()
            with suppress(asyncio.CancelledError):
                await other
            each = f"{len(took)} of {sum(took) / len(took):.2f} s" if took else "one that did not end"
            print(
                f"  beside {name} ({each}): {beside}; {beside.at(99) / alone.at(99):.1f} times the p99",
                flush=True,
            )
            await settled(server)
    finally:
        await server.stop()


async def in_turns(options: argparse.Namespace, vault: str, cache: str, notes: list[str]) -> None:
    servers = {
        "the server": Server(options, vault, cache),
        "the SDK alone": Server(options, vault, cache).as_yardstick(),
    }
    clients: dict[str, list[Client]] = {}
    found: dict[str, list[Measured]] = {name: [] for name in servers}
    try:
        for name, server in servers.items():
            await server.start()
            clients[name] = [await server.connect() for _ in range(options.clients)]
        assert await clients["the server"][0].call("index_vault", {"vectors": True})
        pin(1)
        for server in servers.values():
            pin(0, server.process.pid)
        for turn in range(options.yardstick + 1):  # the first is to warm up
            for name, server in servers.items():
                one = await measured(server, clients[name], notes, options.seconds)
                found[name] += [one] if turn else []
    finally:
        for server in servers.values():
            await server.stop()
    print(
        f"read_note over HTTP, {options.era}, {options.clients} clients, {options.yardstick} turns each, medians"
    )
    for name, runs in found.items():
        print(
            f"{name}: {statistics.median(len(one.times) / one.seconds for one in runs):.0f} calls/s, "
            f"p99 {statistics.median(one.at(99) for one in runs):.1f} ms, "
            f"{statistics.median(one.cpu / len(one.times) for one in runs) * 1e6:.0f} µs of processor a call"
        )


async def settled(server: Server) -> None:
    """Wait until the server has nothing to do."""
    before = -1.0
    while server.cpu() - before > 0.03:
        before = server.cpu()
        await asyncio.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("vault")
    parser.add_argument("--edge", choices=["http", "stdio"], default="http")
    parser.add_argument("--era", choices=["modern", "legacy"], default="modern")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--beside", choices=list(BESIDE), nargs="*", default=[])
    parser.add_argument("--yardstick", metavar="ROUNDS", type=int, default=0)
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "vault")
        shutil.copytree(options.vault, vault)
        notes = sorted(p.relative_to(vault).as_posix() for p in vault.rglob("*.md"))[:NOTES]
        asyncio.run(
            (in_turns if options.yardstick else run)(options, str(vault), str(Path(folder, "cache")), notes)
        )


if __name__ == "__main__":
    main()
