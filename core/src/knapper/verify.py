"""Token verifiers: what a plugin hands over, and why a token was refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from knapper.caller import Caller
from knapper.errors import KnapperError


class Rejected(KnapperError):
    """A bearer was refused. The reason is for the operator; every client reads the same text."""

    def __init__(self, reason: str, note: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.note = note


class Verifier(msgspec.Struct, frozen=True):
    """A way to check bearers; `build` gets the settings of the server and returns a function from bearer to caller."""

    name: str
    build: Callable[[Any], Callable[[str], Caller]]
