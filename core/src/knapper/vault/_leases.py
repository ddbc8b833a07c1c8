"""Leases, by which a kernel tells who serves a file that another program is writing it: Linux has them.

While one is held on a file, whoever opens it for writing waits, and the holder is told. Network file systems refuse
leases or grant them as they please, so what is said of one file counts only where a lease is granted on another.
"""

from __future__ import annotations

import errno
import sys
from typing import Literal

Answer = Literal["held", "written", "unknown"]

if sys.platform == "linux":
    import fcntl
    import signal

    def take(fd: int) -> Answer:
        """Hold a lease on a file open for reading, until it is closed, unless somebody has it open for writing."""
        try:
            # The signal that says that somebody waits is SIGIO if nobody chooses, which ends the process.
            fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as error:
            return "written" if error.errno == errno.EAGAIN else "unknown"
        return "held"

    def awaited(fd: int) -> bool:
        """Whether somebody waits to write the file since the lease is held."""
        return fcntl.fcntl(fd, fcntl.F_GETLEASE) != fcntl.F_RDLCK
else:

    def take(fd: int) -> Answer:
        return "unknown"

    def awaited(fd: int) -> bool:
        return False
