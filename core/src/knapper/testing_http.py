"""A real HTTP server on loopback for tests of what asks one: it answers as told, and keeps what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any
    method: str = "POST"


class Reply(NamedTuple):
    """An answer; `hold` keeps it back until the event is set, `hang_up` ends the connection instead."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    hold: threading.Event | None = None
    hang_up: bool = False


Answer = Callable[[Asked], Reply]


class Loopback:
    """What the server was asked so far, and how it answers next."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[Asked] = []
        self.next: list[Reply] = []  # used up before `answer` is asked
        self.answer = answer
        self.url = ""

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return self.next.pop(0) if self.next else self.answer(asked)


@contextmanager
def loopback(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Loopback]:
    """Serve on a free port of this machine for as long as the block runs."""
    told = Loopback(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            body = json.loads(raw) if raw else None
            asked = Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body, self.command)
            reply = told.reply(asked)
            if reply.hold is not None:
                reply.hold.wait(30)
            if reply.hang_up:
                self.close_connection = True
                return
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            with suppress(ConnectionError):  # one who does not wait for the answer has gone by now
                self._send(reply, data)

        def _send(self, reply: Reply, data: bytes) -> None:
            self.send_response(reply.status)
            for name, value in {"content-length": str(len(data)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    told.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
