"""Open folders by path, for systems without directory descriptors: the same steps, each checked around it.

Windows locks what others have open and offers no descriptor-relative calls, so a check here sits right before and
right after its step instead of inside it. What is left is a moment in which a local program that may already change the
vault could swap a folder for a link; the check afterwards then refuses the result.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Symbolic links and junctions; a cloud drive's placeholders carry other tags and are plain files.
_LINKS = frozenset({0xA000000C, 0xA0000003})
_REPLACED = 16  # tries to open a file that is being replaced all the time
_WAITS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)

T = TypeVar("T")


class Folder:
    """A directory known by its real path; the names it takes are single components, never paths."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._check()

    @classmethod
    def root(cls, path: str) -> Self:
        return cls(Path(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _at(self, name: str) -> Path:
        return self._path / name

    def _check(self) -> None:
        if not self._path.is_dir():
            number = errno.ENOTDIR if os.path.lexists(self._path) else errno.ENOENT
            raise OSError(number, os.strerror(number), self._path.name)
        if os.path.normcase(os.path.realpath(self._path)) != os.path.normcase(self._path):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._path.name)

    def child(self, name: str) -> Self:
        """The real folder of this name; a link is refused."""
        return type(self)(self._at(name))

    def status(self) -> os.stat_result:
        return self._path.stat()

    def lstat(self, name: str) -> os.stat_result | None:
        try:
            return self._at(name).lstat()
        except FileNotFoundError:
            return None

    @staticmethod
    def is_link(status: os.stat_result) -> bool:
        return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) in _LINKS

    def writable(self) -> bool:
        return os.access(self._path, os.W_OK | os.X_OK)

    def names(self) -> list[str]:
        return [child.name for child in self._path.iterdir()]

    def scan(self) -> Iterator[tuple[str, os.stat_result]]:
        for name in self.names():
            # A directory entry on Windows knows neither the inode nor the number of links.
            if (status := self.lstat(name)) is not None:
                yield name, status

    def open(self, name: str) -> int:
        for _ in range(_REPLACED):
            fd = os.open(self._at(name), _READ)
            try:
                if self._is_opened(fd, name):
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), name)

    def _is_opened(self, fd: int, name: str) -> bool:
        """Whether the open file is the one of this name; not so where another has just replaced it."""
        self._check()
        status = self.lstat(name)
        if status is not None and self.is_link(status):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        return status is not None and os.path.samestat(status, os.fstat(fd))

    def create(self, name: str, like: os.stat_result | None) -> int:
        """A new file, open for writing, with the mode of the one it is to replace."""
        self._check()
        fd = os.open(self._at(name), _CREATE, 0o644 if like is None else 0o600)
        try:
            if not self._is_opened(fd, name):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
            if like is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, stat.S_IMODE(like.st_mode) & 0o777)
        except BaseException:
            os.close(fd)
            with suppress(OSError):  # the folder may be gone; the first error says more
                self._at(name).unlink()
            raise
        return fd

    def mkdir(self, name: str) -> None:
        self._check()
        self._at(name).mkdir()

    def unlink(self, name: str) -> None:
        self._check()
        patiently(lambda: self._at(name).unlink())

    def rename(self, name: str, folder: Self, target: str) -> None:
        """Rename and replace what is at the target."""
        self._check()
        folder._check()
        patiently(lambda: self._at(name).replace(folder._at(target)))

    def rename_new(self, name: str, folder: Self, target: str) -> None:
        """Rename to a name that is free, else FileExistsError."""
        self._check()
        folder._check()
        # On Windows a plain rename refuses to replace; elsewhere a look is all that a path allows.
        if os.name != "nt" and folder.lstat(target) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        patiently(lambda: self._at(name).rename(folder._at(target)))

    def publish(self, temporary: str, name: str) -> None:
        """Give a temporary file its name if that is free, else FileExistsError."""
        if os.name == "nt":
            self.rename_new(temporary, self, name)
            return
        self._check()
        os.link(self._at(temporary), self._at(name), follow_symlinks=False)
        self._at(temporary).unlink(missing_ok=True)  # a reader that met both names may have removed this one

    def exchange(self, name: str, other: str) -> bool:
        """Two names cannot be swapped in one step by path."""
        return False

    def sync(self) -> None:
        """Windows writes a directory with the files in it; elsewhere it is opened to be synced."""
        if os.name == "nt":
            return
        fd = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def patiently(act: Callable[[], T], waits: tuple[float, ...] = _WAITS if os.name == "nt" else ()) -> T:
    """Try again while a virus scanner or a sync program holds the file, as they do on Windows."""
    for wait in waits:
        try:
            return act()
        except PermissionError:
            time.sleep(wait)
    return act()
