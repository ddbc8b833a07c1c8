"""Echo: repeats what it hears, with a domain, a sink, a verifier and an embedder as small as they can be."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from knapper import (
    Caller,
    CallRecord,
    Context,
    Doc,
    Domain,
    Embedder,
    Event,
    ReadPath,
    Record,
    Rejected,
    Section,
    Sink,
    Verifier,
    WritePath,
    hookimpl,
)


class EchoSettings(Section):
    """The section [echo] of the configuration."""

    times: int = 1
    listen: bool = False


echo = Domain("echo", summary="Repeat what was said, and what a note says.", settings=EchoSettings)
heard: deque[str] = deque(maxlen=100)


class Line(Record):
    path: str
    text: str


@echo.tool(vault=False)
def say(ctx: Context, text: Annotated[str, Doc("What to repeat.", max_length=200)]) -> str:
    """Repeat a text, as often as the configuration says."""
    return " ".join([text] * ctx.settings.times)


@echo.tool("read:notes")
def first_line(ctx: Context, path: ReadPath) -> Line:
    """Repeat the first line of a note."""
    return Line(path=path, text=ctx.vault.read(path).text.partition("\n")[0])


@echo.tool("write:notes", confirm="where the note is there already")
def write_down(ctx: Context, path: WritePath, text: str) -> Line:
    """Write a text down as a note."""
    ctx.confirm(ctx.vault.exists(path) is not None, {"path": path})
    ctx.vault.write(path, text)
    return Line(path=path, text=text)


class Listener:
    """A sink's observer: remembers which tools were called and how the calls ended."""

    def call(self, record: CallRecord) -> None:
        heard.append(f"{record.tool} {record.status}")

    def event(self, event: Event) -> None:
        heard.append(event.type)

    def close(self) -> None:
        heard.append("closed")


class Letters:
    """An embedding model of 26 dimensions: how often each letter occurs in a text."""

    identity, dimensions = "echo/letters/1", 26

    def embed(self, texts: Sequence[str], *, query: bool) -> Any:
        import numpy as np  # only where something is embedded

        rows = np.array([[text.lower().count(chr(97 + n)) + 1e-6 for n in range(26)] for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def believe(settings: Any) -> Callable[[str], Caller]:
    def verify(bearer: str) -> Caller:
        if not bearer.startswith("echo-"):
            raise Rejected("malformed")
        return Caller(bearer.removeprefix("echo-"), frozenset({"read"}), authenticated=True)

    return verify


@hookimpl
def knapper_domains() -> Domain:
    return echo


def _section(server: Any) -> EchoSettings:
    found: EchoSettings = server.settings.section("echo", EchoSettings)
    return found


@hookimpl
def knapper_sinks() -> Sink:
    return Sink("echo", lambda server: Listener() if _section(server).listen else None)


@hookimpl
def knapper_verifiers() -> Verifier:
    return Verifier("echo", believe)


@hookimpl
def knapper_embedders() -> Embedder:
    return Embedder("echo", lambda settings: Letters())
