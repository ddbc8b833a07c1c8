"""A stream of events is cut where its lines end, and nowhere else."""

from __future__ import annotations

import pytest

from knapper_bridge_stdio.events import events


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_found_however_they_are_chopped(size: int) -> None:
    text = 'id: 1\r\ndata: \r\n\r\n: comment\n\ndata: {"a":\ndata: 1}\n\nevent: x\ndata:{"b":"\u2028\x85"}\r\n\r\ndata: cut'
    raw = text.encode()
    chunks = [raw[start : start + size] for start in range(0, len(raw), size)]
    assert list(events(chunks)) == [b'{"a":\n1}', '{"b":"\u2028\x85"}'.encode()]
