"""MCP over standard input and output: one message a line, and nothing else on the line.

Nothing heavy is imported here: the first answer goes out while plugins are still being loaded.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

from knapper.caller import LOCAL, Caller
from knapper.server import eras, table, wire
from knapper.server.exchange import Exchange, Session
from knapper.server.host import Host
from knapper.server.pool import Pool
from knapper.server.wire import INTERNAL_ERROR, INVALID_REQUEST, STOPPING, Id, ProtocolError

if TYPE_CHECKING:
    from knapper.server.beside import Beside
    from knapper.server.changes import Change

MOST_BYTES = 64 * 1024 * 1024
FINISH_SECONDS = 120.0  # for what still runs when the client has gone
CLOSE_SECONDS = 1.5
FIRST_SECONDS = 0.05  # for the first answer, before loading takes the processor
FAIL_SECONDS = 1.0  # for the client's first request, so that it too learns why there is no server
LISTEN = "subscriptions/listen"


def claim() -> tuple[BinaryIO, int]:
    """Take standard input and output for the protocol; whatever else reads gets nothing, and prints go to stderr."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(source, "rb"), sink


class Waiting:
    """A request of ours to the client that has not been answered yet."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.done = threading.Event()
        self.answer: dict[str, Any] | None = None


class Back:
    """The way back to the client for one request."""

    def __init__(self, edge: Stdio) -> None:
        self._edge = edge
        self.exchange: Exchange | None = None

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._edge.write(wire.notification(method, params))

    def request(self, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        assert self.exchange is not None
        return self._edge.ask(self.exchange, method, params, seconds)


class Stdio:
    """One client on a pair of pipes, from its first line to the end of what it asked for."""

    def __init__(self, host: Host, source: BinaryIO, sink: int) -> None:
        self.host = host
        self.session = Session(Caller("stdio", LOCAL, authenticated=True, session=os.urandom(8).hex()))
        self.code = 0
        self.beside: Beside | None = None
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._pool = Pool()
        self._stopping = threading.Event()
        self._abandon = threading.Event()
        self._talked = threading.Event()
        self._running: dict[Id, Exchange] = {}
        self._waiting: dict[Id, Waiting] = {}
        self._asked = 0
        self._gone = False

    def run(self) -> int:
        """Serve until the client leaves or somebody stops the process; returns the exit code."""
        self.host.on_failure = self._failed
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._signalled)
        parent = os.getppid()
        threading.Thread(target=self._read, name="stdin", daemon=True).start()
        self._talked.wait(FIRST_SECONDS)
        self.host.load_in_background()
        if self.beside is not None:
            self.beside.start()
        while not self._stopping.wait(1.0):
            if os.getppid() != parent:  # a client that was killed may leave its end of the pipe open
                self._left()
        self._finish()
        return self.code

    def write(self, message: bytes) -> None:
        """Write one line, whole, whichever thread it comes from."""
        rest = memoryview(message + b"\n")
        try:
            with self._writing:
                while rest:
                    rest = rest[os.write(self._sink, rest) :]
            self._talked.set()
        except OSError:  # nobody reads any more
            self._left()

    def ask(self, exchange: Exchange, method: str, params: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Ask the client and wait for its answer."""
        self._asked += 1
        id, waiting = f"knapper-{self._asked}", Waiting(exchange)
        self._waiting[id] = waiting
        try:
            self.write(wire.request(id, method, params))
            with self._pool.aside():
                waiting.done.wait(0 if self._gone else seconds)
        finally:
            del self._waiting[id]
        if waiting.answer is None:
            raise TimeoutError
        if "error" in waiting.answer:
            error = waiting.answer["error"]
            raise ProtocolError(
                INTERNAL_ERROR, str(error.get("message", "") if isinstance(error, dict) else error)
            )
        result = waiting.answer.get("result")
        return result if isinstance(result, dict) else {}

    def _read(self) -> None:
        while line := self._source.readline(MOST_BYTES + 1):
            if len(line) > MOST_BYTES:
                self._skip(line)
                self._refuse(
                    None, ProtocolError(INVALID_REQUEST, f"Invalid request: over {MOST_BYTES} bytes")
                )
            elif not line.isspace():
                self._take_whatever(line)
        self._left()

    def _left(self) -> None:
        """The client has gone: what it was asked it will not answer any more."""
        self._gone = True
        self._stopping.set()
        for waiting in list(self._waiting.values()):
            waiting.done.set()

    def _take_whatever(self, line: bytes) -> None:
        """Take a line; one that we fail on does not end the session, for nobody would read the next."""
        try:
            self._take(line)
        except Exception:
            import logging

            logging.getLogger("knapper.server").exception("a message could not be taken")
            self._refuse(None, ProtocolError(INTERNAL_ERROR, "Internal error"))

    def _skip(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = self._source.readline(MOST_BYTES)

    def _take(self, line: bytes) -> None:
        try:
            message = wire.decode(line)
        except ProtocolError as error:
            self._refuse(None, error)
            return
        if isinstance(message, list):
            self._take_batch(message)
            return
        exchange = self._received(message)
        if isinstance(exchange, bytes):
            self.write(exchange)
        elif exchange is not None:
            self._start(exchange)

    def _take_batch(self, messages: list[Any]) -> None:
        """Batches are answered in one piece, in order; one bad message does not sink the rest."""
        if not messages or not eras.takes_batches(self.session.version):
            self._refuse(None, ProtocolError(INVALID_REQUEST, "Invalid request: no batch is expected here"))
            return
        received = [r for message in messages if (r := self._received(message, batch=True)) is not None]
        if received:
            self._pool.submit(lambda: self._answer_batch(received))

    def _answer_batch(self, received: list[Exchange | bytes]) -> None:
        answers = [one if isinstance(one, bytes) else self._answered(one) for one in received]
        sent = b",".join(answer for answer in answers if answer is not None)
        if sent:
            self.write(b"[" + sent + b"]")

    def _received(self, message: Any, *, batch: bool = False) -> Exchange | bytes | None:
        """A request to answer, an answer that is ready, or None for what has none."""
        try:
            checked = wire.check(message)
            if "method" not in checked:
                self._take_answer(checked)
                return None
            if "id" not in checked:
                self._take_notification(checked["method"], checked.get("params", {}))
                return None
            if batch and checked["method"] == "initialize":
                raise ProtocolError(
                    INVALID_REQUEST, "Invalid request: 'initialize' cannot be part of a batch"
                )
            return self._open(checked["id"], checked["method"], checked.get("params", {}))
        except ProtocolError as error:
            return wire.refusal(wire.known_id(message), error)

    def _open(self, id: Id, method: str, params: dict[str, Any]) -> Exchange:
        session = self.session
        enveloped = eras.has_envelope(params)
        if session.modern is None:
            session.modern = enveloped and method != "initialize"
        elif enveloped and not session.modern:
            raise ProtocolError(INVALID_REQUEST, "Invalid request: this connection began with a handshake")
        if self._stopping.is_set():
            raise ProtocolError(STOPPING, "The server is stopping")
        if id in self._running:
            raise ProtocolError(INVALID_REQUEST, "Invalid request: a request with this id is still running")
        back = Back(self)
        exchange = Exchange(self.host, session, method, params, id, back)
        back.exchange = exchange
        self._running[id] = exchange
        return exchange

    def is_quick(self, method: str) -> bool:
        """Whether a method is answered where it is read, before the next line is."""
        return table.is_quick(method)

    def answer(self, exchange: Exchange) -> Any:
        """The result of a request; None where the request stays open."""
        return table.answer(exchange)

    def notified(self, method: str, params: dict[str, Any]) -> None:
        """Hear what the client tells the server; a cancelled request and the end have been seen to."""
        if method == "notifications/initialized" and not self.session.listens:
            self.session.listens = True
            self._pool.submit(self._listen)

    def _start(self, exchange: Exchange) -> None:
        if self.is_quick(exchange.method):
            self._answer(exchange)
        else:
            self._pool.submit(lambda: self._answer(exchange))

    def _answer(self, exchange: Exchange) -> None:
        answer = self._answered(exchange)
        if answer is not None:
            self.write(answer)

    def _answered(self, exchange: Exchange) -> bytes | None:
        """The answer as bytes; None where the client has cancelled, or the request stays open."""
        open = False
        try:
            result = self.answer(exchange)
            open = result is None
            answer = wire.reply(exchange.id, result)
        except ProtocolError as error:
            answer = wire.refusal(exchange.id, error)
        except Exception:
            import logging

            logging.getLogger("knapper.server").exception("%s failed inside", exchange.method)
            answer = wire.refusal(exchange.id, ProtocolError(INTERNAL_ERROR, "Internal error"))
        finally:
            if not open:
                self._running.pop(exchange.id, None)
        return None if open or exchange.cancelled else answer

    def _take_answer(self, message: dict[str, Any]) -> None:
        waiting = self._waiting.get(wire.known_id(message) or "")
        if waiting is not None:
            waiting.answer = message
            waiting.done.set()

    def _take_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/cancelled":
            id = wire.as_id(params.get("requestId"))
            exchange = self._running.get(id) if id is not None else None
            if exchange is not None and exchange.method != "initialize":
                self._cancel(exchange)
                if exchange.method == LISTEN:
                    self._running.pop(exchange.id, None)
        elif method == "exit":
            self._stopping.set()
        elif self.session.version is not None:
            self.notified(method, params)

    def _listen(self) -> None:
        """From now on changes are told; what changed since the client listed the tools is made up for."""
        from knapper.server.changes import Change

        self.host.changes.listen(self._tell)
        if self.host.outdated:
            self._tell(Change("tools"))

    def _tell(self, change: Change) -> None:
        """A change reaches a client of the older revisions unasked, but for resources it does not watch."""
        if change.kind != "updated" or change.uri in self.session.subscribed:
            self.write(wire.notification(change.method, change.params))

    def _cancel(self, exchange: Exchange) -> None:
        exchange.cancel()
        for waiting in list(self._waiting.values()):
            if waiting.exchange is exchange:
                waiting.done.set()

    def _refuse(self, id: Id | None, error: ProtocolError) -> None:
        self.write(wire.refusal(id, error))

    def _signalled(self, *_: Any) -> None:
        """The first signal lets what runs finish; the second one does not wait for it."""
        if self._stopping.is_set():
            self._abandon.set()
        self._stopping.set()

    def _failed(self, error: Exception) -> None:
        from knapper.errors import ConfigError

        issues = error.issues if isinstance(error, ConfigError) else [str(error) or type(error).__name__]
        sys.stderr.write("".join(f"knapper: {issue}\n" for issue in issues))
        self.code = 2 if isinstance(error, ConfigError) else 1
        self._talked.wait(FAIL_SECONDS)
        self._stopping.set()

    def _finish(self) -> None:
        """Let what runs finish and be answered, then close what is open, within bounds."""
        waited = 0.0
        while waited < FINISH_SECONDS and not self._abandon.is_set() and not self._pool.drain(0.2):
            waited += 0.2
        for exchange in list(self._running.values()):
            self._cancel(exchange)
            if exchange.method == LISTEN:
                self.write(wire.reply(exchange.id, table.listened(exchange)))
        closing = threading.Thread(target=self._close, name="close", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)

    def _close(self) -> None:
        if self.beside is not None:
            self.beside.stop()
        self.host.close()
