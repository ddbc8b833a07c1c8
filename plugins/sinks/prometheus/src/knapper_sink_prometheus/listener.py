"""The listener: GET /metrics and nothing else, for whom the server's own guard and verifiers let through."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET6
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from knapper import ConfigError
from knapper.config.interlocks import is_loopback
from knapper.server.http.bearer import Bearers, Unauthorised
from knapper.server.http.guard import Guard
from knapper_sink_prometheus.metrics import Exposition

SCOPE = "admin:metrics"
IDLE_SECONDS = 10.0


class Listener:
    """An HTTP server on a thread of its own."""

    def __init__(self, server: Any) -> None:
        chosen = server.settings.observability.prometheus
        bearers = Bearers(server)
        if not bearers.needed and not is_loopback(chosen.bind):
            raise ConfigError(
                "observability.prometheus.bind: is not loopback, so auth.mode must not be 'none'"
            )
        registry = CollectorRegistry()
        registry.register(Exposition(server.metrics))
        guard = Guard(server.settings.transports.http)
        kind = _V6 if ":" in chosen.bind else _V4
        self._server = kind((chosen.bind.strip("[]"), chosen.port), _handler(registry, bearers, guard))
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _V4(ThreadingHTTPServer):
    daemon_threads = True


class _V6(_V4):
    address_family = AF_INET6


def _handler(registry: CollectorRegistry, bearers: Bearers, guard: Guard) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = IDLE_SECONDS  # a client that says nothing does not keep its thread

        def do_GET(self) -> None:
            refusal = guard.refusal(self.headers.get("Host"), self.headers.get("Origin"))
            if refusal is not None:
                self._answer(403, f"{refusal}\n".encode())
            elif self.path.partition("?")[0] != "/metrics":
                self._answer(404, b"only /metrics is here\n")
            elif self._permitted():
                self._answer(200, generate_latest(registry), CONTENT_TYPE_LATEST)

        def _permitted(self) -> bool:
            """Where the server wants a bearer, so does this listener, and one that may see metrics."""
            if not bearers.needed:
                return True
            try:
                caller = bearers.caller(self.headers.get("Authorization"))
            except Unauthorised as error:
                self._answer(error.status, f"{error.message}\n".encode())
                return False
            if not caller.may(SCOPE):
                self._answer(403, f"the scope {SCOPE} is needed\n".encode())
                return False
            return True

        def _answer(self, status: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if status == 401:
                self.send_header("WWW-Authenticate", bearers.challenge)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests for metrics are not worth a line each."""

    return Handler
