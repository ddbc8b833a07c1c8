"""The edge to the client: a few things are answered here, everything else by the host."""

from __future__ import annotations

from typing import Any, BinaryIO

from knapper import __version__
from knapper.server import eras, table
from knapper.server.exchange import Exchange
from knapper.server.stdio import Stdio
from knapper.server.wire import INVALID_REQUEST, UNSUPPORTED_VERSION, ProtocolError
from knapper_bridge_stdio.http import HostError
from knapper_bridge_stdio.remote import Remote, capabilities

SERVER_INFO = {"name": "knapper-stdio", "title": "knapper", "version": __version__}
HERE = ("ping", "tools/list")
SENT = "; it was sent once and may have taken effect"


class Proxy(Stdio):
    """One client on a pair of pipes, in front of a host."""

    def __init__(self, remote: Remote, source: BinaryIO, sink: int) -> None:
        super().__init__(remote, source, sink)
        self._remote = remote

    def is_quick(self, method: str) -> bool:
        return method in (
            "initialize",
            "ping",
        )  # what comes next rests on the first, and the second is to be prompt

    def answer(self, exchange: Exchange) -> Any:
        """The host's result as it came, or what is known here."""
        if exchange.modern:
            self._ask_for_a_handshake(exchange)
        if exchange.method == "initialize":
            return self._initialized(exchange)
        if exchange.method in HERE:
            if exchange.method == "tools/list":
                self._remote.shown()
            return table.answer(exchange)
        if exchange.session.version is None:
            raise ProtocolError(INVALID_REQUEST, "Invalid request: send 'initialize' first")
        return self._call(exchange) if exchange.method == "tools/call" else self._remote.link.relay(exchange)

    def notified(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/initialized":
            self._remote.listened = True
        else:
            self._pool.submit(lambda: self._remote.link.notify(method, params))

    def _ask_for_a_handshake(self, exchange: Exchange) -> None:
        """A session with the host begins with a handshake, so one with the client does."""
        exchange.session.modern = None
        data = {"supported": list(eras.HANDSHAKE), "requested": exchange.version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)

    def _initialized(self, exchange: Exchange) -> dict[str, Any]:
        result = table.answer(exchange)
        assert result is not None
        self._remote.greet(exchange)
        known = self._remote.known
        told = {"instructions": known.instructions} if known.instructions else {}
        del result["instructions"]
        return {**result, "capabilities": capabilities(known), "serverInfo": SERVER_INFO, **told}

    def _call(self, exchange: Exchange) -> Any:
        """A call that the host did not answer is told as a failed tool, which the model reads."""
        try:
            result = self._remote.link.call(exchange)
            self._remote.reached()
            return result
        except HostError as error:
            text = f"Error: {error}{SENT if error.sent else ''}"
            return {"content": [{"type": "text", "text": text}], "isError": True}
