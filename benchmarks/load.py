"""How many calls a second one core serves over HTTP, and how long each takes.

python benchmarks/load.py VAULT [--tool read_note] [--era modern] [--clients 16] [--seconds 5] [--beside TOOL=JSON]

The server runs on one core, the clients on another. `--beside` keeps a slow call running all the time, to see what it
costs the others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

META = "io.modelcontextprotocol/"
ENVELOPE = {f"{META}protocolVersion": "2026-07-28", f"{META}clientCapabilities": {}}


def pin(core: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core % (os.cpu_count() or 1)})


class Served:
    """A server process on a core of its own."""

    def __init__(self, vault: str, cache: str, more: list[str]) -> None:
        command = [sys.executable, "-m", "knapper", "serve", vault, "--port", "0", "--cache-dir", cache]
        settings = ["--facade", "flat", "--set", "throttle.enabled=false"]
        for one in more:
            settings += ["--set", one]
        self.process = subprocess.Popen(
            [*command, *settings], stderr=subprocess.PIPE, preexec_fn=lambda: pin(0)
        )
        assert self.process.stderr is not None
        while not (
            found := re.search(rb"listening on http://([\d.]+):(\d+)", self.process.stderr.readline())
        ):
            if self.process.poll() is not None:
                raise SystemExit("the server did not start")
        self.host, self.port = found[1].decode(), int(found[2])

    def cpu(self) -> float:
        """Seconds of processor time that the server has used, where the system says it."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        if not stat.exists():
            return 0.0
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


class Client:
    """One connection that sends the same kind of request again and again, written and read by hand."""

    def __init__(self, served: Served, era: str) -> None:
        self._served = served
        self._modern = era == "modern"
        self._session = ""
        self._id = 0

    async def connect(self) -> None:
        self._in, self._out = await asyncio.open_connection(self._served.host, self._served.port)
        if not self._modern:
            opened = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "l", "version": "1"},
            }
            headers, _ = await self._post("initialize", opened)
            self._session = re.search(rb"mcp-session-id: (\S+)", headers, re.IGNORECASE)[1].decode()  # type: ignore[index]
            await self._post("notifications/initialized", None)

    async def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if self._modern:
            params["_meta"] = ENVELOPE
        _, body = await self._post("tools/call", params, tool)
        result = json.loads(body)["result"]
        assert not result.get("isError"), result
        return result

    async def _post(self, method: str, params: Any, name: str = "") -> tuple[bytes, bytes]:
        self._id += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message |= {"id": self._id, "params": params}
        body = json.dumps(message).encode()
        lines = [
            "POST /mcp HTTP/1.1",
            f"Host: 127.0.0.1:{self._served.port}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}",
        ]
        if self._modern:
            lines += ["MCP-Protocol-Version: 2026-07-28", f"Mcp-Method: {method}", f"Mcp-Name: {name}"]
        elif self._session:
            lines += ["MCP-Protocol-Version: 2025-11-25", f"Mcp-Session-Id: {self._session}"]
        self._out.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return await self._answer()

    async def _answer(self) -> tuple[bytes, bytes]:
        headers = await self._in.readuntil(b"\r\n\r\n")
        assert headers[9:10] == b"2", headers
        length = re.search(rb"content-length: (\d+)", headers, re.IGNORECASE)
        if length:
            return headers, await self._in.readexactly(int(length[1]))
        body = b""
        while size := int(await self._in.readline(), 16):
            body += await self._in.readexactly(size)
            await self._in.readline()
        await self._in.readline()
        data = [line[6:] for line in body.splitlines() if line.startswith(b"data: {")]
        return headers, data[-1] if data else b""


async def drive(served: Served, options: argparse.Namespace, notes: list[str]) -> tuple[list[float], float]:
    clients = [Client(served, options.era) for _ in range(options.clients)]
    for client in clients:
        await client.connect()
    slow = asyncio.create_task(_beside(served, options)) if options.beside else None
    for n, client in enumerate(clients):
        await client.call(options.tool, {"path": notes[n % len(notes)]})
    await _settled(served)
    used, end = served.cpu(), time.perf_counter() + options.seconds
    times: list[float] = []

    async def work(client: Client, n: int) -> None:
        while (started := time.perf_counter()) < end:
            await client.call(options.tool, {"path": notes[n % len(notes)]})
            times.append(time.perf_counter() - started)
            n += options.clients

    await asyncio.gather(*[work(client, n) for n, client in enumerate(clients)])
    used = served.cpu() - used
    if slow is not None:
        slow.cancel()
    return times, used


async def _settled(served: Served) -> None:
    """Wait until the first index run is over: it is measured elsewhere."""
    while True:
        before = served.cpu()
        await asyncio.sleep(0.5)
        if served.cpu() - before < 0.05:
            return


async def _beside(served: Served, options: argparse.Namespace) -> None:
    tool, _, arguments = options.beside.partition("=")
    client = Client(served, options.era)
    await client.connect()
    while True:
        try:
            await client.call(tool, json.loads(arguments or "{}"))
        except AssertionError:  # stopped at its budget, as it should be
            continue


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("vault")
    parser.add_argument("--tool", default="read_note")
    parser.add_argument("--era", choices=["modern", "legacy"], default="modern")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--beside", metavar="TOOL=JSON")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[])
    options = parser.parse_args()
    pin(1)
    notes = sorted(p.relative_to(options.vault).as_posix() for p in Path(options.vault).rglob("*.md"))[:500]
    with tempfile.TemporaryDirectory() as cache:
        served = Served(options.vault, os.environ.get("KNAPPER_CACHE_DIR", cache), options.set)
        try:
            times, used = asyncio.run(drive(served, options, notes))
        finally:
            served.stop()
    times.sort()
    p50, p95, p99 = (times[min(len(times) - 1, int(len(times) * p / 100))] * 1000 for p in (50, 95, 99))
    print(f"{options.tool} {options.era}: {len(times) / options.seconds:.0f} calls/s, ", end="")
    print(f"p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms", end="")
    print(f"; {used / len(times) * 1e6:.0f} µs of processor a call" if used else "")


if __name__ == "__main__":
    main()
