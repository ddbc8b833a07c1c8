"""A process of its own with an index open: reads orders from stdin, answers each with a line."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from knapper.config.model import IndexSettings, WatchSettings
from knapper.index.engine import Index
from knapper.index.loading import facts
from knapper.index.view import IndexView
from knapper.vault.disk import Disk


def main(folder: str, file: str, *flags: str) -> None:
    index = Index(
        Disk(folder),
        Path(file),
        settings=IndexSettings(processes=1),
        watch=WatchSettings(enabled="watch" in flags),
    )
    if "live" in flags:
        index.start()
    say("open")
    for line in sys.stdin:
        do, *given = json.loads(line)
        say(ORDERS[do](index, *given))
    index.close()


def say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def status(index: Index) -> dict[str, Any]:
    return index.status()._asdict()


def write(index: Index, path: str, text: str) -> str:
    """Write a file as the server does: the file first, then the index, before it returns."""
    base = index.disk.version(path)
    stat = index.disk.put(path, text.encode(), base)
    index.wrote([(path, text.encode(), facts(stat))])
    return path


def write_many(index: Index, prefix: str, count: int) -> int:
    for number in range(count):
        write(index, f"{prefix}/{number}.md", f"# {prefix} {number}\n\n[[{prefix}/{(number + 1) % count}]]\n")
    return index.write_failures


def find(index: Index, path: str) -> list[Any] | None:
    row = IndexView(index, None).file(path)
    return None if row is None else [row.path, row.title, row.hash]


def ask_many(index: Index, count: int) -> int:
    """The same questions again and again; says how many went through."""
    view = IndexView(index, None)
    for _ in range(count):
        view.select()
        view.edges()
    return count


def reconcile(index: Index) -> list[int]:
    return list(index.reconcile())


def die_after(index: Index, count: int) -> None:
    """Begin to compare and be killed once so many files are in."""

    def look(done: int, total: int) -> None:
        if done >= count:
            os.kill(os.getpid(), signal.SIGKILL)

    index.reconcile(progress=look)


ORDERS: dict[str, Any] = {
    "status": status,
    "write": write,
    "write_many": write_many,
    "find": find,
    "ask_many": ask_many,
    "reconcile": reconcile,
    "die_after": die_after,
    "force": lambda index: index.reconcile(force=True).upserted,
}

if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    main(*sys.argv[1:])
