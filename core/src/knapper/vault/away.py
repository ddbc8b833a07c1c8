"""Taking a file's name away: only from the content it is meant for, never from what another program saves just then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from knapper.vault import paths
from knapper.vault._folder import Folder
from knapper.vault.files import Version
from knapper.vault.opened import version
from knapper.vault.refusals import Changed
from knapper.vault.still import Still


@contextmanager
def away(folder: Folder, path: str, base: Version) -> Iterator[None]:
    """Inside, the file's name is free; afterwards the file is gone. Raise Changed where it is not the base.

    Nobody can look at a file and remove it in one step. So it first gets a name that no other program writes to, and is
    looked at again under that: what turns out to be somebody's save has its own name back.
    """
    leaf, aside = paths.name(path), f"{paths.TEMPORARY}{os.urandom(8).hex()}"
    with Still(folder, leaf, path) as still:
        _check(folder, leaf, path, base)
        folder.rename_new(leaf, folder, aside)
        try:
            _check(folder, aside, path, base)
            if not still.is_left(aside):
                raise Changed(path, base.hash)
            yield
        except BaseException:
            _give_back(folder, aside, leaf)
            raise
        folder.unlink(aside)


def _give_back(folder: Folder, aside: str, leaf: str) -> None:
    try:
        folder.rename_new(aside, folder, leaf)
    except FileExistsError:  # saved once more since: the later one counts
        folder.unlink(aside)


def _check(folder: Folder, leaf: str, path: str, base: Version) -> None:
    found = version(folder, leaf, path)
    if found is None or found.hash != base.hash:
        raise Changed(path, found and found.hash)
