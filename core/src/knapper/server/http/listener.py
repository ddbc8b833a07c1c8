"""The listener: uvicorn with our limits, a line that says where, and an orderly end."""

from __future__ import annotations

import errno
import logging
import ssl
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from sse_starlette.sse import AppStatus

from knapper import __version__
from knapper.errors import ConfigError, KnapperError
from knapper.server.http.app import App

if TYPE_CHECKING:
    from socket import socket

    from knapper.server.host import Host

KEEP_ALIVE_SECONDS = 120
FINISH_SECONDS = 30
# Why an address cannot be listened on is said once, by whoever started the listener.
logging.getLogger("uvicorn.error").addFilter(lambda record: not isinstance(record.msg, OSError))


class Listener(uvicorn.Server):
    """One listener; ready when it has said so, and over when what it served has finished."""

    def __init__(self, host: Host, ready: Callable[[str], None] | None = None) -> None:
        settings = host.runtime.settings.transports.http
        if settings.certificate_file is not None:
            check(settings.certificate_file, settings.key_file)
        AppStatus.enable_automatic_graceful_drain = False  # it would cut off calls that are left to finish
        self._app = App(host)
        self._path = settings.path
        self._ready = ready or announce
        super().__init__(
            uvicorn.Config(
                self._app,
                host=settings.host.strip("[]"),
                port=settings.port,
                ssl_certfile=settings.certificate_file,
                ssl_keyfile=settings.key_file,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # who may be believed about a client's address is not ours to guess
                lifespan="on",
                ws="none",
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=FINISH_SECONDS,
            )
        )

    async def startup(self, sockets: list[socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as stopped:  # what uvicorn makes of an address that cannot be had
            if isinstance(stopped.__context__, OSError):
                raise unavailable(self.config.host, self.config.port, stopped.__context__) from None
            raise
        if self.started:
            self._ready(self.address)

    @property
    def address(self) -> str:
        """Where clients connect, with the port that was really taken."""
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        scheme = "https" if self.config.is_ssl else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{self._path}"

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal lets what runs finish; the second one does not. Neither is raised again at the end."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        self._app.stop()
        await super().shutdown(sockets)

    def stop(self, *_: Any) -> None:
        self.should_exit = True


def unavailable(host: str, port: int, error: OSError) -> KnapperError:
    """Why nobody can listen there, and what to do."""
    if error.errno == errno.EADDRINUSE:
        problem = f"port {port} of {host} is taken by another program, maybe another knapper"
        return KnapperError(f"{problem}; stop that one, or choose a port: --port or transports.http.port")
    if error.errno == errno.EACCES:
        problem = f"port {port} of {host} is not for this user"
        return KnapperError(f"{problem}; choose one above 1023: --port or transports.http.port")
    problem = f"{host!r} is not an address of this machine"
    return KnapperError(f"{problem}; choose one that is: --host or transports.http.host")


def check(certificate: str, key: str | None) -> None:
    """ConfigError where TLS cannot be spoken with these files."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = f"it cannot be used together with key_file ({reason})"
        raise ConfigError(f"transports.http.certificate_file: {problem}") from None


def announce(address: str) -> None:
    sys.stderr.write(f"knapper {__version__} listening on {address}\n")
    sys.stderr.flush()
