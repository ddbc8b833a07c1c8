"""What a host says without being asked: to the client, of its tools, and as questions that want an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from knapper.server.exchange import Peer
from knapper.server.wire import ENCODER, INTERNAL_ERROR, Id, ProtocolError
from knapper_bridge_stdio.events import Message, messages
from knapper_bridge_stdio.http import HostError, Http, decoded
from knapper_bridge_stdio.session import Greeting, Session

LISTED = "notifications/tools/list_changed"
POST_SECONDS = 5.0
ANSWER_SECONDS = 600.0  # for a person whom the host asks something


class Ear:
    """Hears the host on the streams of requests and on one of its own, and passes on what it hears."""

    def __init__(
        self, http: Http, url: str, greeting: Callable[[], Greeting], wake: Callable[[], None]
    ) -> None:
        self._http = http
        self._url = url
        self._greeting = greeting
        self._wake = wake
        self._listening: Session | None = None
        self._woken_for: Session | None = None

    def listen(self, session: Session) -> None:
        """Hear what the host says unasked, on a stream of its own; a host without one is only looked at."""
        if session.id is not None and self._listening is not session:
            self._listening = session
            later(self._hear, session)

    def _hear(self, session: Session) -> None:
        try:
            with self._http.asked("GET", self._url, None, session.headers, None) as answer:
                self._catch_up(session)
                for message in messages(answer):
                    self.heard(session, message, None)
        except HostError as error:
            if error.refused:
                return
        if self._listening is session:
            self._listening = None  # the next look tries again

    def _catch_up(self, session: Session) -> None:
        """Find out by looking what was said before; once, since a host may end its stream as soon as it begins."""
        if self._woken_for is not session:
            self._woken_for = session
            self._wake()

    def heard(self, session: Session, message: Message, peer: Peer | None) -> None:
        """What the host says or asks on the way; that its tools changed is found out by looking."""
        if message.method is None:
            return
        peer = peer or self._greeting().peer
        params = decoded(bytes(message.params), dict[str, Any] | None) or {}
        if message.method == LISTED:
            self._wake()
        elif message.id is None:
            peer.notify(message.method, params)
        else:
            later(self._answer, session, message.id, message.method, params, peer)

    def _answer(self, session: Session, id: Id, method: str, params: dict[str, Any], peer: Peer) -> None:
        """Ask the client what the host asks it."""
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": id}
        try:
            answer["result"] = {} if method == "ping" else peer.request(method, params, ANSWER_SECONDS)
        except ProtocolError as error:
            answer["error"] = error.body()
        except TimeoutError:
            answer["error"] = {"code": INTERNAL_ERROR, "message": "the client did not answer"}
        self.post(session, answer)

    def post(self, session: Session, message: dict[str, Any]) -> None:
        """Send what has no answer; one that is lost is lost."""
        with (
            suppress(HostError),
            self._http.asked(
                "POST", self._url, ENCODER.encode(message), session.headers, POST_SECONDS
            ) as answer,
        ):
            answer.read()


def later(work: Callable[..., None], *arguments: Any) -> None:
    """Do something that nobody waits for."""
    threading.Thread(target=work, args=arguments, daemon=True).start()
