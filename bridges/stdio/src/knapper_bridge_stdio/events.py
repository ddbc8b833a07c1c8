"""Messages of JSON-RPC as a host sends them: one in a body, or many in a stream of events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from knapper_bridge_stdio.http import decoded

if TYPE_CHECKING:
    import httpx

EMPTY = msgspec.Raw(b"{}")


class Failure(msgspec.Struct):
    """The error of a response."""

    code: int
    message: str = ""
    data: Any = None


class Message(msgspec.Struct):
    """A request, a notification or a response; what is only passed on stays as it came."""

    id: int | str | None = None
    method: str | None = None
    params: msgspec.Raw = EMPTY
    result: msgspec.Raw = EMPTY
    error: Failure | None = None


def messages(answer: httpx.Response) -> Iterator[Message]:
    """What an answer holds, as it arrives."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        for data in events(answer.iter_bytes()):
            yield from _messages(data)
    elif content := answer.read():
        yield from _messages(content)


def _messages(data: bytes) -> list[Message]:
    found = decoded(data, Message | list[Message])
    return found if isinstance(found, list) else [found]


def events(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each event. Lines end at a newline only: a text may well hold U+2028, which other splitters take for one."""
    rest, data = b"", list[bytes]()
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for one in lines:
            text = one.removesuffix(b"\r")
            if text.startswith(b"data:"):
                data.append(text[5:].removeprefix(b" "))
            elif not text:
                if any(data):  # an empty one only says where a broken stream would go on
                    yield b"\n".join(data)
                data = []
