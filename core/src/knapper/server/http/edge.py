"""The table of methods under the SDK's server: every request goes to our handlers, on threads of our own."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import methods
from pydantic import BaseModel, ConfigDict

from knapper import __version__
from knapper.server import eras, table
from knapper.server.changes import Change
from knapper.server.exchange import Exchange, Session
from knapper.server.host import Host
from knapper.server.http.events import Events
from knapper.server.http.threads import Threads
from knapper.server.wire import ENCODER, INTERNAL_ERROR, Id, ProtocolError, as_id

log = logging.getLogger("knapper.server")
Ctx = ServerRequestContext[Any, Any]
TELL_SECONDS = 10.0


class Anything(BaseModel):
    """A client's answer as it came; whoever asked looks into it."""

    model_config = ConfigDict(extra="allow")


class Back:
    """The way back to the client for one request, from a worker thread."""

    def __init__(self, ctx: Ctx, loop: asyncio.AbstractEventLoop, edge: Edge) -> None:
        self._ctx = ctx
        self._loop = loop
        self._edge = edge
        self._deaf = False
        self.exchange: Exchange | None = None

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell the client; where it takes nothing, the work goes on and tells it no more."""
        if self._deaf:
            return
        told = methods.MONOLITH_NOTIFICATIONS[method].model_validate({"method": method, "params": params})
        sending = self._ctx.session.send_notification(told, self._ctx.request_id)  # type: ignore[arg-type]
        try:
            asyncio.run_coroutine_threadsafe(sending, self._loop).result(TELL_SECONDS)
        except TimeoutError:
            self._deaf = True

    def request(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        asked = methods.MONOLITH_REQUESTS[method].model_validate({"method": method, "params": params})
        related = ServerMessageMetadata(related_request_id=self._ctx.request_id)
        asking = self._ctx.session.send_request(asked, Anything, seconds, related)  # type: ignore[arg-type]
        try:
            with self._edge.asked(
                asyncio.run_coroutine_threadsafe(asking, self._loop), self.exchange
            ) as answer:
                found: dict[str, Any] = answer.result(seconds).model_dump()
                return found
        except CancelledError:
            raise TimeoutError from None
        except MCPError as error:
            if error.error.code == types.REQUEST_TIMEOUT:
                raise TimeoutError from None
            raise ProtocolError(INTERNAL_ERROR, error.error.message) from None


class Edge:
    """Answers what the SDK's server receives; it stands before the SDK's own handlers and replaces them."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.live: dict[str, Session] = {}
        self._calls: dict[tuple[Session, Id], Exchange] = {}
        self._questions: set[Future[Any]] = set()
        self._open = 0  # requests that are not answered yet

    async def __call__(self, ctx: Ctx, call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None:
            return await self._notified(ctx, call_next)
        exchange = self._exchange(ctx)
        self._open += 1
        self.idle.clear()
        try:
            if table.is_quick(ctx.method):
                result = table.answer(exchange)
            elif ctx.method == "subscriptions/listen":
                return await self._listen(ctx, exchange)
            else:
                result = await self._worked(exchange)
        except ProtocolError as error:
            raise MCPError(code=error.code, message=error.message, data=error.data) from None
        except Exception:  # the SDK would tell the client what it says
            log.exception("%s failed inside", ctx.method)
            raise MCPError(code=INTERNAL_ERROR, message="Internal error") from None
        finally:
            self._open -= 1
            if not self._open:
                self.idle.set()
        return plain(result)

    def _exchange(self, ctx: Ctx) -> Exchange:
        session = self._session(ctx)
        params = dict(ctx.params or {})
        assert ctx.request_id is not None
        back = Back(ctx, asyncio.get_running_loop(), self)
        exchange = Exchange(self.host, session, ctx.method, params, ctx.request_id, back, caller_of(ctx))
        back.exchange = exchange
        ctx.request.scope["knapper.exchange"] = exchange  # type: ignore[union-attr]
        return exchange

    async def _worked(self, exchange: Exchange) -> Any:
        """Run a handler on a thread; where the client goes away, the tool is told and nobody waits for it."""
        try:
            return await self.threads.run(table.answer, exchange)
        except asyncio.CancelledError:
            exchange.cancel()
            raise

    async def _listen(self, ctx: Ctx, exchange: Exchange) -> HandlerResult:
        """Stay with a subscription until the client leaves or the server stops."""
        await self._worked(exchange)
        try:
            await self.stopping.wait()
        finally:
            exchange.cancel()
        return plain(table.listened(exchange))

    async def _notified(self, ctx: Ctx, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method == "notifications/initialized":
            self._tell_of_changes(ctx)
        elif ctx.method == "notifications/cancelled":
            id = as_id((ctx.params or {}).get("requestId"))
            exchange = self._calls.get((self._session(ctx), id)) if id is not None else None
            if exchange is not None:
                exchange.cancel()
        return result

    @contextmanager
    def asked(self, answer: Future[Any], exchange: Exchange | None) -> Iterator[Future[Any]]:
        """A question to a client: over where its call is cancelled, or the server stops and nobody can answer any more.

        Its thread waits for a person, so another one may work in its place.
        """
        self._questions.add(answer)
        if exchange is not None:
            exchange.on_stop.append(answer.cancel)
        if self.stopping.is_set() or (exchange is not None and exchange.cancelled):
            answer.cancel()
        try:
            with self.threads.aside():
                yield answer
        finally:
            self._questions.discard(answer)

    @contextmanager
    def running(self, exchange: Exchange) -> Iterator[None]:
        """Have a call that does not go through the SDK be found where its client cancels it."""
        key = (exchange.session, exchange.id)
        self._calls[key] = exchange
        try:
            yield
        finally:
            if self._calls.get(key) is exchange:  # not another one, to which a client gave the same id
                del self._calls[key]

    def _session(self, ctx: Ctx) -> Session:
        session = session_of(ctx)
        if session.id is not None and session.id not in self.live:
            self.live[session.id] = session
            ctx.session._connection.exit_stack.callback(self.live.pop, session.id, None)
        return session

    def _tell_of_changes(self, ctx: Ctx) -> None:
        session, connection, loop = self._session(ctx), ctx.session._connection, asyncio.get_running_loop()
        if session.listens:
            return
        session.listens = True

        def tell(change: Change) -> None:
            if change.kind != "updated" or change.uri in session.subscribed:
                asyncio.run_coroutine_threadsafe(
                    connection.notify(change.method, change.params or None), loop
                )

        connection.exit_stack.callback(self.host.changes.leave, session)
        connection.exit_stack.callback(self.host.changes.listen(tell))

    @property
    def stopping(self) -> asyncio.Event:
        return self._stopping

    def started(self) -> None:
        """Called on the event loop before the first request."""
        self._stopping = asyncio.Event()
        self.idle = asyncio.Event()
        self.idle.set()
        self.threads = Threads()

    def stop(self) -> None:
        self._stopping.set()
        for question in list(self._questions):
            question.cancel()


def caller_of(ctx: Ctx) -> Any:
    return ctx.request.scope["knapper.caller"]  # type: ignore[union-attr]


def session_of(ctx: Ctx) -> Session:
    """What we keep for a connection; the SDK hands middleware no other way to it than this attribute."""
    connection = ctx.session._connection
    session: Session | None = connection.state.get("knapper")
    if session is None:
        session = connection.state["knapper"] = Session(caller_of(ctx))
        session.modern = ctx.protocol_version in eras.MODERN
        session.id = connection.session_id
    return session


def plain(result: Mapping[str, Any] | None) -> dict[str, Any]:
    """A result as the SDK takes it: what is bytes already becomes values again."""
    found: dict[str, Any] = msgspec.json.decode(ENCODER.encode(result))
    return found


class Sessions(StreamableHTTPSessionManager):
    """The SDK's sessions, each with a memory of its own for what its client missed."""

    @property
    def event_store(self) -> Any:
        return Events()

    @event_store.setter
    def event_store(self, _: Any) -> None:
        pass

    def is_open(self, id: str) -> bool:
        """Whether a session has neither been ended by its client nor grown too old."""
        transport = self._server_instances.get(id)
        if transport is None or transport.is_terminated:
            return False
        return transport.idle_scope is None or not transport.idle_scope.cancel_called

    @contextmanager
    def held(self, id: str | None) -> Iterator[None]:
        """Let a session not grow old while a call is served in it that the SDK does not see, and begin anew after it."""
        transport = self._server_instances.get(id or "")
        if transport is None or transport.idle_scope is None:
            yield
            return
        transport._requests_in_flight += 1
        transport.idle_scope.deadline = math.inf
        try:
            yield
        finally:
            transport._requests_in_flight -= 1
            if not transport._requests_in_flight:
                seconds = self.session_idle_timeout or math.inf
                transport.idle_scope.deadline = asyncio.get_running_loop().time() + seconds


def sessions(
    edge: Edge, settings: Any, schema_of: Callable[[str], Mapping[str, Any] | None], *, plain: bool
) -> Sessions:
    """The SDK's session manager over our table; a plain one answers with JSON and never with a stream."""
    server: Server[Any] = Server("knapper", version=__version__, get_tool_input_schema=schema_of)
    server.middleware[:] = [edge]  # without the SDK's own tracing: a sink does that
    return Sessions(
        server,
        json_response=plain,
        max_request_body_size=settings.max_body_bytes,
        max_sessions=settings.max_sessions,
        session_idle_timeout=settings.session_idle_seconds,
        retry_interval=1000,
    )
