"""A host over /mcp, in the era of the handshake: one session for one client, opened anew where the host forgot it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple

import msgspec

from knapper.server.exchange import Exchange, Peer
from knapper.server.wire import ENCODER, INTERNAL_ERROR, METHOD_NOT_FOUND, ProtocolError
from knapper_bridge_stdio.events import Message, messages
from knapper_bridge_stdio.http import HostError, Http, decoded, hang_up, line
from knapper_bridge_stdio.known import Known, known

LOOK_SECONDS = 5.0
ANSWER_SECONDS = 600.0  # for a person whom the host asks something
ACCEPT = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
LISTED = "notifications/tools/list_changed"
MOST_PAGES = 1000


class Session(NamedTuple):
    """What was agreed on with the host."""

    id: str | None
    version: str
    capabilities: dict[str, Any]
    instructions: str

    @property
    def headers(self) -> dict[str, str]:
        found = {**ACCEPT, "mcp-protocol-version": self.version}
        return found | {"mcp-session-id": self.id} if self.id else found


class Greeting(NamedTuple):
    """Whom the session is for: the client's own words, and the way back to it."""

    version: str
    capabilities: dict[str, Any]
    client: dict[str, Any]
    peer: Peer


class Welcome(msgspec.Struct):
    """The host's answer to a greeting."""

    protocolVersion: str  # noqa: N815 (the protocol's spelling)
    capabilities: dict[str, Any] = {}
    instructions: str = ""


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
        self._seconds = seconds
        self._ids = count(1)
        self._opening = threading.Lock()
        self._session: Session | None = None
        self._listening: Session | None = None
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
        self._listen(session)  # again, where the stream has ended
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
            self._post(session.headers, {"jsonrpc": "2.0", "method": method, "params": params})

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
                self._post(self._session.headers, {"jsonrpc": "2.0", "method": "notifications/initialized"})
                self._order_again(self._session)
                self._listen(self._session)
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
            exchange.on_stop.append(lambda: self._later(self._cancel, session, id))
            if exchange.cancelled:
                raise HostError("the client cancelled before it was sent")
        with self._http.asked("POST", self._url, body, session.headers, seconds) as answer:
            if headers is not None:
                headers |= {name.lower(): value for name, value in answer.headers.items()}
            if exchange is not None:
                exchange.on_stop.insert(0, lambda: hang_up(answer))  # last of all
            for message in messages(answer):
                if message.method is None and message.id == id:
                    return _result(message)
                self._heard(session, message, exchange.peer if exchange is not None else None)
        raise HostError("the host ended its answer before the result", sent=True)

    def _heard(self, session: Session, message: Message, peer: Peer | None) -> None:
        """What the host says or asks on the way; that its tools changed is found out by looking."""
        if message.method == LISTED:
            self._wake()
        elif message.method is not None and message.id is None:
            (peer or self._greeting().peer).notify(
                message.method, decoded(bytes(message.params), dict[str, Any])
            )
        elif message.method is not None:
            self._later(self._answer, session, message, peer or self._greeting().peer)

    def _answer(self, session: Session, message: Message, peer: Peer) -> None:
        """Ask the client what the host asks it."""
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id}
        params = decoded(bytes(message.params), dict[str, Any])
        try:
            asked = message.method or ""
            answer["result"] = {} if asked == "ping" else peer.request(asked, params, ANSWER_SECONDS)
        except ProtocolError as error:
            answer["error"] = error.body()
        except TimeoutError:
            answer["error"] = {"code": INTERNAL_ERROR, "message": "the client did not answer"}
        self._post(session.headers, answer)

    def _cancel(self, session: Session, id: int) -> None:
        params = {"requestId": id, "reason": "the client cancelled"}
        self._post(session.headers, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def _listen(self, session: Session) -> None:
        """Hear what the host says unasked, on a stream of its own; a host without one is only looked at."""
        if session.id is not None and self._listening is not session:
            self._listening = session
            self._later(self._hear, session)

    def _hear(self, session: Session) -> None:
        try:
            with self._http.asked("GET", self._url, None, session.headers, None) as answer:
                self._wake()  # what was said before is found out by looking
                for message in messages(answer):
                    self._heard(session, message, None)
        except HostError as error:
            if error.refused:
                return
        if self._listening is session:
            self._listening = None  # the next look tries again

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

    def _post(self, headers: dict[str, str], message: dict[str, Any]) -> None:
        """Send what has no answer; one that is lost is lost."""
        with (
            suppress(HostError),
            self._http.asked("POST", self._url, ENCODER.encode(message), headers, LOOK_SECONDS) as answer,
        ):
            answer.read()

    def _later(self, work: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=work, args=arguments, daemon=True).start()


def _result(message: Message) -> msgspec.Raw:
    if message.error is not None:
        raise ProtocolError(message.error.code, message.error.message, message.error.data)
    return line(message.result)
