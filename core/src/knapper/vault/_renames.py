"""The renames that POSIX lacks: one that never replaces, and one that swaps two names at once."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache

_Call = Callable[[int, bytes, int, bytes, int], int]
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})

if sys.platform == "darwin":
    _SYMBOL, _EXCHANGE, _EXCLUSIVE = "renameatx_np", 2, 4
else:
    _SYMBOL, _EXCLUSIVE, _EXCHANGE = "renameat2", 1, 2


def exclusive(source_fd: int, source: str, target_fd: int, target: str) -> bool:
    """Rename unless the target exists (FileExistsError); False where the system cannot do it."""
    return _rename(source_fd, source, target_fd, target, _EXCLUSIVE)


def exchange(source_fd: int, source: str, target_fd: int, target: str) -> bool:
    """Swap two existing names in one step; False where the system cannot do it."""
    return _rename(source_fd, source, target_fd, target, _EXCHANGE)


def _rename(source_fd: int, source: str, target_fd: int, target: str, flags: int) -> bool:
    call = _system_call()
    if call is None:
        return False
    sys.audit("os.rename", source, target, source_fd, target_fd)  # as Python's own renames do
    if call(source_fd, os.fsencode(source), target_fd, os.fsencode(target), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), target)


@cache
def _system_call() -> _Call | None:
    try:
        function = getattr(ctypes.CDLL(None, use_errno=True), _SYMBOL)
    except (OSError, AttributeError):  # no such symbol in this C library
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    call: _Call = function
    return call
