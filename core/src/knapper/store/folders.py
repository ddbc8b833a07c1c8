"""Which folder a vault's id stands for: two vaults of one id must not share index and history."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knapper.config.paths import inside
from knapper.errors import ConfigError
from knapper.store.transactions import immediate

if TYPE_CHECKING:
    import sqlite3

    from knapper.store.state import State

REMEDY = "give one of them another id, or its configuration a cache_dir of its own"
KNOWN = "SELECT vault_id, folder FROM vault_folders"
BIND = "INSERT INTO vault_folders VALUES (?, ?) ON CONFLICT (vault_id) DO UPDATE SET folder = excluded.folder"


def bind(connection: sqlite3.Connection, vaults: Mapping[str, Path]) -> None:
    """Remember the folder of each vault; ConfigError where an id stands for another folder that still exists.

    A folder that is gone was moved: its id goes over to the new one, with all that is kept.
    """
    real = {id: folder.resolve() for id, folder in vaults.items() if folder.is_dir()}
    if not _unbound(connection.execute, real):
        return
    with immediate(connection.execute):
        # Another process may have been faster since the check.
        for id in _unbound(connection.execute, real):
            connection.execute(BIND, (id, os.fsencode(real[id])))


def _unbound(execute: Callable[[str], Any], real: Mapping[str, Path]) -> list[str]:
    if issues := clashes(execute, real):
        raise ConfigError(*[f"{issue}; {REMEDY}" for issue in issues])
    known = _known(execute)
    return [id for id, folder in real.items() if known.get(id) != folder]


def clashes(execute: Callable[[str], Any], vaults: Mapping[str, Path]) -> list[str]:
    """A sentence for each id that is known to stand for another folder, which is still there."""
    known = _known(execute)
    return [
        f"vaults: the id {id!r} stands for {known[id]}, so it cannot stand for {folder} as well"
        for id, folder in vaults.items()
        if id in known and known[id].is_dir() and folder.is_dir() and not known[id].samefile(folder)
    ]


def served(state: State) -> set[str]:
    """The ids of all vaults that this state was ever opened for."""
    with state.read() as conn:
        return set(_known(conn.exec_driver_sql))


def around(execute: Callable[[str], Any], place: Path) -> Path | None:
    """The vault that a place lies in: one that was served, or a folder that Obsidian has opened."""
    for folder in _known(execute).values():
        if inside(place, folder):
            return folder
    real = place.resolve()
    return next((above for above in (real, *real.parents) if (above / ".obsidian").is_dir()), None)


def _known(execute: Callable[[str], Any]) -> dict[str, Path]:
    return {id: Path(os.fsdecode(folder)) for id, folder in execute(KNOWN)}
