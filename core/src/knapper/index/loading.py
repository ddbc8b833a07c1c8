"""A note from the disk to its rows; what cannot be read costs that note its content and nothing else."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from knapper.errors import ToolError
from knapper.index.rows import TOO_LARGE, UNREADABLE, NoteRows, Reading, Stat, note_rows, without_text

if TYPE_CHECKING:
    from knapper.vault import files
    from knapper.vault.disk import Disk

log = logging.getLogger("knapper.index")


def facts(found: files.Stat) -> Stat:
    """What the index keeps of a file's facts."""
    return Stat(found.size, found.mtime_ns, found.ctime_ns, found.inode)


def read_note(disk: Disk, path: str, reading: Reading) -> NoteRows | None:
    """The rows of a note as it is now, or None where it is gone."""
    found = disk.listed(path)
    if found is None or found.kind != "file":
        return None
    try:
        if found.size > reading.max_bytes:
            version = disk.version(path)
            return version and without_text(path, version.hash, facts(version.stat), TOO_LARGE)
        file = disk.read(path)
    except ToolError as error:
        if error.code == "note_not_found":
            return None
        log.warning("a note could not be read: %s", error.code)
        return without_text(path, "", facts(found), UNREADABLE)
    return note_rows(path, file.data, facts(file.stat), reading)
