"""The scripts domain itself: its settings and where trust is kept. Its tools are the vaults' own."""

from __future__ import annotations

import logging

from pydantic import Field, field_validator

from knapper import Domain, Migration, Section, ToolError
from knapper.vault import paths

log = logging.getLogger("knapper.scripts")
FOLDER = "mcp-tools"
TABLES = [
    Migration(
        "20260101_001",
        "CREATE TABLE scripts_trusted (vault_id TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,"
        " trusted_at REAL NOT NULL, PRIMARY KEY (vault_id, path))",
    )
]


class ScriptSettings(Section):
    """Whether Python files of the vaults become tools, and where they are."""

    enabled: bool = Field(
        default=False, description="Load scripts that `knapper scripts trust` has been told of."
    )
    folder: str = Field(default=FOLDER, description="Where scripts are, from a vault's root.")
    folders: dict[str, str] = Field(default={}, description="The same for single vaults, by their ids.")

    @field_validator("folder")
    @classmethod
    def _folder(cls, given: str) -> str:
        return _usable("folder", given)

    @field_validator("folders")
    @classmethod
    def _folders(cls, given: dict[str, str]) -> dict[str, str]:
        return {vault: _usable(f"folders.{vault}", folder) for vault, folder in given.items()}

    def of(self, vault: str) -> str:
        """The folder of a vault."""
        return self.folders.get(vault, self.folder)


def _usable(key: str, given: str) -> str:
    """A folder inside the vault that people see; the default, with a warning, for every other."""
    try:
        folder = paths.canonical(given)
    except ToolError:
        folder = ""
    if folder and not paths.hidden(folder):
        return folder
    log.warning("scripts.%s: %r is no folder that people see inside a vault; %r is used", key, given, FOLDER)
    return FOLDER


scripts = Domain(
    "scripts",
    summary="Python files of the vault as tools, once they are trusted.",
    settings=ScriptSettings,
    tables=TABLES,
)
