"""Locks: of a path between the threads of a process, and of a vault between processes."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from knapper.errors import ToolError
from knapper.vault import paths

_PATIENCE = 30.0


class PathLocks:
    """One lock a path, kept only while somebody holds or waits for it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held: dict[str, tuple[threading.RLock, int]] = {}

    @contextmanager
    def hold(self, *locked: str) -> Iterator[None]:
        """Hold the paths, always taken in one order, so that two changes of the same files cannot block each other."""
        with ExitStack() as stack:
            for key in sorted({paths.folded(path) for path in locked}):
                stack.enter_context(self._one(key))
            yield

    @contextmanager
    def _one(self, key: str) -> Iterator[None]:
        with self._mutex:
            lock, users = self._held.get(key, (None, 0))
            lock = lock or threading.RLock()
            self._held[key] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            self._leave(key)

    def _leave(self, key: str) -> None:
        with self._mutex:
            lock, users = self._held.pop(key)
            if users > 1:
                self._held[key] = (lock, users - 1)


class FileLock:
    """A lock that processes share through a file; the thread that has it may take it again."""

    def __init__(self, path: Path, patience: float = _PATIENCE) -> None:
        self._path = path
        self._patience = patience
        self._threads = threading.RLock()
        self._depth = 0
        self._fd = -1

    def __enter__(self) -> None:
        self._threads.acquire()
        try:
            if self._depth == 0:
                self._fd = self._take()
            self._depth += 1
        except BaseException:
            self._threads.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            _unlock(self._fd)
            os.close(self._fd)
        self._threads.release()

    def _take(self) -> int:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        deadline = time.monotonic() + self._patience
        wait = 0.0005
        while not _try_lock(fd):
            if time.monotonic() > deadline:
                os.close(fd)
                raise ToolError(
                    "operation_timeout", "another process has been changing the vault for too long"
                )
            time.sleep(wait)
            wait = min(wait * 2, 0.02)
        return fd


if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)
