"""Tools, resources and prompts that exist for tests only: what the conformance suite asks for by name, and what misbehaves."""

import sys
import threading
import time
from typing import Annotated, Any

from knapper import (
    Context,
    Doc,
    Domain,
    Image,
    ReadPath,
    Record,
    ResourceLink,
    Route,
    ToolError,
    WritePath,
    hookimpl,
)

running: list[str] = []
finished: list[float] = []
fixtures = Domain("fixtures", summary="What only tests need.")


class Text(Record):
    """A note's text."""

    path: str
    text: str


@fixtures.tool("read:notes")
def read_text(ctx: Context, path: ReadPath) -> Text:
    """Read a note's text."""
    return Text(path=path, text=ctx.vault.read(path).text)


@fixtures.tool("write:notes", destructive=True)
def destroy_text(ctx: Context, path: WritePath) -> str:
    """Overwrite a note with nothing, after a person has confirmed it."""
    ctx.vault.write(path, "")
    return "gone"


@fixtures.tool("read:notes", vault=False)
def add_numbers(ctx: Context, a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@fixtures.tool("read:notes", vault=False)
def shout(ctx: Context, text: str) -> str:
    """Print to standard output, as a careless plugin does, from Python and from below it."""
    import os

    print(text)  # noqa: T201 (that is the point)
    sys.stdout.flush()
    os.write(1, text.encode() + b"\n")
    return "printed"


@fixtures.tool("read:notes", vault=False)
def fail_inside(ctx: Context) -> str:
    """Fail in a way nobody expects."""
    raise ZeroDivisionError("a secret detail")


@fixtures.tool("read:notes", vault=False)
def fail_knowingly(ctx: Context) -> str:
    """Fail in a way the caller can understand."""
    raise ToolError("invalid_input", "this never works", field="none")


@fixtures.tool("read:notes", vault=False)
def take_time(ctx: Context, seconds: Annotated[float, Doc("How long.", ge=0, le=60)]) -> str:
    """Work for a while, say how far it is, and stop when it is told to."""
    end = time.monotonic() + seconds
    step = 0
    running.append("take_time")
    try:
        while time.monotonic() < end:
            step += 1
            ctx.progress(step, None, f"step {step}")
            threading.Event().wait(0.02)
    finally:
        running.remove("take_time")
    finished.append(seconds)
    return "done"


@fixtures.tool("read:notes", vault=False)
def running_now(ctx: Context) -> list[str]:
    """Say which calls of take_time still run."""
    return list(running)


@fixtures.tool("read:notes", vault=False)
def finished_until_now(ctx: Context) -> list[float]:
    """Say which calls of take_time came to their end, by how long they took."""
    return list(finished)


@fixtures.tool("read:notes", vault=False)
def murmur(ctx: Context, level: str) -> str:
    """Tell the client something on the way."""
    ctx.log(level, f"a {level} on the way")
    return "said"


@fixtures.tool("admin:config", vault=False)
def reload_now(ctx: Context) -> int:
    """Read the configuration again."""
    return len(ctx.server.reload()[0])


@fixtures.tool("read:notes")
def point_to(ctx: Context, path: ReadPath) -> str:
    """Send a link to a note, and a picture, beside the answer."""
    ctx.attach(ResourceLink(path=path))
    ctx.attach(Image(data=b"GIF89a", mime="image/gif"))
    return "see there"


@fixtures.prompt(topic="What it is about.")
def discuss(topic: str) -> str:
    """Discuss a topic."""
    return f"Let us discuss {topic}."


def _open(app: Any, caller: Any, request: Any) -> Any:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(f"open to {caller.name}: {request.path_params['word']}")


def _closed(app: Any, caller: Any, request: Any) -> Any:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(f"closed to {caller.name}")


@hookimpl
def knapper_routes() -> list[Route]:
    """Hand two routes over, one of them without a bearer."""
    return [Route("/fixtures/open/{word}", _open, open=True), Route("/fixtures/closed", _closed)]


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over."""
    return fixtures
