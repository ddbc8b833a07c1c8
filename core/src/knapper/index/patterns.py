"""Patterns under a real budget: looked for in child processes, which are killed when their time is over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from knapper.children import spawn
from knapper.errors import ToolError
from knapper.index import pattern_worker

MOST_WORKERS = 8
KEPT_IDLE = 2
LOOK_UP_SECONDS = 0.05
START_SECONDS = 10.0


class Worker:
    """One child process, and a thread that reads what it says, since a pipe cannot be waited for with a limit."""

    def __init__(self) -> None:
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        self._child = spawn(
            [sys.executable, "-S", "-B", str(Path(pattern_worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        self._answers: Queue[dict[str, Any] | None] = Queue()
        threading.Thread(target=self._listen, name="pattern", daemon=True).start()
        # Its start is not part of any pattern's budget.
        with suppress(Empty):
            self._answers.get(timeout=START_SECONDS)

    def ask(self, request: dict[str, Any], cancelled: Callable[[], bool]) -> dict[str, Any] | None:
        """The answer, or None where it did not come in time; the worker is of no more use then."""
        deadline = time.monotonic() + request["seconds"]
        try:
            pattern_worker.send(self._child.stdin, request)
        except OSError:
            return None
        while (left := deadline - time.monotonic()) > 0 and not cancelled():
            try:
                return self._answers.get(timeout=min(left, LOOK_UP_SECONDS))
            except Empty:
                continue
        return None

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()

    def _listen(self) -> None:
        pipe = self._child.stdout
        assert pipe is not None
        with pipe:
            while len(head := pipe.read(4)) == 4:
                self._answers.put(json.loads(pipe.read(int.from_bytes(head, "big"))))
        self._answers.put(None)


class Pool:
    """Workers of this process: taken for one call each, and given back unless they had to be killed."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(MOST_WORKERS)

    def search(
        self,
        db: Path,
        pattern: str,
        flags: int,
        files: Sequence[int],
        *,
        after: int,
        per_file: int,
        limit: int,
        seconds: float,
        cancelled: Callable[[], bool],
    ) -> tuple[list[Any], bool]:
        """Matches and whether there are more; compute_budget_exceeded where that takes too long."""
        request = {
            "db": str(db),
            "pattern": pattern,
            "flags": flags,
            "files": list(files),
            "after": after,
            "per_file": per_file,
            "limit": limit,
            "seconds": seconds,
        }
        if not self._free.acquire(timeout=seconds):
            raise _over(seconds)
        try:
            answer = self._ask(request, cancelled)
        finally:
            self._free.release()
        if answer is None and cancelled():
            raise ToolError("aborted", "the call was cancelled")
        if answer is None:
            raise _over(seconds)
        if "error" in answer:
            raise ToolError("invalid_input", f"pattern: {answer['error']}", field="pattern")
        return answer["hits"], answer["more"]

    def _ask(self, request: dict[str, Any], cancelled: Callable[[], bool]) -> dict[str, Any] | None:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or Worker()
        answer = worker.ask(request, cancelled)
        with self._lock:
            if answer is not None and len(self._idle) < KEPT_IDLE:
                self._idle.append(worker)
                return answer
        worker.kill()
        return answer


def _over(seconds: float) -> ToolError:
    return ToolError(
        "compute_budget_exceeded",
        f"the pattern took over {seconds:g} s; make it simpler, or name a folder in root",
        budget_ms=int(seconds * 1000),
    )


POOL = Pool()
