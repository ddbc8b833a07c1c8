"""What is known of a host, kept on disk so that the next start can show it before the host answers."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from knapper.server import digest
from knapper_bridge_stdio.options import Options, note


class Known(msgspec.Struct):
    """A host's tools as it lists them, and what it said of itself."""

    tools: list[msgspec.Raw] = []
    hash: str = digest.tools_hash([])
    capabilities: dict[str, Any] = {}
    instructions: str = ""


def known(tools: list[msgspec.Raw], capabilities: dict[str, Any], instructions: str) -> Known:
    """What a host listed, under the hash that both of its protocols agree on."""
    entries = [entry for tool in tools if isinstance(entry := msgspec.json.decode(tool), dict)]
    return Known(tools, digest.tools_hash(entries), capabilities, instructions)


class Shelf:
    """The file of one host as one key sees it."""

    def __init__(self, options: Options) -> None:
        self._options = options

    @property
    def file(self) -> Path:
        from knapper.config.paths import located

        whose = sha256(f"{self._options.url}\n{self._options.api_key}".encode()).hexdigest()[:16]
        return located(self._options) / "stdio" / f"{whose}.json"

    def read(self) -> Known | None:
        """What was known when a proxy of this host last looked; None where nothing usable is kept."""
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=Known)
        except (OSError, ValueError, msgspec.MsgspecError, RecursionError):
            return None

    def keep(self, found: Known) -> None:
        """Keep it for the next start, whole or not at all; a disk that is full costs only that."""
        file = self.file
        part = file.with_suffix(f".{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.write(msgspec.json.encode(found))
            part.replace(file)
        except OSError as error:
            note(f"the host's tools could not be kept: {error.strerror}")
