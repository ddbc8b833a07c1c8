"""Child processes that do long work: they give way to the server, which answers its callers meanwhile."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import Any

NICER = 10  # a tenth of the processor where the server wants all of it, and all of it where it wants none
LOWEST = 19


def spawn(command: list[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a child with a lower priority than this process has."""
    flags = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
    child = subprocess.Popen(command, creationflags=flags, **how)
    if hasattr(os, "setpriority"):
        with suppress(OSError):  # it has ended already
            mine = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, child.pid, min(mine + NICER, LOWEST))
    return child
