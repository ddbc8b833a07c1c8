"""What a client missed while its stream was broken, for as long as its session and this memory hold it."""

from __future__ import annotations

from collections import deque
from typing import Any

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId

MOST = 512


class Events(EventStore):
    """The last events of one session. Each session has its own, so that no event id leads into another's."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, StreamId, Any]] = deque(maxlen=MOST)
        self._last = 0

    async def store_event(self, stream_id: StreamId, message: Any) -> EventId:
        self._last += 1
        self._kept.append((self._last, stream_id, message))
        return str(self._last)

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        """Send what came after an event on the same stream; None where that event is not known any more."""
        kept = list(self._kept)
        stream = next((stream for id, stream, _ in kept if str(id) == last_event_id), None)
        if stream is None:
            return None
        for id, of, message in kept:
            if of == stream and id > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, str(id)))
        return stream
