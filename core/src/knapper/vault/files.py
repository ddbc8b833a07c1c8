"""What the door to files hands out: contents, their versions, and accounts of what was changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple

from knapper.errors import ToolError

BOM = b"\xef\xbb\xbf"

Kind = Literal["file", "folder"]


class Stat(NamedTuple):
    """A file's or folder's facts; `ctime_ns` is its birth where the system tells it, else its last change of status."""

    kind: Kind
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stat:
        kind: Kind = "folder" if stat.S_ISDIR(status.st_mode) else "file"
        return cls(kind, status.st_size, status.st_mtime_ns, _birth(status), status.st_ino)


def _birth(status: os.stat_result) -> int:
    birth = getattr(status, "st_birthtime", None)
    return status.st_ctime_ns if birth is None else int(birth * 1_000_000_000)


class Version(NamedTuple):
    """Which content a file has: what a change is based on."""

    hash: str
    stat: Stat


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


@dataclass(frozen=True)
class File:
    """A file as it was read: its bytes, and the text and hash they make."""

    path: str
    data: bytes
    stat: Stat

    @cached_property
    def text(self) -> str:
        """The content as UTF-8, without a byte order mark; invalid_input where it is something else."""
        try:
            return self.data.removeprefix(BOM).decode()
        except UnicodeDecodeError:
            raise ToolError("invalid_input", f"{self.path!r} is not UTF-8 text", path=self.path) from None

    @cached_property
    def hash(self) -> str:
        return digest(self.data)

    @property
    def version(self) -> Version:
        return Version(self.hash, self.stat)


class Entry(NamedTuple):
    """One file or folder of a walk."""

    path: str
    kind: Kind
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Written(NamedTuple):
    """A write that has happened; an unchanged file has `hash == prev_hash`."""

    path: str
    hash: str
    prev_hash: str | None
    created: bool
    at: str


class Moved(NamedTuple):
    """A file that has moved, under its new path."""

    source: str
    path: str
    hash: str
    at: str


class Deleted(NamedTuple):
    """A file that is gone from the vault, and where it can be found if it was not unlinked."""

    path: str
    trash_path: str | None
    at: str


@dataclass(frozen=True)
class Before:
    """A path about to change, with what is there now; nothing is there where `hash` is None."""

    op: Literal["write", "move", "delete"]
    path: str
    hash: str | None
    load: Callable[[], bytes | None] = field(repr=False)
    target: str | None = None

    @cached_property
    def data(self) -> bytes | None:
        """The present content, read when it is asked for."""
        return self.load()


@dataclass(frozen=True)
class Change:
    """A path's state after a change: gone where `stat` is None; `data` is None where it was not at hand.

    Each change stands for itself, so those of one transaction can be applied in any order, swaps included.
    """

    path: str
    stat: Stat | None
    hash: str | None = None
    data: bytes | None = field(default=None, repr=False)
    moved_from: str | None = None


@dataclass(frozen=True)
class Conflict:
    """A path that another program changed first: theirs stays, ours is beside it under another name."""

    path: str
    kept_as: str | None
