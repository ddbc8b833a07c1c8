"""One reader at work: fed, listened to, and killed with all it has started when its time is over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from knapper import ToolError
from knapper.children import spawn
from knapper_ocr import reader

LOOK_UP_SECONDS = 0.05
GRACE_SECONDS = (
    15.0  # beside a program's own time: the interpreter, models that are loaded, pages that are drawn
)


class Reader:
    """A child process with two threads, since a pipe can be waited for with a limit in no other way."""

    def __init__(self, order: dict[str, Any], data: bytes) -> None:
        self._child = spawn(
            [sys.executable, "-P", "-S", "-B", str(Path(reader.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # a group of its own, so that nothing it started outlives it
        )
        self._answers: Queue[dict[str, Any] | None] = Queue()
        self._threads = [
            threading.Thread(target=self._feed, args=(order, data), name="ocr-feed", daemon=True),
            threading.Thread(target=self._listen, name="ocr-listen", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def pages(self, seconds: float, whole: float, cancelled: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """Each page as it is read; operation_timeout where one, or all together, take too long."""
        end, number = time.monotonic() + whole, 1
        while True:
            limit = min(end, time.monotonic() + seconds + GRACE_SECONDS)
            answer = self._next(limit, number, cancelled)
            if answer is None:
                message = "the file is broken: what reads it came to grief"
                raise ToolError("invalid_input", message, page=number)
            if "code" in answer:
                raise ToolError(answer["code"], answer["message"], **answer["details"])
            if "end" in answer:
                return
            yield answer
            number += 1

    def close(self) -> None:
        """End it and whatever it has started; its number stays taken until it is waited for."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.kill()
        self._child.wait()
        for thread in self._threads:
            thread.join()

    def _next(self, limit: float, number: int, cancelled: Callable[[], bool]) -> dict[str, Any] | None:
        while (left := limit - time.monotonic()) > 0:
            if cancelled():
                raise ToolError("aborted", "the call was cancelled")
            with suppress(Empty):
                return self._answers.get(timeout=min(left, LOOK_UP_SECONDS))
        raise ToolError("operation_timeout", f"page {number} was not read in time", page=number)

    def _feed(self, order: dict[str, Any], data: bytes) -> None:
        pipe = self._child.stdin
        assert pipe is not None
        with suppress(OSError), pipe:
            pipe.write(json.dumps(order).encode() + b"\n")
            pipe.write(data)

    def _listen(self) -> None:
        pipe = self._child.stdout
        assert pipe is not None
        with pipe, suppress(ValueError):  # the last line of one that was killed may be half a line
            for line in pipe:
                self._answers.put(json.loads(line))
        self._answers.put(None)


def _environment() -> dict[str, str]:
    """Ours, with the packages that are installed here, and one thread a program: how many run at once is counted."""
    packages = os.pathsep.join(part for part in sys.path if part)
    return dict(os.environ, PYTHONPATH=packages, OMP_THREAD_LIMIT="1", OMP_NUM_THREADS="1")
