"""Files below one root: located by their real names, opened without following links, changed in one step."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path

from knapper.errors import ToolError
from knapper.vault import _portable, _posix, opened, paths
from knapper.vault._folder import Folder
from knapper.vault.away import away
from knapper.vault.exclude import Excluded
from knapper.vault.files import Entry, File, Stat, Version, digest
from knapper.vault.locks import PathLocks
from knapper.vault.opened import Prepared
from knapper.vault.refusals import Changed, Translated, missing, no_room, unusable
from knapper.vault.twins import Twins

Guard = Callable[[], AbstractContextManager[object]]

_HOPS = 40
_STALE = 3600.0


class Disk:
    """The files of one vault, without rules: whoever holds this sees and changes everything below the root.

    Paths given to it are canonical; those it opens should come from `locate`. One object serves a process, so
    that its locks hold between threads.
    """

    def __init__(
        self, root: Path | str, *, portable: bool = not _posix.AVAILABLE, exclude: Iterable[str] = ()
    ) -> None:
        self.root = os.path.realpath(root)
        self.excluded = Excluded(exclude)
        self.locks = PathLocks()
        self._open_root: Callable[[str], Folder] = _portable.Folder.root if portable else _posix.Folder.root
        self._twins = Twins()

    @cached_property
    def folds_case(self) -> bool:
        """Whether `A.md` and `a.md` are one file here."""
        return self._twins.folds_case(self.root)

    def folder(self, path: str, *, make: bool = False) -> Folder:
        """Open a folder, one component after the other."""
        try:
            folder = self._open_root(self.root)
        except OSError as error:
            raise ToolError("vault_not_found", "the vault's folder is not there") from error
        for part in path.split("/") if path else ():
            with folder as above:
                folder = _made(above, part) if make else above.child(part)
        return folder

    def locate(self, path: str) -> str:
        """The real path of what a canonical path names: links resolved, spelled as it is on disk.

        What does not exist keeps the spelling it was given. A way out of the vault is path_invalid.
        """
        if self.is_exact(path) and self._lstat(path) is not None:
            return path
        for _ in range(_HOPS):
            found, linked = self._walk_down(path)
            if linked is None:
                return found
            path = self._follow(linked, found.removeprefix(linked))
        raise unusable(path, "its links do not end")

    def is_exact(self, path: str) -> bool:
        """Whether a path that can be opened without following a link is spelled here as on disk."""
        return not self.folds_case and (path.isascii() or sys.platform != "darwin")

    def _walk_down(self, path: str) -> tuple[str, str | None]:
        """The path in the spelling of the disk, and its first part that is a link."""
        done: list[str] = []
        rest = path.split("/") if path else []
        with Translated("read", path):
            folder = self.folder("")
            while True:
                with folder as above:
                    entry = self._twins.entry(above, rest[0], self.folds_case) if rest else None
                    if entry is None:
                        break
                    leaf, status = entry
                    done.append(leaf)
                    del rest[0]
                    if above.is_link(status):
                        return "/".join(done + rest), "/".join(done)
                    if not stat.S_ISDIR(status.st_mode):
                        break
                    folder = above.child(leaf) if rest else above
                if not rest:
                    break
        return "/".join(done + rest), None

    def _follow(self, link: str, tail: str) -> str:
        with Translated("read", link):  # the link may have gone since it was seen
            real = Path(os.path.realpath(Path(self.root, link)))
        if not real.is_relative_to(self.root):
            raise unusable(link, "it is a link that leads out of the vault")
        return paths.canonical(real.relative_to(self.root).as_posix() + tail)

    def stat(self, path: str) -> Stat | None:
        """The facts of a file or folder, None where there is neither."""
        if not path:
            with self.folder("") as root:
                return Stat.of(root.status())
        status = self._lstat(path)
        return None if status is None else Stat.of(status)

    def _lstat(self, path: str) -> os.stat_result | None:
        try:
            with self.folder(paths.parent(path)) as folder:
                status = folder.lstat(paths.name(path))
                return None if status is None or folder.is_link(status) else status
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            with Translated("read", path):
                raise

    def taken(self, path: str) -> bool:
        """Whether a name is in use, be it by something that cannot be opened."""
        try:
            with Translated("read", path), self.folder(paths.parent(path)) as folder:
                return folder.lstat(paths.name(path)) is not None
        except ToolError as error:
            if error.code == "note_not_found":
                return False
            raise

    def read(self, path: str) -> File:
        """The whole file, or note_not_found."""
        with Translated("read", path), self.folder(paths.parent(path)) as folder:
            return File(path, *opened.read(folder, paths.name(path), path))

    def version(self, path: str) -> Version | None:
        """What content a file has, without holding it in memory; None where there is no file."""
        try:
            with Translated("read", path), self.folder(paths.parent(path)) as folder:
                return opened.version(folder, paths.name(path), path)
        except ToolError as error:
            if error.code == "note_not_found":
                return None
            raise

    def put(
        self,
        path: str,
        data: bytes,
        base: Version | None,
        *,
        make_folders: bool = True,
        guard: Guard = nullcontext,
    ) -> Stat:
        """Durably replace the base with new content, or create the file where the base is None; else raise Changed.

        The guard is entered for the moment in which the file takes its place.
        """
        with Translated("write", path), self.folder(paths.parent(path), make=make_folders) as folder:
            prepared = Prepared(folder, path, data)
            try:
                prepared.flush()
                with guard():
                    status = prepared.place(base)
                folder.sync()
            except BaseException:
                prepared.discard()
                raise
        return status

    def move(
        self,
        source: str,
        target: str,
        replaced: Version | None,
        *,
        guard: Guard = nullcontext,
        sync: bool = True,
    ) -> None:
        """Rename a file, onto a free name or onto the content it may replace; else raise Changed."""
        with (
            Translated("move", source),
            self.folder(paths.parent(source)) as above,
            self.folder(paths.parent(target), make=True) as below,
            guard(),
        ):
            status = above.lstat(paths.name(source))
            if status is None or above.is_link(status):
                raise missing(source)
            opened.plain(status, source)
            _rename(above, source, below, target, replaced)
            if sync:
                below.sync()
                above.sync()

    def respell(self, source: str, target: str) -> None:
        """Rename within a folder to another spelling of the same name."""
        with Translated("move", source), self.folder(paths.parent(source)) as folder:
            folder.rename(paths.name(source), folder, paths.name(target))
            folder.sync()

    def remove(self, path: str, base: Version, *, guard: Guard = nullcontext) -> None:
        """Unlink a file that still has the content it is deleted for, else raise Changed."""
        with Translated("delete", path), self.folder(paths.parent(path)) as folder, guard():
            with away(folder, path, base):
                pass
            folder.sync()

    def sync(self, folders: Iterable[str]) -> None:
        """Make what happened in these folders durable; one that is gone has nothing left to lose."""
        for path in sorted(set(folders)):
            if self.stat(path) is not None:
                with Translated("write", path), self.folder(path) as folder:
                    folder.sync()

    def check_place(self, path: str) -> None:
        """Raise where a file could not be written or replaced here, before anything has happened."""
        self._check_ancestors(path)
        status = self._lstat(path)
        if status is not None:
            opened.plain(status, path)
            opened.check_flag(status, path)

    def check_room(self, needed: int) -> None:
        """Raise where so many bytes more would fill the disk; one that does not say how large it is takes them."""
        usage = shutil.disk_usage(self.root)
        if usage.total and usage.free < needed:
            raise no_room()

    def _check_ancestors(self, path: str) -> None:
        """The deepest folder that exists must let a name be added."""
        rest = path.split("/")[:-1]
        with Translated("write", path):
            folder = self.folder("")
            while True:
                with folder as above:
                    if not rest or above.lstat(rest[0]) is None:
                        if not above.writable():
                            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                        return
                    folder = above.child(rest.pop(0))

    def walk(self, path: str = "") -> Iterator[Entry]:
        """Everything below a folder that can be a note or attachment, in the order of the paths.

        Links are not followed: what they lead to is met under its real name. No folder is held open in between.
        """
        for leaf, status in sorted(self._children(path), key=_path_order):
            entry = Entry(paths.join(path, leaf), *Stat.of(status))
            if len(entry.path) > paths.LONGEST:  # nobody could name it
                continue
            if self.excluded and self.excluded.matches(entry.path, folder=entry.kind == "folder"):
                continue
            yield entry
            if entry.kind == "folder":
                yield from self.walk(entry.path)

    def listed(self, path: str) -> Stat | None:
        """The facts of a file or folder that a walk would come upon, None where it would not.

        For telling what changed, not for opening it: what is above may be swapped for a link a moment later.
        """
        *above, leaf = path.split("/")
        try:
            status = os.lstat(f"{self.root}/{path}")
            if self._below_link(above):
                return None
        except (OSError, ValueError):
            return None
        if (
            len(path) > paths.LONGEST
            or not _listed(leaf, status)
            or any(not _plain_name(part) for part in above)
        ):
            return None
        found = Stat.of(status)
        return None if self.excluded.covers(path, folder=found.kind == "folder") else found

    def _below_link(self, above: Sequence[str]) -> bool:
        folder = self.root
        for part in above:
            folder = f"{folder}/{part}"
            if _portable.Folder.is_link(os.lstat(folder)):
                return True
        return False

    def _children(self, path: str) -> list[tuple[str, os.stat_result]]:
        try:
            with self.folder(path) as folder:
                return [(leaf, status) for leaf, status in folder.scan() if _listed(leaf, status)]
        except OSError as error:
            # Gone, swapped for a link or closed to us since its parent was read: nothing to list.
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM):
                return []
            raise

    def sweep(self, older_than: float = _STALE) -> int:
        """Remove temporary files that a killed process left behind, and say how many."""
        limit = time.time() - older_than
        folders = ["", *(entry.path for entry in self.walk() if entry.kind == "folder")]
        return sum(self._sweep(path, limit) for path in folders)

    def _sweep(self, path: str, limit: float) -> int:
        with Translated("delete", path), self.folder(path) as folder:
            left = [
                leaf
                for leaf, status in folder.scan()
                if leaf.startswith(paths.TEMPORARY)
                and (status.st_nlink > 1 or max(status.st_mtime, status.st_ctime) < limit)
            ]
            for leaf in left:
                folder.unlink(leaf)
            return len(left)


def _made(above: Folder, part: str) -> Folder:
    try:
        return above.child(part)
    except FileNotFoundError:
        pass
    try:
        above.mkdir(part)
    except FileExistsError:  # another thread was first
        return above.child(part)
    above.sync()
    return above.child(part)


def _rename(above: Folder, source: str, below: Folder, target: str, replaced: Version | None) -> None:
    try:
        if replaced is None:
            above.rename_new(paths.name(source), below, paths.name(target))
        else:
            with away(below, target, replaced):
                above.rename_new(paths.name(source), below, paths.name(target))
    except FileExistsError:
        found = opened.version(below, paths.name(target), target)
        raise Changed(target, found and found.hash) from None
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _carry(above, source, below, target, replaced)


def _carry(above: Folder, source: str, below: Folder, target: str, replaced: Version | None) -> None:
    """Between two filesystems mounted in one vault: the copy is durable before the original goes."""
    data, status = opened.read(above, paths.name(source), source)
    prepared = Prepared(below, target, data)
    try:
        prepared.flush()
        prepared.place(replaced)
    except BaseException:
        prepared.discard()
        raise
    below.sync()
    with away(above, source, Version(digest(data), status)):
        pass


def _plain_name(leaf: str) -> bool:
    return not leaf.startswith(".") and paths.usable(leaf)


def _listed(leaf: str, status: os.stat_result) -> bool:
    if not _plain_name(leaf):
        return False
    if stat.S_ISDIR(status.st_mode):
        return True
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and not paths.unfinished(leaf)


def _path_order(child: tuple[str, os.stat_result]) -> str:
    leaf, status = child
    return f"{leaf}/" if stat.S_ISDIR(status.st_mode) else leaf
