"""A real server process with only the fixtures plugin installed, spoken to line by line or with the SDK's client."""

from __future__ import annotations

import http.client
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PLUGIN = HERE.parent / "fixtures_plugin" / "knapper_fixtures.py"
META = "io.modelcontextprotocol/"
SECONDS = 30.0
ERAS = [
    ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25"), ("legacy", "2025-06-18"),
    ("legacy", "2025-03-26"), ("legacy", "2024-11-05"),
]  # fmt: skip
LISTED = {"jsonrpc": "2.0", "method": "notifications/resources/list_changed", "params": {}}


def install(site: Path, *, version: str = "0.1.0", source: Path = PLUGIN) -> Path:
    """Install a plugin the way pip lays it down: a module, and metadata that names its entry point."""
    module = PLUGIN.stem if source.stem == "changed" else source.stem
    site.mkdir(parents=True, exist_ok=True)
    for old in site.glob(f"{module}-*.dist-info"):
        shutil.rmtree(old)
    shutil.copy(source, site / f"{module}.py")
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[knapper]\n{module.removeprefix('knapper_')} = {module}\n")
    return site


class Place:
    """A vault, a data folder and an environment for one test's servers."""

    def __init__(self, root: Path) -> None:
        self.vault = root / "vault"
        self.vault.mkdir()
        (self.vault / "a.md").write_text("Alpha *text*.\n")
        self.site = install(root / "site")
        self.command_path = str(self.vault)
        self.env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(self.site), os.environ.get("PYTHONPATH")))),
            "KNAPPER_CACHE_DIR": str(root / "cache"),
            "KNAPPER_PLUGINS__ONLY": '["fixtures"]',
            "KNAPPER_THROTTLE__ENABLED": "false",
            "KNAPPER_TOOL_FACADE__MODE": "flat",
        }

    @property
    def command(self) -> list[str]:
        return [
            sys.executable,
            "-c",
            "import sys; from knapper.cli import main; sys.exit(main())",
            "serve",
            self.command_path,
        ]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Pipe:
    """A client that writes lines and reads lines, and knows nothing else."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self.errors: list[bytes] = []
        self.wants_lists = False
        assert self.process.stdin is not None
        self._in = self.process.stdin
        self._threads = [threading.Thread(target=f, daemon=True) for f in (self._out, self._err)]
        for thread in self._threads:
            thread.start()

    def _out(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _err(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def raw(self, line: bytes) -> None:
        self._in.write(line + b"\n")
        self._in.flush()

    def send(self, message: Any) -> None:
        self.raw(json.dumps(message).encode())

    def read(self) -> Any:
        """The next line; every line must be a message of the protocol.

        That the list of notes has changed is told when the first index is there, at no certain moment.
        """
        line = self._lines.get(timeout=SECONDS)
        assert line is not None, b"".join(self.errors).decode()
        message = json.loads(line)
        if not self.wants_lists and message == LISTED:
            return self.read()
        for one in message if isinstance(message, list) else [message]:
            assert one["jsonrpc"] == "2.0"
        return message

    def ask(self, id: int | str, method: str, **params: Any) -> Any:
        """Send a request and return what comes next."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return self.read()

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def call(self, id: int | str, tool: str, _meta: dict[str, Any] | None = None, **arguments: Any) -> Any:
        more = {"_meta": _meta} if _meta else {}
        return self.ask(id, "tools/call", name=tool, arguments=arguments, **more)

    def initialize(self, version: str = "2025-11-25", **capabilities: Any) -> Any:
        client = {"name": "test", "version": "1"}
        answer = self.ask(
            0, "initialize", protocolVersion=version, capabilities=capabilities, clientInfo=client
        )
        self.notify("notifications/initialized")
        return answer

    def leave(self) -> int:
        """Close standard input, and return the exit code."""
        self._in.close()
        return self.process.wait(SECONDS)

    def rest(self) -> list[Any]:
        """What was still written until the process ended."""
        found = []
        while (line := self._lines.get(timeout=SECONDS)) is not None:
            found.append(json.loads(line))
        return [message for message in found if message != LISTED]

    def stderr(self) -> str:
        self._threads[1].join(SECONDS)
        return b"".join(self.errors).decode()


