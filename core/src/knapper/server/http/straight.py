"""The straight way of a plain call over HTTP: read once, answered from the table, written once, as JSON.

The SDK serves everything else: sessions, streams, and whatever is not as it should be, which it knows how to refuse. It
reads and checks each message several times; at 2,000 calls a second that would be most of a processor's time. So what
goes straight is only what needs none of it: a call of a tool that cannot want to tell or ask the client anything.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS

from knapper.dispatch.pipeline import Suspend
from knapper.server import eras, table, wire
from knapper.server.exchange import Exchange, Session
from knapper.server.facade import target, triad
from knapper.server.wire import INTERNAL_ERROR, ProtocolError

if TYPE_CHECKING:
    from starlette.types import Send

    from knapper.caller import Caller
    from knapper.server.http.edge import Edge, Sessions

CALL = "tools/call"
PARAMS = frozenset({"name", "arguments", "_meta"})
ROUTING = b"mcp-param-"
JSON, EVENTS = "application/json", "text/event-stream"
UNWANTED = re.compile(r"q=0(\.0*)?")
TELLING = frozenset(
    {"progressToken", eras.LOG_LEVEL}
)  # with these a client wants to be told something on the way


class Request(msgspec.Struct, forbid_unknown_fields=True):
    """A call as it looks where nothing is odd about it."""

    jsonrpc: str
    id: int | str
    method: str
    params: dict[str, Any]

    @property
    def is_plain(self) -> bool:
        params = self.params
        return (
            self.jsonrpc == "2.0"
            and self.method == CALL
            and params.keys() <= PARAMS
            and isinstance(params.get("name"), str)
            and isinstance(params.get("arguments", {}), dict)
            and isinstance(params.get("_meta", {}), dict)
            and TELLING.isdisjoint(params.get("_meta", {}))
        )


DECODER = msgspec.json.Decoder(Request)


class Elsewhere(Suspend):
    """The call wants to talk to its client after all, and has to be made where that is possible."""


class Nobody:
    """The way back to a client that is not listened to."""

    def notify(self, method: str, params: dict[str, Any]) -> None:
        raise Elsewhere

    def request(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        raise Elsewhere


class Straight:
    """Says which requests are plain, and answers them."""

    def __init__(self, edge: Edge, sessions: Sessions) -> None:
        self._edge = edge
        self._sessions = sessions
        self._talkative: set[str] = set()

    def modern(self, headers: Mapping[bytes, str], body: bytes, caller: Caller) -> Exchange | None:
        """A plain call of the modern era, or None."""
        request = _read(headers, body)
        if request is None or any(name.startswith(ROUTING) for name in headers):
            return None
        params = request.params
        meta = params.get("_meta", {})
        agreed = (
            headers.get(b"mcp-method") == CALL
            and headers.get(b"mcp-name") == params["name"]
            and meta.get(eras.VERSION) == headers.get(b"mcp-protocol-version")
            and _is_table_of_tables(meta.get(eras.CAPABILITIES))
            and isinstance(meta.get(eras.CLIENT, {}), dict)
        )
        tool = self._edge.host.runtime.tools.get(params["name"])
        if not agreed or params["name"] in self._talkative or (tool is not None and tool.is_routed):
            return None
        session = Session(caller)
        session.modern, session.id = True, None
        return self._exchange(session, request, caller)

    def legacy(self, headers: Mapping[bytes, str], body: bytes, caller: Caller) -> Exchange | None:
        """A plain call in a session that the SDK has opened, or None."""
        id = headers.get(b"mcp-session-id", "")
        session = self._edge.live.get(id) if self._sessions.is_open(id) else None
        if session is None or session.version is None or session.log_level is not None:
            return None
        owned = (session.caller.name, session.caller.vault) == (caller.name, caller.vault)
        agreed = headers.get(b"mcp-protocol-version", session.version) == session.version
        if not owned or not agreed:
            return None
        request = _read(headers, body)
        if request is None:
            return None
        return self._exchange(session, request, caller) if self._is_quiet(request, caller) else None

    def _is_quiet(self, request: Request, caller: Caller) -> bool:
        """Whether the tool only reads, and so neither asks a person nor minds being called again."""
        if request.params["name"] in self._talkative:
            return False
        runtime = self._edge.host.runtime
        named = target(runtime, request.params["name"], request.params.get("arguments", {}), caller).name
        tool = runtime.tools.get(named) or triad.tools.get(named)
        return tool is not None and not tool.mutating and not tool.asks

    def _exchange(self, session: Session, request: Request, caller: Caller) -> Exchange:
        return Exchange(self._edge.host, session, CALL, request.params, request.id, Nobody(), caller)

    async def serve(self, exchange: Exchange, send: Send) -> bool:
        """Answer; False where it turned out that the SDK has to."""
        with self._edge.running(exchange), self._sessions.held(exchange.session.id):
            try:
                answer = await self._edge.threads.run(_answered, exchange)
            except Elsewhere:
                self._talkative.add(exchange.params["name"])
                return False
            except asyncio.CancelledError:
                exchange.cancel()
                raise
        if exchange.cancelled and not exchange.modern:
            answer = 200, wire.refusal(exchange.id, ProtocolError(REQUEST_CANCELLED, "Request cancelled"))
        await _send(send, *answer)
        return True


def _read(headers: Mapping[bytes, str], body: bytes) -> Request | None:
    if headers.get(b"content-type", "").partition(";")[0].rstrip() != JSON:
        return None
    if not _takes_either(headers.get(b"accept", "")):
        return None
    try:
        request = DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return request if request.is_plain else None


def is_told(message: Any) -> bool:
    """Whether a message says that its client wants to be told something before the answer."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and not TELLING.isdisjoint(meta)


@lru_cache(64)
def _takes_either(accept: str) -> bool:
    """Whether an Accept header names both kinds of answers and declines neither."""
    named: set[str] = set()
    for part in accept.lower().split(","):
        kind, *parameters = (word.strip() for word in part.split(";"))
        if not any(UNWANTED.fullmatch(word) for word in parameters):
            named.add(kind)
    return {JSON, EVENTS} <= named


def _is_table_of_tables(given: Any) -> bool:
    return isinstance(given, dict) and all(isinstance(value, dict) for value in given.values())


def _answered(exchange: Exchange) -> tuple[int, bytes]:
    """The status and the body; on a worker's thread, the encoding too."""
    try:
        return 200, wire.reply(exchange.id, table.answer(exchange))
    except ProtocolError as error:
        status = ERROR_CODE_HTTP_STATUS.get(error.code, 200) if exchange.modern else 200
        return status, wire.refusal(exchange.id, error)
    except Suspend:
        raise
    except Exception:
        import logging

        logging.getLogger("knapper.server").exception("%s failed inside", exchange.method)
        return 200, wire.refusal(exchange.id, ProtocolError(INTERNAL_ERROR, "Internal error"))


async def _send(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
