"""Plain files through an open folder: read whole, told apart by content, and replaced in one step."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256

from knapper.errors import ToolError
from knapper.vault import paths
from knapper.vault._folder import Folder
from knapper.vault.files import Stat, Version
from knapper.vault.refusals import Changed, unusable
from knapper.vault.still import Still

_BLOCK = 1 << 20
_ATTEMPTS = 5
_REPLACED = 50
_ATTACHED = ("user.", "system.posix_acl_access")


def read(folder: Folder, leaf: str, path: str) -> tuple[bytes, Stat]:
    """The whole content; read again where it changed under the read."""
    fd, status = _open(folder, leaf, path)
    try:
        for _ in range(_ATTEMPTS):
            data = b"".join(_blocks(fd, status.st_size))
            after = os.fstat(fd)
            if _same(status, after) and len(data) == after.st_size:
                break
            status = after
            os.lseek(fd, 0, os.SEEK_SET)
        return data, Stat.of(status)
    finally:
        os.close(fd)


def version(folder: Folder, leaf: str, path: str) -> Version | None:
    """The hash of a file of any size, and its facts; None where there is no file."""
    try:
        fd, status = _open(folder, leaf, path)
    except FileNotFoundError:
        return None
    try:
        running = sha256()
        for block in _blocks(fd, status.st_size):
            running.update(block)
        return Version(running.hexdigest(), Stat.of(status))
    finally:
        os.close(fd)


def _blocks(fd: int, size: int) -> Iterator[bytes]:
    """What is in a file of this size, or more of it; what ends where it should is not asked for more."""
    done = 0
    while block := os.read(fd, min(size + 1, _BLOCK)):
        yield block
        done += len(block)
        if done == size and len(block) < min(size + 1, _BLOCK):
            return


def _open(folder: Folder, leaf: str, path: str) -> tuple[int, os.stat_result]:
    """An open file and its facts, if at one moment since it was opened this name was its only one.

    To count the names of an open file is not enough: a hard link that has lost ours to another file has one name left.
    Nor is to look at the name: between finding the file and counting its names the kernel lets others in. So the names
    are counted before and after the look, and nothing may have happened to them in between.
    """
    for _ in range(_REPLACED):
        fd = folder.open(leaf)
        try:
            before, status, after = os.fstat(fd), folder.lstat(leaf), os.fstat(fd)
            if (
                status is not None
                and os.path.samestat(status, after)
                and before.st_ctime_ns == after.st_ctime_ns
            ):
                most = max(before, status, after, key=lambda one: one.st_nlink)
                if not _had_temporary(folder, most):
                    plain(most, path)
                    return fd, status
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
    raise unusable(path, "it is replaced all the time")


def _had_temporary(folder: Folder, status: os.stat_result) -> bool:
    """Whether a temporary name that a killed process left the file had to be removed."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and _drop_temporary(folder, status)


def _drop_temporary(folder: Folder, status: os.stat_result) -> bool:
    found = False
    for leaf, other in list(folder.scan()):
        if leaf.startswith(paths.TEMPORARY) and os.path.samestat(status, other):
            found = True
            with suppress(FileNotFoundError):
                folder.unlink(leaf)
    return found


def plain(status: os.stat_result, path: str) -> os.stat_result:
    """Refuse what is no regular file, and a file that has a second name somewhere else."""
    if stat.S_ISDIR(status.st_mode):
        raise unusable(path, "it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise unusable(path, "it is not a regular file")
    if status.st_nlink > 1:
        message = f"{path!r} has a second name (a hard link), so the folder rules cannot hold for it"
        raise ToolError("acl_denied", message, path=path, op="read")
    return status


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_size, one.st_mtime_ns, one.st_ino) == (other.st_size, other.st_mtime_ns, other.st_ino)


