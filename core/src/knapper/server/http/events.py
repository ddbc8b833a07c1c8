"""What a client missed while its stream was broken, for as long as its session and this memory hold it."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from mcp.server.streamable_http import (
    GET_STREAM_KEY,
    EventCallback,
    EventId,
    EventMessage,
    EventStore,
    StreamId,
)
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

MOST = 512
MOST_BYTES = 2_000_000  # of one session; the last event is kept whatever its size


class Event(NamedTuple):
    """One event as the bytes it was sent as: a message as objects takes many times the room."""

    id: int
    stream: StreamId
    sent: bytes | None


class Events(EventStore):
    """The last events of one session. Each session has its own, so that no event id leads into another's."""

    def __init__(self) -> None:
        self._kept: deque[Event] = deque()
        self._last = 0
        self._bytes = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self._last += 1
        sent = (
            None if message is None else message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        )
        self._kept.append(Event(self._last, stream_id, sent))
        self._bytes += len(sent or b"")
        while len(self._kept) > MOST or (self._bytes > MOST_BYTES and len(self._kept) > 1):
            self._bytes -= len(self._kept.popleft().sent or b"")
        return str(self._last)

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        """Send what came after an event on the same stream.

        What came after an event that is forgotten is lost, but its client hears what comes from now on: it would ask
        after the same event for ever. None where there never was such an event.
        """
        kept = list(self._kept)
        stream = next((event.stream for event in kept if str(event.id) == last_event_id), None)
        if stream is None:
            return GET_STREAM_KEY if self._forgot(last_event_id) else None
        for event in kept:
            if event.stream == stream and event.id > int(last_event_id) and event.sent is not None:
                message = jsonrpc_message_adapter.validate_json(event.sent)
                await send_callback(EventMessage(message, str(event.id)))
        return stream

    def _forgot(self, id: EventId) -> bool:
        return id.isdecimal() and len(id) <= len(str(self._last)) and 0 < int(id) <= self._last
