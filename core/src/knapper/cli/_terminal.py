"""Output for people; what a program reads goes to stdout as JSON."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
import msgspec

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 160


def console() -> Console:
    """Made for each command, so that it writes where stdout leads then."""
    from rich.console import Console

    wide = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(file=sys.stdout, width=wide, highlight=False, soft_wrap=False)


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Sequence[str] = ()) -> None:
    """Rows under their heads; those named as numbers stand to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        shown.add_column(head, justify="right" if head in numbers else "left", overflow="fold")
    for row in rows:
        shown.add_row(*(_cell(value) for value in row))
    console().print(shown)


@contextmanager
def quiet(logger: str) -> Iterator[None]:
    """Keep the log from saying what the command itself will say."""
    log = logging.getLogger(logger)
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


def print_json(value: Any) -> None:
    """Indented, and with every character as it is: for programs and for people who look."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def stamp(seconds: float | None) -> str:
    """A time as people read it."""
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def _cell(value: Any) -> str:
    from rich.markup import escape

    return escape("" if value is None else str(value))
