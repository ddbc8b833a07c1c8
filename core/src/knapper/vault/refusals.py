"""What the operating system's refusals mean to a caller, without a word about where the vault lies."""

from __future__ import annotations

import errno
from types import TracebackType

from knapper.errors import ToolError

_UNUSABLE = frozenset(
    {
        errno.ELOOP,
        errno.ENOTDIR,
        errno.ENAMETOOLONG,
        errno.EILSEQ,
        errno.EISDIR,
        errno.EINVAL,
        errno.ENXIO,  # a socket; macOS says that it does not support the operation
        errno.EOPNOTSUPP,
    }
)
_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_PASSING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


class Changed(Exception):
    """The file is not what the change was based on; `actual` is its hash, None where it is gone."""

    def __init__(self, path: str, actual: str | None) -> None:
        super().__init__(path)
        self.path = path
        self.actual = actual


class Busy(Changed):
    """Another program is writing the file, and goes on doing so."""


def busy(path: str) -> ToolError:
    return ToolError("concurrent_modification", f"another program is writing {path!r}", path=path)


def changed(path: str, expected: str | None, actual: str | None) -> ToolError:
    message = f"{path!r} has changed since it was read"
    return ToolError("concurrent_modification", message, path=path, expected=expected, actual=actual)


def missing(path: str) -> ToolError:
    return ToolError("note_not_found", f"there is no file at {path!r}", path=path)


def taken(path: str) -> ToolError:
    return ToolError("note_exists", f"there is already a file at {path!r}", path=path)


def unusable(path: str, reason: str) -> ToolError:
    return ToolError("path_invalid", f"{path!r} cannot be used: {reason}", path=path)


def no_room(path: str | None = None) -> ToolError:
    details = {} if path is None else {"path": path}
    return ToolError("internal", "there is no space left on the vault's disk", **details)


def passing(error: BaseException) -> bool:
    """Whether what refused says nothing against the change itself: it can be made once the disk takes writes again."""
    cause = error if isinstance(error, OSError) else error.__cause__
    return isinstance(cause, OSError) and cause.errno in _PASSING


class Translated:
    """Turns an OSError inside the block into the ToolError that says it to a caller."""

    __slots__ = ("_op", "_path")

    def __init__(self, op: str, path: str) -> None:
        self._op = op
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError) and (meaning := self._meaning(error)) is not None:
            raise meaning from error

    def _meaning(self, error: OSError) -> ToolError | None:
        if error.errno == errno.ENOENT:
            return missing(self._path)
        if error.errno == errno.EEXIST:
            return taken(self._path)
        if error.errno in _UNUSABLE:
            return unusable(self._path, "it leads through something that is not a plain folder or file")
        if error.errno in _DENIED:
            message = f"the operating system does not let the server {self._op} {self._path!r}"
            return ToolError("acl_denied", message, path=self._path, op=self._op)
        if error.errno in _FULL:
            return no_room(self._path)
        return None
