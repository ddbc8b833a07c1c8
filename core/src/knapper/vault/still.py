"""Keeping other programs from writing a file in place for the moment in which it is replaced.

Obsidian and many editors write a note by emptying it and filling it again. Whoever replaces it in between leaves them
to fill a file that has no name any more: what they save would be lost.
"""

from __future__ import annotations

import os
import time
from typing import Self

from knapper.vault import _leases, paths
from knapper.vault._folder import Folder
from knapper.vault.refusals import Busy, Changed

PATIENCE = 1.0  # longer than any save takes
LOOK = 0.002
# Where nobody can say, a file unchanged for so long is hardly half written; one that was emptied is about to be filled.
SETTLED = 0.05
FILLED = 0.5


class Still:
    """A file that nobody else is writing: known for sure where the kernel tells, else by its age.

    `known` is the name of a file of the same folder that certainly nobody is writing; one is made where none is named.
    """

    def __init__(self, folder: Folder, leaf: str, path: str, known: str | None = None) -> None:
        self._folder = folder
        self._leaf = leaf
        self._path = path
        self._known = known
        self._fd = -1

    def __enter__(self) -> Self:
        deadline = time.monotonic() + PATIENCE
        while not self._begun():
            if time.monotonic() > deadline:
                raise Busy(self._path, None)
            time.sleep(LOOK)
        return self

    def __exit__(self, *error: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def is_left(self, name: str) -> bool:
        """Whether nobody has begun to write the file meanwhile, and it is the one that now has this name."""
        if self._fd < 0:
            return True
        status = self._folder.lstat(name)
        same = status is not None and os.path.samestat(status, os.fstat(self._fd))
        return same and not _leases.awaited(self._fd)

    def _begun(self) -> bool:
        try:
            fd = self._folder.open(self._leaf)
        except FileNotFoundError:
            raise Changed(self._path, None) from None
        answer = _leases.take(fd)
        if answer == "held":
            self._fd = fd
            return True
        status = os.fstat(fd)
        os.close(fd)
        if answer == "written" and self._granted():
            return False
        age, enough = time.time() - status.st_mtime, SETTLED if status.st_size else FILLED
        if 0 <= age < enough:
            time.sleep(enough - age)
            return False
        return True

    def _granted(self) -> bool:
        if self._known is not None:
            return self._leased(self._known)
        probe = f"{paths.TEMPORARY}{os.urandom(8).hex()}"
        os.close(self._folder.create(probe, None))
        try:
            return self._leased(probe)
        finally:
            self._folder.unlink(probe)

    def _leased(self, name: str) -> bool:
        fd = self._folder.open(name)
        try:
            return _leases.take(fd) == "held"
        finally:
            os.close(fd)
