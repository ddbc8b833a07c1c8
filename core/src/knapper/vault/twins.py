"""Names that look the same: which entry of a folder a name means where its spelling differs."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from knapper.vault import paths
from knapper.vault._folder import Folder

_KEPT = 64
_SETTLED = 2.0  # seconds after which a folder's time of change tells its listings apart on any filesystem


class Twins:
    """Finds entries by composed form, and by case where the filesystem has none; remembers long listings."""

    def __init__(self) -> None:
        self._listings: dict[tuple[int, int], tuple[int, dict[str, str]]] = {}

    def folds_case(self, root: str) -> bool:
        """Whether the filesystem of a folder ignores case, seen at the folder's own name."""
        folder = Path(root)
        other = folder.with_name(folder.name.swapcase()) if folder.name else folder
        if other.name == folder.name:  # no letters to tell by
            return sys.platform in ("win32", "darwin")
        try:
            return folder.samefile(other)
        except OSError:
            return False

    def entry(self, folder: Folder, name: str, fold: bool) -> tuple[str, os.stat_result] | None:
        """The entry that a name means, with its facts; the exact spelling wins."""
        status = folder.lstat(name)
        if status is None and name.isascii() and not fold:
            return None
        # Apple's filesystems find an entry by any composition of its name, so success says nothing of spelling.
        if status is not None and not fold and (name.isascii() or sys.platform != "darwin"):
            return name, status
        spelled = self._spelled(folder, name, fold)
        if spelled is None or spelled == name:
            return None if status is None else (name, status)
        found = folder.lstat(spelled)
        return None if found is None else (spelled, found)

    def _spelled(self, folder: Folder, name: str, fold: bool) -> str | None:
        listing = self._listing(folder, fold)
        return listing.get(name) or listing.get(_key(name, fold))

    def _listing(self, folder: Folder, fold: bool) -> dict[str, str]:
        status = folder.status()
        where = (status.st_dev, status.st_ino)
        kept = self._listings.get(where)
        if kept is not None and kept[0] == status.st_mtime_ns:
            return kept[1]
        names = sorted(folder.names(), reverse=True)
        listing = {_key(name, fold): name for name in names} | {name: name for name in names}
        if time.time() - status.st_mtime > _SETTLED:
            if len(self._listings) >= _KEPT:
                self._listings.clear()
            self._listings[where] = (status.st_mtime_ns, listing)
        return listing


def _key(name: str, fold: bool) -> str:
    return paths.folded(name) if fold else paths.nfc(name)
