"""Scripts as files: found without following a link, read once, and never executed here."""

from __future__ import annotations

import re
from typing import NamedTuple

from knapper import ToolError
from knapper.vault.disk import Disk
from knapper.vault.files import Entry

MOST_BYTES = 1_000_000
# A file is only executed once it is trusted, so whether it has a tool is seen in its text.
TOOL = re.compile(rb"^def[ \t]+tool[ \t]*\(", re.MULTILINE)


class Source(NamedTuple):
    """The bytes of a script, and their hash; what is executed is these bytes and nothing read later."""

    path: str
    data: bytes
    hash: str

    @property
    def has_tool(self) -> bool:
        return TOOL.search(self.data) is not None


def found(disk: Disk, folder: str) -> list[Entry]:
    """Every Python file below a vault's folder of scripts, by path."""
    there = disk.stat(folder)
    if there is None or there.kind != "folder":
        return []
    return [entry for entry in disk.walk(folder) if entry.kind == "file" and entry.path.endswith(".py")]


def read(disk: Disk, path: str) -> Source:
    """A script's bytes; an error where it is a link, has a second name, or is too large to be one."""
    there = disk.stat(path)
    if there is not None and there.size > MOST_BYTES:
        raise ToolError("path_invalid", f"{path!r} is larger than {MOST_BYTES} bytes", path=path)
    file = disk.read(path)
    return Source(path, file.data, file.hash)


def tool_name(path: str, folder: str) -> str:
    """The name of the tool that a script is: its path below the folder, in underscores."""
    inside = path.removeprefix(f"{folder}/").removesuffix(".py")
    return inside.replace("/", "_").replace("-", "_")