@pytest.fixture
def pipe(place: Place) -> Iterator[Callable[..., Pipe]]:
    """Start a server on stdio: `pipe("--facade", "triad")`."""
    started: list[Pipe] = []

    def start(*arguments: str, **env: str) -> Pipe:
        started.append(Pipe([*place.command, *arguments], {**place.env, **env}))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


class Web:
    """A server over HTTP, and plain requests to it."""

    def __init__(self, command: list[str], env: dict[str, str], port: int = 0) -> None:
        self.process = subprocess.Popen([*command, "--port", str(port)], env=env, stderr=subprocess.PIPE)
        self.errors: list[str] = []
        self._ready: queue.Queue[str] = queue.Queue()
        self._thread = threading.Thread(target=self._err, daemon=True)
        self._thread.start()
        line = self._ready.get(timeout=SECONDS)
        found = re.search(r"listening on ((https?)://([\[\]\w.:]+):(\d+))(/\S+)", line)
        assert found, line
        self.origin, self.path = found[1], found[5]
        self.host, self.port = found[3].strip("[]"), int(found[4])

    def _err(self) -> None:
        assert self.process.stderr is not None
        for raw in self.process.stderr:
            line = raw.decode()
            self.errors.append(line)
            if "listening on" in line:
                self._ready.put(line)
        self._ready.put("".join(self.errors))

    @property
    def url(self) -> str:
        return self.origin + self.path

    def request(
        self, method: str = "POST", path: str | None = None, body: Any = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request on a connection of its own; header names are written with underscores."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=SECONDS)
        given = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection.request(method, path or self.path, data, given)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        content = answer.read()
        connection.close()
        return answer.status, found, content

    def sent(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Send a body whole, or in chunks where it comes in pieces, and return the status and the JSON."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=SECONDS)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, json.loads(content)

    def modern(self, method: str, _headers: dict[str, str] | None = None, **params: Any) -> tuple[int, Any]:
        """A request of the modern era, and its status and answer."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": envelope(), **params}}
        headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": method, **(_headers or {})}
        if "name" in params or "uri" in params:
            headers["Mcp_Name"] = params.get("name") or params["uri"]
        status, _, content = self.request(body=body, **headers)
        return status, json.loads(content) if content else None

    def opened(self, version: str = "2025-11-25", elicitation: Any = None, **headers: str) -> str:
        """The id of a new session of the older era."""
        able = {} if elicitation is None else {"elicitation": elicitation}
        client = {
            "protocolVersion": version,
            "capabilities": able,
            "clientInfo": {"name": "t", "version": "1"},
        }
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}
        status, found, content = self.request(body=body, **headers)
        assert status == 200, content
        session = found["mcp-session-id"]
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert self.request(body=note, Mcp_Session_Id=session, **headers)[0] == 202
        return session

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(SECONDS)


@pytest.fixture
def web(place: Place) -> Iterator[Callable[..., Web]]:
    """Start a server over HTTP: `web("--set", "auth.mode=apikey")`."""
    started: list[Web] = []

    def start(*arguments: str, **env: str) -> Web:
        started.append(Web([*place.command, *arguments], {**place.env, **env}))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def data_of(content: bytes) -> Any:
    """The answer, or its last message where it came as a stream."""
    if content.startswith(b"{"):
        return json.loads(content)
    lines = [line[6:] for line in content.decode().splitlines() if line.startswith("data: {")]
    return json.loads(lines[-1])


def envelope(**more: Any) -> dict[str, Any]:
    """The `_meta` that every request of the modern era carries."""
    version, capabilities = f"{META}protocolVersion", f"{META}clientCapabilities"
    return {
        version: "2026-07-28",
        capabilities: {},
        f"{META}clientInfo": {"name": "test", "version": "1"},
    } | more


def speaks(monkeypatch: pytest.MonkeyPatch, mode: str, version: str) -> None:
    """Let the SDK's client ask for an older revision than its latest, as a client of that time does."""
    if mode == "legacy":
        monkeypatch.setattr("mcp.client.session.LATEST_HANDSHAKE_VERSION", version)
