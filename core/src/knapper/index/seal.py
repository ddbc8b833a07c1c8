"""Who has an index open, and whether the last who had it closed it in order.

Every process that has the file open holds a shared lock on a file beside it. Whoever finds itself alone may judge the
file: it is as it was left where its size and time are those of the seal. Whoever leaves last writes the seal.

While it is open, whoever has written to it notes how it left it: what is there otherwise is another program's work.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

Verdict = Literal["sealed", "broken", "unsealed"]
Body = tuple[int, ...]
_NOTED = 100  # bytes, more than any three numbers take


def body(file: str) -> Body:
    """What tells a file from another one, and from itself with other content; empty where there is none."""
    try:
        found = os.stat(file)  # noqa: PTH116  # asked for with every query
    except OSError:
        return ()
    if os.name == "nt":  # there the size and time of a file that is open follow when they please
        return (found.st_ino,)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


class Seal:
    """The seal of one index file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._path = file.with_suffix(".seal")
        self._left = file.with_suffix(".left")
        self._users = file.with_suffix(".users")
        self._fd = -1

    def join(self) -> bool:
        """Be one of those who have the file open; True where nobody else is, and then nobody can join before `settle`."""
        self._users.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._fd = os.open(self._users, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        if _alone(self._fd):
            return True
        _share(self._fd)
        return False

    def settle(self) -> None:
        """Let others join."""
        _share(self._fd)

    def verdict(self) -> Verdict:
        """Whether the file is as its last user left it, was changed since, or was not left in order."""
        try:
            sealed = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return "unsealed"
        except (OSError, ValueError):
            return "broken"
        return "sealed" if sealed == self._facts() else "broken"

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)

    def note(self) -> None:
        """Say that the file is as one of its users has left it; whoever may write to it says so.

        Where this fails, the others build the index anew. On a full disk it does not: it takes no more room than before.
        """
        with suppress(OSError):
            fd = os.open(self._left, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            try:
                os.write(fd, json.dumps(body(str(self._file))).ljust(_NOTED).encode())
            finally:
                os.close(fd)

    def is_noted(self) -> bool:
        """Whether the file is as its users left it; certain for whoever may write to it."""
        try:
            return bool(json.loads(self._left.read_bytes()) == list(body(str(self._file))))
        except (OSError, ValueError):
            return False

    def leave(self, *, in_order: bool) -> None:
        """Stop being one of the users, after the file was closed; the last one seals it, or says that it is not to be trusted."""
        if self._fd < 0:
            return
        if _alone(self._fd) and self._file.exists():
            self._path.write_text(json.dumps(self._facts() if in_order else None))
        self.drop()

    def drop(self) -> None:
        """Stop being one of the users, without a word about the file."""
        os.close(self._fd)
        self._fd = -1

    def _facts(self) -> list[int]:
        found = self._file.stat()
        log = self._file.with_name(self._file.name + "-wal")
        return [found.st_size, found.st_mtime_ns, found.st_ino, log.stat().st_size if log.exists() else 0]


if sys.platform == "win32":
    import msvcrt

    # No shared locks here: each user locks a byte of its own, and who can lock them all is alone.
    _SEATS = 64

    def _alone(fd: int) -> bool:
        _release(fd)
        if all(_take(fd, seat) for seat in range(_SEATS)):
            return True
        _release(fd)
        return False

    def _share(fd: int) -> None:
        _release(fd)
        any(_take(fd, seat) for seat in range(_SEATS))

    def _take(fd: int, seat: int, mode: int = msvcrt.LK_NBLCK) -> bool:
        os.lseek(fd, seat, os.SEEK_SET)
        try:
            msvcrt.locking(fd, mode, 1)
        except OSError:
            return False
        return True

    def _release(fd: int) -> None:
        for seat in range(_SEATS):
            _take(fd, seat, msvcrt.LK_UNLCK)
else:
    import fcntl

    def _alone(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _share(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_SH)
