"""A process that looks for patterns, to be killed when one takes too long: nothing else can stop a pattern.

It is started as a file and imports next to nothing, so that the next one is there at once.
"""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any, BinaryIO

SNIPPET = 200
LONGEST_MATCH = 1000
MEMORY = 1 << 30


def main() -> None:
    """Answer requests until the pipe closes; each has its own alarm, which ends the process where nobody else does."""
    _limit_memory()
    texts = Texts()
    send(sys.stdout.buffer, {})
    while (head := sys.stdin.buffer.read(4)) and len(head) == 4:
        request = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
        _alarm(request["seconds"] + 1)
        try:
            answer = search(texts, request)
        except (re.error, RecursionError, OverflowError, MemoryError) as error:
            answer = {"error": str(error) or type(error).__name__}
        _alarm(0)
        send(sys.stdout.buffer, answer)


def send(pipe: BinaryIO | Any, message: dict[str, Any]) -> None:
    """Write a message with its length before it."""
    data = json.dumps(message).encode()
    pipe.write(len(data).to_bytes(4, "big") + data)
    pipe.flush()


class Texts:
    """The texts of an index, opened again when the file is another one."""

    def __init__(self) -> None:
        self._opened: tuple[str, int] | None = None
        self._connection: sqlite3.Connection | None = None

    def open(self, path: str) -> sqlite3.Connection:
        wanted = (path, Path(path).stat().st_ino)
        if self._connection is None or self._opened != wanted:
            if self._connection is not None:
                self._connection.close()
            uri = Path(path).absolute().as_uri() + "?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5)
            self._opened = wanted
        return self._connection


def search(texts: Texts, request: dict[str, Any]) -> dict[str, Any]:
    """Matches in files in their given order, from an offset in the first one on; `more` where the limit cut them."""
    pattern = _compiled(request["pattern"], request["flags"])
    connection = texts.open(request["db"])
    after, limit, most = request["after"], request["limit"], request["per_file"]
    hits: list[Any] = []
    for file in request["files"]:
        row = connection.execute("SELECT text FROM texts WHERE file = ?", (file,)).fetchone()
        found = 0
        for match in pattern.finditer(row[0]) if row else ():
            found += 1
            if found > most:
                break
            if match.start() <= after:
                continue
            if len(hits) == limit:
                return {"hits": hits, "more": True}
            hits.append([file, *_place(row[0], match.start(), match.end())])
        after = -1
    return {"hits": hits, "more": False}


def _compiled(pattern: str, flags: int) -> Any:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        # What other engines allow, such as (?<name>…) and \p{L}.
        try:
            import regex
        except ImportError:
            raise error from None
    known = {re.IGNORECASE: regex.I, re.MULTILINE: regex.M, re.DOTALL: regex.S}
    try:
        return regex.compile(pattern, sum(theirs for ours, theirs in known.items() if flags & ours))
    except regex.error as error:
        raise re.error(str(error)) from None


def _place(text: str, start: int, end: int) -> tuple[int, int, int, str, str]:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    left, right = line_start, line_end
    if right - left > SNIPPET:
        left = max(left, start - max(0, (SNIPPET - (end - start)) // 2))
        right = min(right, left + SNIPPET)
    line = text.count("\n", 0, start)
    return (
        start,
        line,
        start - line_start,
        text[start : min(end, start + LONGEST_MATCH)],
        text[left:right].strip(),
    )


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        return


if __name__ == "__main__":
    main()
