"""A host over /mcp, in the era of the handshake: one session for one client, opened anew where the host forgot it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from knapper.server.exchange import Exchange
from knapper.server.wire import ENCODER, METHOD_NOT_FOUND, ProtocolError
from knapper_bridge_stdio.ear import Ear, later
from knapper_bridge_stdio.events import Message, messages
from knapper_bridge_stdio.http import HostError, Http, decoded, hang_up, line
from knapper_bridge_stdio.known import Known, known
from knapper_bridge_stdio.session import Greeting, Session, Welcome

if TYPE_CHECKING:
    import httpx

LOOK_SECONDS = 5.0
MOST_PAGES = 1000


class Page(msgspec.Struct):
    """A page of tools."""

    tools: list[msgspec.Raw]
    nextCursor: str | None = None  # noqa: N815 (the protocol's spelling)


class Mcp:
    """One client's session with the host."""

    def __init__(
        self, http: Http, url: str, greeting: Callable[[], Greeting], wake: Callable[[], None], seconds: float
    ) -> None:
        self._http = http
        self._url = url
        self._greeting = greeting
        self._wake = wake
        self._ear = Ear(http, url, greeting, wake)
        self._seconds = seconds
        self._ids = count(1)
        self._opening = threading.Lock()
        self._session: Session | None = None
        self._standing: dict[tuple[str, str], dict[str, Any]] = {}

    def look(self) -> Known:
        """The host's tools, all pages of them."""
        tools: list[msgspec.Raw] = []
        params: dict[str, Any] = {}
        for _ in range(MOST_PAGES):
            page = decoded(bytes(self.request("tools/list", params, LOOK_SECONDS)), Page)
            tools += [line(tool) for tool in page.tools]
            if not page.nextCursor:
                break
            params = {"cursor": page.nextCursor}
        session = self._open()
        self._ear.listen(session)  # again, where the stream has ended
        return known(tools, session.capabilities, session.instructions)

    def relay(self, exchange: Exchange) -> msgspec.Raw:
        """Pass a client's request on, and what is said about it on the way."""
        result = self.request(exchange.method, exchange.params, self._seconds, exchange)
        self._remember(exchange.method, exchange.params)
        return result

    def request(
        self, method: str, params: dict[str, Any], seconds: float, exchange: Exchange | None = None
    ) -> msgspec.Raw:
        """The result of a request. One to a session that the host does not know was not looked at, so it is sent again."""
        session = self._open()
        try:
            return self._asked(session, method, params, seconds, exchange)
        except HostError as error:
            if error.status != 404 or session.id is None:
                raise
        self._forget(session)
        self._wake()
        return self._asked(self._open(), method, params, seconds, exchange)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Pass a notification on where there is a session; one that is lost is lost."""
        if (session := self._session) is not None:
            self._ear.post(session, {"jsonrpc": "2.0", "method": method, "params": params})

    def close(self) -> None:
        """End the session, so that the host need not remember it."""
        session, self._session = self._session, None
        if session is not None and session.id is not None:
            with (
                suppress(HostError),
                self._http.asked("DELETE", self._url, None, session.headers, LOOK_SECONDS),
            ):
                pass

    def _open(self) -> Session:
        with self._opening:
            if self._session is None:
                self._session = self._welcomed()
                self._ear.post(self._session, {"jsonrpc": "2.0", "method": "notifications/initialized"})
                self._order_again(self._session)
                self._ear.listen(self._session)
            return self._session

    def _forget(self, session: Session) -> None:
        with self._opening:
            if self._session is session:
                self._session = None

    def _welcomed(self) -> Session:
        greeting = self._greeting()
        params = {
            "protocolVersion": greeting.version,
            "capabilities": greeting.capabilities,
            "clientInfo": greeting.client,
        }
        opened = Session(None, greeting.version, {}, "")
        found: dict[str, str] = {}
        try:
            result = self._asked(opened, "initialize", params, LOOK_SECONDS, None, found)
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            return opened  # a host without sessions answers everything else all the same
        welcome = decoded(bytes(result), Welcome)
        return Session(
            found.get("mcp-session-id"), welcome.protocolVersion, welcome.capabilities, welcome.instructions
        )

    def _asked(
        self,
        session: Session,
        method: str,
        params: dict[str, Any],
        seconds: float,
        exchange: Exchange | None,
        headers: dict[str, str] | None = None,
    ) -> msgspec.Raw:
        id = next(self._ids)
        body = ENCODER.encode({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        if exchange is not None:
            exchange.on_stop.append(lambda: later(self._cancel, session, id))
            if exchange.cancelled:
                raise HostError("the client cancelled before it was sent")
        with self._http.asked("POST", self._url, body, session.headers, seconds) as answer:
            if headers is not None:
                headers |= {name.lower(): value for name, value in answer.headers.items()}
            with _until_cancelled(exchange, answer):
                for message in messages(answer):
                    if message.method is None and message.id == id:
                        return _result(message)
                    self._ear.heard(session, message, exchange.peer if exchange is not None else None)
        raise HostError("the host ended its answer before the result", sent=True)

    def _cancel(self, session: Session, id: int) -> None:
        params = {"requestId": id, "reason": "the client cancelled"}
        self._ear.post(session, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def _remember(self, method: str, params: dict[str, Any]) -> None:
        """Keep what holds for the whole session, for the one after it."""
        uri = str(params.get("uri", ""))
        if method in ("logging/setLevel", "resources/subscribe"):
            self._standing[method, uri] = params
        elif method == "resources/unsubscribe":
            self._standing.pop(("resources/subscribe", uri), None)

    def _order_again(self, session: Session) -> None:
        for (method, _), params in list(self._standing.items()):
            with suppress(HostError, ProtocolError):
                self._asked(session, method, params, LOOK_SECONDS, None)


@contextmanager
def _until_cancelled(exchange: Exchange | None, answer: httpx.Response) -> Iterator[None]:
    """Let a client that cancels end the reading; afterwards the connection may be another request's."""

    def stop() -> None:
        hang_up(answer)

    if exchange is not None:
        exchange.on_stop.insert(0, stop)  # run last: the host is told first
    try:
        yield
    finally:
        if exchange is not None and stop in exchange.on_stop:
            exchange.on_stop.remove(stop)


def _result(message: Message) -> msgspec.Raw:
    if message.error is not None:
        raise ProtocolError(message.error.code, message.error.message, message.error.data)
    return line(message.result)
