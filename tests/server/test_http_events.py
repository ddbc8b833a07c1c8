"""What is kept for clients whose stream breaks is what was sent, and never more than a session may hold."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCNotification

from knapper.server.http.events import MOST, MOST_BYTES, Events


def told(text: str) -> JSONRPCNotification:
    return JSONRPCNotification(
        jsonrpc="2.0", method="notifications/message", params={"data": text, "no": None}
    )


def replayed(events: Events, after: str) -> list[Any]:
    found: list[Any] = []

    async def take(event: EventMessage) -> None:
        found.append((event.event_id, event.message))

    asyncio.run(events.replay_events_after(after, take))
    return found


def stored(*texts: str) -> Events:
    events = Events()
    for text in texts:
        asyncio.run(events.store_event("a", told(text)))
    return events


def test_what_came_after_an_event_is_sent_again_as_it_was() -> None:
    assert replayed(stored("one", "two", "dré\n"), "1") == [("2", told("two")), ("3", told("dré\n"))]


def test_events_of_another_stream_are_not_sent_again() -> None:
    events = stored("mine")
    asyncio.run(events.store_event("b", told("other")))
    asyncio.run(events.store_event("a", told("mine too")))
    assert replayed(events, "1") == [("3", told("mine too"))]


def test_the_oldest_go_when_there_are_too_many_or_they_are_too_large() -> None:
    many = stored(*(str(n) for n in range(MOST + 10)))
    assert replayed(many, "10") == []
    assert len(replayed(many, "11")) == MOST - 1
    large = stored(*("x" * (MOST_BYTES // 4) for _ in range(10)))
    assert [id for id, _ in replayed(large, "8")] == ["9", "10"]
    assert replayed(large, "7") == []


def test_an_event_larger_than_all_is_kept_while_it_is_the_last() -> None:
    events = stored("small", "x" * (MOST_BYTES + 1))
    assert replayed(events, "1") == []
    assert [event.id for event in events._kept] == [2]
