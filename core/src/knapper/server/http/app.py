"""The HTTP surface: guards first, then /mcp, health, metadata and the routes of plugins."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from knapper import __version__
from knapper.caller import Caller
from knapper.errors import ConfigError
from knapper.routes import Route as Offered
from knapper.server import eras, lifecycle, wire
from knapper.server.http.bearer import API_KEY, METADATA, Bearers, Unauthorised, proof
from knapper.server.http.edge import Edge, sessions
from knapper.server.http.guard import Guard
from knapper.server.http.straight import Straight, is_told
from knapper.server.wire import INTERNAL_ERROR, INVALID_REQUEST, STOPPING, UNAUTHORISED, ProtocolError

if TYPE_CHECKING:
    from knapper.server.host import Host

log = logging.getLogger("knapper.http")
WATCH_SECONDS = 0.05
SENT_SECONDS = 1.0  # for the last answer to be written
ONCE = frozenset(
    {b"host", b"origin", b"authorization", b"content-length", b"content-type", b"last-event-id"}
    | {b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name", API_KEY}
)
EXPOSED = "Mcp-Session-Id, WWW-Authenticate"


class App:
    """One ASGI application: what comes in is checked in the order host, origin, bearer, and then served."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._runtime = host.runtime
        settings = self._runtime.settings
        self._path = settings.transports.http.path
        self._limit = settings.transports.http.max_body_bytes
        self._guard = Guard(settings.transports.http)
        self._bearers = Bearers(self._runtime)
        self.edge = Edge(host)
        self._sessions = sessions(self.edge, settings.transports.http, self._schema_of, plain=False)
        self._plain = sessions(self.edge, settings.transports.http, self._schema_of, plain=True)
        self._straight = Straight(self.edge, self._sessions)
        self._offered = [_route(o) for _, o in self._runtime.registry.plugins.ask("knapper_routes")]
        _free(self._path, [offered.path for offered, _ in self._offered])
        self._streams: set[asyncio.Task[Any]] = set()
        self._answers: set[asyncio.Task[Any]] = set()
        self._local = self._bearers.local()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            # Blanks around a value are not part of it, and not every parser takes them away.
            scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            if len(scope["headers"]) > len(headers) and _ambiguous(scope["headers"]):
                await error(400, INVALID_REQUEST, "a header that may come once came twice")(
                    scope, receive, send
                )
                return
            await self._guarded(headers, scope, receive, send)

    async def _guarded(
        self, headers: Mapping[bytes, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        host, origin = headers.get(b"host"), headers.get(b"origin")
        problem = self._guard.refusal(host, origin)
        if problem is not None:
            log.warning("refused: %s (Host %r, Origin %r)", problem, host, origin)
            await self._refuses(scope)(403, problem)(scope, receive, send)
            return
        if origin is not None:
            send = _with_cors(origin, send)
            if scope["method"] == "OPTIONS":
                await Response(status_code=204, headers=_preflight(headers))(scope, receive, send)
                return
        await self._routed(headers, scope, receive, send)

    async def _routed(self, headers: Mapping[bytes, str], scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == self._path:
            await self._identified(headers, scope, receive, send, self._serve)
        elif path == "/healthz":
            await self._health()(scope, receive, send)
        elif path in (METADATA, METADATA + self._path) and self._bearers.metadata is not None:
            await _json(self._bearers.metadata)(scope, receive, send)
        else:
            await self._plugged(headers, scope, receive, send)

    async def _identified(
        self,
        headers: Mapping[bytes, str],
        scope: Scope,
        receive: Receive,
        send: Send,
        serve: Callable[..., Any],
        refuse: Callable[[int, str], Response] | None = None,
    ) -> None:
        try:
            caller = await self._caller(proof(headers))
        except Unauthorised as refused:
            answer = (refuse or refusal)(refused.status, refused.message)
            if refused.status == 401:
                answer.headers["WWW-Authenticate"] = self._bearers.challenge
            await answer(scope, receive, send)
            return
        caller.session = session_of(caller, headers.get(b"mcp-session-id"))
        scope["knapper.caller"] = caller
        await serve(headers, scope, receive, send)

    async def _caller(self, header: str | None) -> Caller:
        if not self._bearers.needed:
            known = self._local
            return Caller(known.name, known.scopes, authenticated=True, vault=known.vault)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, self._bearers.caller, header)

    async def _serve(self, headers: Mapping[bytes, str], scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to the SDK, under an owner that it compares with the session's."""
        caller: Caller = scope["knapper.caller"]
        if self._bearers.needed:
            name = caller.name or f"nobody {caller.hash}"
            scope["user"] = AuthenticatedUser(
                AccessToken(token="", client_id=name, scopes=[], subject=caller.vault)
            )
        if scope["method"] == "GET":
            await self._stream(self._streams, scope, receive, send)
        elif scope["method"] == "POST":
            await self._posted(headers, scope, receive, send)
        else:
            await self._sessions.asgi_app(scope, receive, _without_content(send))

    async def _posted(self, headers: Mapping[bytes, str], scope: Scope, receive: Receive, send: Send) -> None:
        """A message: a plain call goes straight to the table, all else to the SDK."""
        body = await whole(receive, self._limit)
        if body is None:
            await error(413, STOPPING, "request body too large")(scope, receive, send)
            return
        modern = headers.get(b"mcp-protocol-version", "") in eras.MODERN
        if await self._went_straight(modern, headers, body, scope, receive, send):
            return
        message, problem = _read(body)
        if problem is not None:
            await error(400, INVALID_REQUEST, problem)(scope, receive, send)
            return
        if (refused := self._too_old(message)) is not None:
            await refused(scope, receive, send)
            return
        replay = _replayed(body, receive)
        if modern and not is_told(message) and headers.get(b"mcp-method") != "subscriptions/listen":
            await self._modern(scope, receive, replay, send)
        else:
            await self._stream(self._answers, scope, replay, send)

    def _too_old(self, message: Any) -> Response | None:
        """The refusal of a handshake for its revision; the SDK would keep a session for a client that has none."""
        if not isinstance(message, dict) or message.get("method") != "initialize" or "id" not in message:
            return None
        try:
            lifecycle.check_revision(self._host, message.get("params", {}).get("protocolVersion"))
        except ProtocolError as problem:
            return Response(wire.refusal(message["id"], problem), 400, media_type="application/json")
        return None

    async def _went_straight(
        self,
        modern: bool,
        headers: Mapping[bytes, str],
        body: bytes,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> bool:
        plain = self._straight.modern if modern else self._straight.legacy
        exchange = plain(headers, body, scope["knapper.caller"])
        if exchange is None:
            return False
        if not modern:  # in the older era a client that has gone has not cancelled, by the letter
            return await self._straight.serve(exchange, send)
        scope["knapper.exchange"] = exchange
        watch = Watch(scope, receive)
        try:
            return await self._straight.serve(exchange, send)
        finally:
            watch.end()

    async def _stream(self, kept: set[asyncio.Task[Any]], scope: Scope, receive: Receive, send: Send) -> None:
        """A stream that lasts as long as its client, but not longer than the server."""
        begun = False

        async def sending(message: Any) -> None:
            nonlocal begun
            begun = True
            await send(message)

        stream = asyncio.ensure_future(self._sessions.asgi_app(scope, receive, sending))
        kept.add(stream)
        try:
            await stream
        except asyncio.CancelledError:
            if not self.edge.stopping.is_set():
                raise
            if begun:
                await send({"type": "http.response.body"})
        finally:
            kept.discard(stream)

    async def _modern(self, scope: Scope, receive: Receive, replay: Receive, send: Send) -> None:
        """A request of the modern era is answered with JSON, unless it wants to be told something on the way."""
        watch = Watch(scope, receive)
        try:
            await self._plain.asgi_app(scope, replay, send)
        finally:
            watch.end()

    def _schema_of(self, name: str) -> Mapping[str, Any] | None:
        """A tool's schema, where the SDK has headers to compare with arguments."""
        tool = self._runtime.tools.get(name)
        return tool.input_schema if tool is not None and tool.is_routed else None

    def _health(self) -> Response:
        """That the server runs; which vaults it has is nobody's business where callers have to be known."""
        found: dict[str, Any] = {"status": "ok", "version": __version__}
        if not self._bearers.needed:
            found["vaults"] = {vault.id: vault.index.status().state for vault in self._runtime.vaults}
        return _json(found)

    async def _plugged(
        self, headers: Mapping[bytes, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        for offered, route in self._offered:
            match, more = route.matches(scope)
            if match == Match.NONE:
                continue
            scope.update(more)
            if match == Match.PARTIAL:
                await (offered.refuse or refusal)(405, "method not allowed")(scope, receive, send)
            elif offered.open:
                scope["knapper.caller"] = Caller(None)
                await self._offer(offered, headers, scope, receive, send)
            else:
                serve = partial(self._offer, offered)
                await self._identified(headers, scope, receive, send, serve, offered.refuse)
            return
        await error(404, STOPPING, f"there is nothing here; MCP is at {self._path}")(scope, receive, send)

    def _refuses(self, scope: Scope) -> Callable[[int, str], Response]:
        """How what is at a path spells a refusal."""
        found = (offered for offered, route in self._offered if route.matches(scope)[0] != Match.NONE)
        return next((offered.refuse for offered in found if offered.refuse is not None), refusal)

    async def _offer(
        self, offered: Offered, headers: Mapping[bytes, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        refuse = offered.refuse or refusal
        body = await whole(receive, min(self._limit, offered.most_bytes or self._limit))
        if body is None:
            await refuse(413, "request body too large")(scope, receive, send)
            return
        request = Request(scope, _replayed(body, receive))
        await request.body()  # its function is not asynchronous and finds it there
        try:
            answer = await self.edge.threads.run(
                offered.endpoint, self._runtime, scope["knapper.caller"], request
            )
        except Exception:
            log.exception("the route %s failed", offered.path)
            answer = refuse(500, "internal error")
        await answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._running():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        self.edge.started()
        async with self._sessions.run(), self._plain.run():
            yield

    def stop(self) -> None:
        """End what would stay open for ever; calls that run are left to finish."""
        self.edge.stop()
        for stream in list(self._streams):
            stream.cancel()
        self._ending = asyncio.ensure_future(self._end_answers())

    async def _end_answers(self) -> None:
        """End the streams whose answer never comes: what a client asks twice under one id is answered on one of two."""
        await self.edge.idle.wait()
        await asyncio.sleep(SENT_SECONDS)
        for answer in list(self._answers):
            answer.cancel()


class Watch:
    """Notices that a client has gone while its call still runs; short calls never come to pay for it."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._scope = scope
        self._receive = receive
        self._task: asyncio.Task[None] | None = None
        self._later = asyncio.get_running_loop().call_later(WATCH_SECONDS, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._gone())

    async def _gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        exchange = self._scope.get("knapper.exchange")
        if exchange is not None:
            exchange.cancel()

    def end(self) -> None:
        self._later.cancel()
        if self._task is not None:
            self._task.cancel()


def session_of(caller: Caller, given: str | None) -> str | None:
    """A session's name for what the caller does in it; the header is the client's to choose, so it is the caller's own."""
    if not given or caller.name is None:
        return None
    return f"{given[:64]}-{sha256(caller.name.encode()).hexdigest()[:16]}"


async def whole(receive: Receive, limit: int) -> bytes | None:
    """The body of a request, or None where it is larger than allowed."""
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body") and len(body) <= limit:
        message = await receive()
        body += message.get("body", b"")
    return body if len(body) <= limit else None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A receiver that hands out the body once more, and then what comes after it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return waiting.pop() if waiting else await receive()

    return replay


def _read(body: bytes) -> tuple[Any, str | None]:
    """A message, or why a body is JSON but none of JSON-RPC; the SDK has another code for that than the standard."""
    try:
        return wire.check(wire.decode(body)), None
    except ProtocolError as problem:
        return None, problem.message if problem.code == INVALID_REQUEST else None


def _ambiguous(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a header that decides something was sent twice: two programs might each believe another one."""
    names = [name for name, _ in headers if name in ONCE]
    return len(names) > len(set(names))


def _route(offered: Offered) -> tuple[Offered, Route]:
    return offered, Route(offered.path, endpoint=lambda request: Response(), methods=list(offered.methods))


def _free(path: str, taken: Iterable[str]) -> None:
    """ConfigError where the protocol's own path lies among the routes of a plugin, or the other way round."""
    first = path.split("/")[1]
    if first in {"healthz", ".well-known", *(other.split("/")[1] for other in taken)}:
        raise ConfigError(f"transports.http.path: {path!r} lies where another route is, under /{first}")


def refusal(status: int, message: str) -> Response:
    """The refusal of a status, under the code that belongs to it."""
    return error(status, {401: UNAUTHORISED, 500: INTERNAL_ERROR}.get(status, STOPPING), message)


def error(status: int, code: int, message: str) -> Response:
    """A refusal as JSON-RPC spells it, which every MCP client can read."""
    answer = _json({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}})
    answer.status_code = status
    return answer


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def _without_content(send: Send) -> Send:
    """A success that has nothing to say says so: the end of a session."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message = {"type": message["type"], "status": 204}
        await send(message)

    return sending


def _with_cors(origin: str, send: Send) -> Send:
    """The headers without which a browser keeps the answer from the page that was allowed to ask."""
    added = [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", EXPOSED.encode()),
        (b"vary", b"Origin"),
    ]

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sending


def _preflight(headers: Mapping[bytes, str]) -> dict[str, str]:
    return {
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Allow-Headers": headers.get(b"access-control-request-headers", ""),
        "Access-Control-Max-Age": "600",
    }