class Prepared:
    """A file's new content under a temporary name in its folder, waiting to take its place."""

    def __init__(self, folder: Folder, path: str, data: bytes) -> None:
        self._folder = folder
        self._path = path
        self._leaf = paths.name(path)
        self._temporary = f"{paths.TEMPORARY}{os.urandom(8).hex()}"
        replaced = _replaced(folder, path)
        self._fd = folder.create(self._temporary, replaced)
        self._inode = os.fstat(self._fd).st_ino
        try:
            if replaced is not None:
                _attach(self._fd, folder, self._leaf)
            self._write(data)
        except BaseException:
            self.discard()
            raise

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]

    def flush(self) -> None:
        """Make the content durable; it must be before it gets its name."""
        os.fsync(self._fd)

    def place(self, base: Version | None) -> Stat:
        """Take the file's place if it still is the base (None: if nothing is there), else raise Changed."""
        status = os.fstat(self._fd)
        os.close(self._fd)
        self._fd = -1
        if base is None:
            self._place_new()
        else:
            with Still(self._folder, self._leaf, self._path, self._temporary) as still:
                self._check(base)
                self._replace(base, still)
        placed = self._folder.lstat(self._leaf)  # the rename has changed its status
        return Stat.of(placed if placed is not None and placed.st_ino == status.st_ino else status)

    def _place_new(self) -> None:
        try:
            self._folder.publish(self._temporary, self._leaf)
        except FileExistsError:
            raise Changed(self._path, self._actual(self._leaf)) from None

    def _check(self, base: Version) -> None:
        status = self._folder.lstat(self._leaf)
        if status is None:
            raise Changed(self._path, None)
        if (status.st_ino, status.st_size, status.st_mtime_ns) != (
            base.stat.inode,
            base.stat.size,
            base.stat.mtime_ns,
        ):
            self._compare(self._leaf, base)

    def _replace(self, base: Version, still: Still) -> None:
        """Swap the two files, then look at the one that was there: a change up to this very moment is seen."""
        if not self._folder.exchange(self._temporary, self._leaf):
            self._compare(self._leaf, base, still)
            self._folder.rename(self._temporary, self._folder, self._leaf)
            return
        try:
            self._compare(self._temporary, base, still)
        except BaseException:
            self._put_back()
            raise
        self._folder.unlink(self._temporary)

    def _put_back(self) -> None:
        try:
            self._folder.exchange(self._temporary, self._leaf)
            left = self._folder.lstat(self._temporary)
            if (
                left is not None and left.st_ino != self._inode
            ):  # theirs again, saved over ours: the later one counts
                self._folder.exchange(self._temporary, self._leaf)
        except FileNotFoundError:  # and now ours is gone from there, so theirs has room
            self._folder.publish(self._temporary, self._leaf)

    def _compare(self, leaf: str, base: Version, still: Still | None = None) -> None:
        actual = self._actual(leaf)
        if actual != base.hash or (still is not None and not still.is_left(leaf)):
            raise Changed(self._path, actual)

    def _actual(self, leaf: str) -> str | None:
        found = version(self._folder, leaf, self._path)
        return found and found.hash

    def discard(self) -> None:
        """Remove the temporary file, if it is still there and still ours."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        with suppress(OSError):  # the folder is gone, and the file with it
            left = self._folder.lstat(self._temporary)
            if left is not None and left.st_ino == self._inode:
                self._folder.unlink(self._temporary)


def _replaced(folder: Folder, path: str) -> os.stat_result | None:
    """The file that the new one is to replace and to look like."""
    status = folder.lstat(paths.name(path))
    if status is None or folder.is_link(status):
        return None
    check_flag(status, path)
    return status


def _attach(fd: int, folder: Folder, leaf: str) -> None:
    """Give the new file what other programs have attached to the old one: tags and the like, and who else may use it."""
    if sys.platform == "linux":  # elsewhere Python cannot
        with suppress(OSError):  # gone, or a file system that has no such thing
            old = folder.open(leaf)
            try:
                for name in os.listxattr(old):
                    if name.startswith(_ATTACHED):
                        os.setxattr(fd, name, os.getxattr(old, name))
            finally:
                os.close(old)


def check_flag(status: os.stat_result, path: str) -> None:
    """A replacing rename asks nobody whether the file may be written, so ask here."""
    if not status.st_mode & stat.S_IWUSR:
        raise ToolError("acl_denied", f"{path!r} is marked read-only on disk", path=path, op="write")
