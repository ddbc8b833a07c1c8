"""Which vault a name means: an id, a name of our configuration, or the name that Obsidian itself shows.

Obsidian's own list of vaults only adds names. A vault that is in it and that this server does not serve stays closed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_config_dir

from knapper import Caller, ToolError
from knapper.errors import define
from knapper.server.view import ServerView
from knapper.vaults import Vault

AMBIGUOUS = define(
    "vault_ambiguous",
    "The name fits several vaults.",
    recovery="Use one of the ids in details.candidates.",
)


def find_vault(server: ServerView, caller: Caller, named: str | None) -> str | None:
    """The id of the served vault that a name means; an id comes first, for no two vaults share one."""
    if named is None or any(vault.id == named for vault in server.vaults):
        return named
    visible = server.visible_vaults(caller)
    found = [vault.id for vault in visible if named in names(vault)]
    if len(found) > 1:
        message = f"{named!r} is the name of {len(found)} vaults; use an id"
        raise ToolError(AMBIGUOUS, message, vault=named, candidates=found)
    if not found:
        message = f"this server has no vault {named!r}"
        raise ToolError("vault_not_found", message, vault=named, vaults=[vault.id for vault in visible])
    return found[0]


def names(vault: Vault) -> set[str]:
    """All names of a vault but for its id."""
    return {vault.name, vault.folder_name, *_shown(vault.disk.root)}


def shown_name(vault: Vault) -> str:
    """The name under which Obsidian's links mean a vault: the last part of the path it was opened by."""
    return next(_shown(vault.disk.root), vault.folder_name)


def _shown(root: str) -> Iterator[str]:
    for path in _registered():
        if os.path.realpath(path) == root:
            yield Path(path).name


def _registered() -> list[str]:
    """The folders of the vaults that Obsidian knows on this machine."""
    file = Path(user_config_dir("obsidian", appauthor=False, roaming=True), "obsidian.json")
    try:
        listed = json.loads(file.read_bytes())["vaults"].values()
        return [one["path"] for one in listed if isinstance(one["path"], str)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
