"""The listener: GET /metrics and nothing else, open on loopback, and only for verified bearers anywhere else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from knapper import Caller, ConfigError, Rejected
from knapper.config.interlocks import is_loopback

SCOPE = "admin:metrics"


class Listener:
    """An HTTP server on a thread of its own."""

    def __init__(self, settings: Any, registry: CollectorRegistry) -> None:
        chosen = settings.observability.prometheus
        verify = None if is_loopback(chosen.bind) else _verifier(settings)
        self._server = ThreadingHTTPServer((chosen.bind, chosen.port), _handler(registry, verify, settings))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _verifier(settings: Any) -> Callable[[str], Caller]:
    """The server's own verifiers, asked in their order; a listener for others without one is refused."""
    from knapper.plugins import Plugins

    offered = {v.name: v for _, v in Plugins.discover().ask("knapper_verifiers")}
    chosen: list[Callable[[str], Caller]] = [
        offered[name].build(settings) for name in settings.auth.order if name in offered
    ]
    if not chosen:
        raise ConfigError(
            "observability.prometheus.bind: is not loopback, and no verifier is configured and installed"
        )

    def verify(bearer: str) -> Caller:
        reason: Rejected | None = None
        for one in chosen:
            try:
                return one(bearer)
            except Rejected as error:
                reason = error
        raise reason or Rejected("misconfigured")

    return verify


def _handler(
    registry: CollectorRegistry, verify: Callable[[str], Caller] | None, settings: Any
) -> type[BaseHTTPRequestHandler]:
    allowed = {host.lower() for host in settings.transports.http.allowed_hosts}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host") or ""
            if not is_loopback(host) and host.lower() not in allowed:
                self._answer(403, b"host not allowed\n")
            elif self.path.partition("?")[0] != "/metrics":
                self._answer(404, b"only /metrics is here\n")
            elif verify is not None and not self._permitted(verify):
                self._answer(401, b"invalid or expired token\n")
            else:
                self._answer(200, generate_latest(registry), CONTENT_TYPE_LATEST)

        def _permitted(self, check: Callable[[str], Caller]) -> bool:
            scheme, _, bearer = (self.headers.get("Authorization") or "").partition(" ")
            try:
                return scheme.lower() == "bearer" and check(bearer).may(SCOPE)
            except Rejected:
                return False

        def _answer(self, status: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests for metrics are not worth a line each."""

    return Handler
