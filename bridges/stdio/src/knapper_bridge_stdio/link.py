"""Which of the two protocols the host is talked to in; in `auto` by what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper.server.exchange import Exchange
from knapper.server.wire import INTERNAL_ERROR, METHOD_NOT_FOUND, ProtocolError
from knapper_bridge_stdio.http import HostError, Http
from knapper_bridge_stdio.known import Known
from knapper_bridge_stdio.mcp import Mcp
from knapper_bridge_stdio.options import Options, note
from knapper_bridge_stdio.v1 import V1

if TYPE_CHECKING:
    from collections.abc import Callable

    from knapper_bridge_stdio.session import Greeting


class Link:
    """The way to the host. A call is sent a second way only where the first certainly did nothing."""

    def __init__(self, options: Options, greeting: Callable[[], Greeting], wake: Callable[[], None]) -> None:
        http = Http(options.origin, options.api_key)
        self._mcp = Mcp(http, options.url, greeting, wake, options.call_seconds)
        self._v1 = V1(http, options.call_seconds)
        self._auto = options.transport == "auto"
        self.spoken: str | None = None if self._auto else options.transport

    def look(self) -> Known:
        """The host's tools; HostError where it does not tell them."""
        if self.spoken == "v1":
            return self._v1.look()
        try:
            found = self._look_over_mcp()
        except HostError as error:
            if not self._auto:
                raise
            return self._look_over_v1(error)
        self.spoken = "mcp"
        return found

    def call(self, exchange: Exchange) -> Any:
        """The result of tools/call."""
        if self._settled() == "v1":
            return self._v1.call(exchange)
        try:
            return self._mcp.relay(exchange)
        except HostError as error:
            if not (self._auto and error.absent):
                raise
        except ProtocolError as error:
            if not (self._auto and error.code == METHOD_NOT_FOUND):
                raise
        return self._v1.call(exchange)

    def relay(self, exchange: Exchange) -> Any:
        """The result of any other request, which only MCP knows."""
        try:
            if self._settled() == "mcp":
                return self._mcp.relay(exchange)
        except HostError as error:
            raise ProtocolError(INTERNAL_ERROR, str(error)) from None
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {exchange.method}")

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if self.spoken == "mcp":
            self._mcp.notify(method, params)

    def close(self) -> None:
        self._mcp.close()

    def _settled(self) -> str:
        if self.spoken is None:
            self.look()
        return str(self.spoken)

    def _look_over_mcp(self) -> Known:
        try:
            return self._mcp.look()
        except ProtocolError as error:
            raise HostError(f"/mcp: {error.message}", code=error.code) from None

    def _look_over_v1(self, first: HostError) -> Known:
        """Whatever went wrong over MCP, try the plain protocol, and stay with it where it works."""
        try:
            found = self._v1.look()
        except HostError as second:
            raise second if first.refused and not second.refused else first from None
        if not first.status and not first.code:  # it may have come up between the two attempts
            try:
                again = self._look_over_mcp()
                self.spoken = "mcp"
                return again
            except HostError:
                pass
        note(f"/bridge/v1 is spoken from now on, since /mcp failed: {first}")
        self.spoken = "v1"
        return found
