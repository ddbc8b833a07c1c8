"""Traces: one line a call in a file for each session, under the cache folder."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import msgspec

from knapper.config.paths import cache_dir

DAY = 86_400
SERVER, CALLER = "server", "caller-"
UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def folder(settings: Any) -> Path:
    """Where the traces of this server are."""
    return cache_dir(settings) / "traces"


def place(session: str | None, caller: str) -> str:
    """Where a call comes from: its connection's session, or its caller, by hash, where connections have none."""
    return session or f"{CALLER}{caller}"


def file_name(place: str, ts: float) -> str:
    """The file of a place; a name that could leave the folder becomes one that cannot.

    A session has one. A caller without sessions, and the server itself, never end, so they have one for each day.
    """
    daily = place == SERVER or place.startswith(CALLER)
    day = time.strftime(".%Y-%m-%d", time.gmtime(ts)) if daily else ""
    return f"{_safe(place)}{day}.jsonl"


def files(folder: Path, place: str) -> list[Path]:
    """All files of a place, in the order of time."""
    safe = _safe(place)
    return [folder / f"{safe}.jsonl", *sorted(folder.glob(f"{safe}.????-??-??.jsonl"))]


def _safe(name: str) -> str:
    return UNSAFE.sub("_", name).strip(".")[:120] or "_"


def append(file: Path, line: dict[str, Any]) -> None:
    """Add one line; whole lines of several writers do not mix, and one that was cut off stays by itself."""
    append_encoded(file, msgspec.json.encode(line))


def append_encoded(file: Path, line: bytes) -> None:
    """Add a line that is JSON already."""
    with opened(file) as stream:
        add(stream, line)


def opened(file: Path) -> FileIO:
    """A file that lines can be added to, at the start of one."""
    stream = FileIO(file, "a+")
    try:
        if _cut_off(stream):
            stream.write(b"\n")
    except BaseException:
        stream.close()
        raise
    return stream


def add(stream: FileIO, line: bytes) -> None:
    """Add a line to an open file; where this raises the line may be cut off, so the file is to be opened anew."""
    data = line + b"\n"
    if stream.write(data) < len(data):
        raise OSError(errno.ENOSPC, "the line was cut off")


def _cut_off(stream: FileIO) -> bool:
    """Whether the last writer was killed, or met a full disk, in the middle of its line."""
    if not stream.seekable() or stream.seek(0, os.SEEK_END) == 0:
        return False
    stream.seek(-1, os.SEEK_END)
    return stream.read(1) != b"\n"


def sweep(folder: Path, days: float, now: float) -> int:
    """Remove traces that nobody has added to for so many days; how many there were."""
    old = [file for file in folder.glob("*.jsonl") if now - file.stat().st_mtime > days * DAY]
    for file in old:
        file.unlink(missing_ok=True)
    return len(old)


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
