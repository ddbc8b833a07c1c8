"""Open folders on POSIX: every step starts at a directory's descriptor and follows no link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

AVAILABLE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")

_LISTED = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
# On Linux an open folder is a place to start from and no more: to open it for reading would tell every program that
# watches the vault, our own included, and that costs more than the read of a note.
_FOLDER = _LISTED | getattr(os, "O_PATH", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Without O_NONBLOCK a named pipe that poses as a note would hang the call.
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)


class Folder:
    """An open directory; the names it takes are single components, never paths."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def root(cls, path: str) -> Self:
        return cls(os.open(path, _FOLDER))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._fd)

    def child(self, name: str) -> Self:
        """The real folder of this name; a link is refused by the kernel."""
        return type(self)(os.open(name, _FOLDER | _NOFOLLOW, dir_fd=self._fd))

    def status(self) -> os.stat_result:
        return os.fstat(self._fd)

    def lstat(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @staticmethod
    def is_link(status: os.stat_result) -> bool:
        return stat.S_ISLNK(status.st_mode)

    def writable(self) -> bool:
        return os.access(".", os.W_OK | os.X_OK, dir_fd=self._fd)

    @contextmanager
    def _listed(self) -> Iterator[int]:
        fd = os.open(".", _LISTED, dir_fd=self._fd)
        try:
            yield fd
        finally:
            os.close(fd)

    def names(self) -> list[str]:
        with self._listed() as fd:
            return os.listdir(fd)  # noqa: PTH208 (a descriptor, which pathlib does not take)

    def scan(self) -> Iterator[tuple[str, os.stat_result]]:
        with self._listed() as fd, os.scandir(fd) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # deleted since it was listed
                    yield entry.name, entry.stat(follow_symlinks=False)

    def open(self, name: str) -> int:
        return os.open(name, _READ, dir_fd=self._fd)

    def create(self, name: str, like: os.stat_result | None) -> int:
        """A new file, open for writing, with the mode, owner and birth of the one it is to replace."""
        fd = os.open(name, _CREATE, 0o644 if like is None else 0o600, dir_fd=self._fd)
        if like is not None:
            _imitate(fd, like)
        return fd

    def mkdir(self, name: str) -> None:
        os.mkdir(name, dir_fd=self._fd)

    def unlink(self, name: str) -> None:
        os.unlink(name, dir_fd=self._fd)

    def rename(self, name: str, folder: Self, target: str) -> None:
        """Rename and replace what is at the target."""
        os.rename(name, target, src_dir_fd=self._fd, dst_dir_fd=folder._fd)

    def rename_new(self, name: str, folder: Self, target: str) -> None:
        """Rename to a name that is free, else FileExistsError."""
        from knapper.vault import _renames

        if _renames.exclusive(self._fd, name, folder._fd, target):
            return
        if folder.lstat(target) is not None:  # network filesystems offer no more than a look
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
        self.rename(name, folder, target)

    def publish(self, temporary: str, name: str) -> None:
        """Give a temporary file its name if that is free, else FileExistsError."""
        from knapper.vault import _renames

        if not _renames.exclusive(self._fd, temporary, self._fd, name):
            os.link(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)
            with suppress(FileNotFoundError):  # a reader that met both names has removed this one
                self.unlink(temporary)

    def exchange(self, name: str, other: str) -> bool:
        """Swap two names of this folder in one step; False where the filesystem cannot."""
        from knapper.vault import _renames

        return _renames.exchange(self._fd, name, self._fd, other)

    def sync(self) -> None:
        with self._listed() as fd:
            try:
                os.fsync(fd)
            except OSError as error:
                if error.errno != errno.EINVAL:  # some network filesystems cannot sync a directory
                    raise


def _imitate(fd: int, like: os.stat_result) -> None:
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):  # only root may give a file away
            os.fchown(fd, like.st_uid, like.st_gid)
    os.fchmod(fd, stat.S_IMODE(like.st_mode) & 0o777)
    birth = getattr(like, "st_birthtime", None)
    if birth is not None:  # macOS moves a file's birth back to an earlier modification
        os.utime(fd, (birth, birth))
