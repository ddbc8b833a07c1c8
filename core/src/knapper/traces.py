"""Traces: one line a call in a file for each session, under the cache folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from knapper.config.paths import cache_dir

UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def folder(settings: Any) -> Path:
    """Where the traces of this server are."""
    return cache_dir(settings) / "traces"


def file_name(session: str | None) -> str:
    """A session's file; a name that could leave the folder becomes one that cannot."""
    safe = UNSAFE.sub("_", session or "server").strip(".")
    return f"{safe[:120] or '_'}.jsonl"


def append(file: Path, line: dict[str, Any]) -> None:
    """Add one line; whole lines of several writers do not mix."""
    with file.open("ab", buffering=0) as stream:
        stream.write(msgspec.json.encode(line) + b"\n")


def read(file: Path) -> Iterator[dict[str, Any]]:
    """The lines of a trace in order; one that was cut off by a kill is left out."""
    try:
        stream = file.open("rb")
    except FileNotFoundError:
        return
    with stream:
        for raw in stream:
            try:
                yield msgspec.json.decode(raw)
            except msgspec.DecodeError:
                continue
