"""One request as the handlers see it, and the connection that it came by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from knapper.server import eras
from knapper.server.wire import INVALID_PARAMS, Id, ProtocolError

if TYPE_CHECKING:
    from knapper.caller import Caller
    from knapper.server.host import Host


class Peer(Protocol):
    """The way back to the client, while it waits for a request's answer."""

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to the request at hand."""

    def request(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Ask the client and wait; TimeoutError where it does not answer, ProtocolError where it refuses."""


class Session:
    """One client's connection: what was agreed on, and what it wants to be told."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.id: str | None = caller.session
        self.modern: bool | None = None  # the first request decides
        self.version: str | None = None
        self.client: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self.log_level: str | None = None
        self.subscribed: set[str] = set()
        self.listens = False  # it is told of changes; a client may say twice that it is ready


class Exchange:
    """A request on its way to a handler: what is asked, by whom, in which revision, and how to talk back."""

    def __init__(
        self,
        host: Host,
        session: Session,
        method: str,
        params: dict[str, Any],
        id: Id,
        peer: Peer,
        caller: Caller | None = None,
    ) -> None:
        self.host = host
        self.session = session
        self.caller = caller or session.caller  # over HTTP each request proves its own
        self.method = method
        self.params = params
        self.id = id
        self.peer = peer
        self.cancelled = False
        self.on_stop: list[Callable[[], object]] = []
        meta = params.get("_meta")
        self.meta: dict[str, Any] = meta if isinstance(meta, dict) else {}
        self.modern = bool(session.modern)
        self.version: str = self.meta.get(eras.VERSION, "") if self.modern else session.version or ""

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the client can do; the modern revisions say it with every request."""
        found = self.meta.get(eras.CAPABILITIES) if self.modern else self.session.capabilities
        return found if isinstance(found, dict) else {}

    def cancel(self) -> None:
        """Tell whatever works on this request that nobody waits for it any more."""
        self.cancelled = True
        while self.on_stop:
            self.on_stop.pop()()

    def text(self, name: str) -> str:
        """A required parameter that is a string."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise ProtocolError(INVALID_PARAMS, f"Invalid params: {name!r} must be a string")
        return value

    def table(self, name: str) -> dict[str, Any]:
        """An optional parameter that is an object."""
        value = self.params.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ProtocolError(INVALID_PARAMS, f"Invalid params: {name!r} must be an object")
        return value

    def offset(self) -> int:
        """Where the page that is asked for begins; a cursor of ours is a decimal number."""
        cursor = self.params.get("cursor")
        if cursor is None:
            return 0
        if not isinstance(cursor, str) or not cursor.isdecimal() or len(cursor) > 12:
            raise ProtocolError(INVALID_PARAMS, "Invalid params: 'cursor' is not one of this server's")
        return int(cursor)
