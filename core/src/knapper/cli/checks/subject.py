"""What is examined: the configuration, the plugins and the files, as far as each can be had."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from knapper.cli._source import configured, found_plugins
from knapper.config.load import Loaded
from knapper.config.model import Settings, VaultSettings
from knapper.config.paths import data_dir, expanded, located
from knapper.errors import ConfigError, PluginError
from knapper.plugins import Plugins
from knapper.registry import Registry


@dataclass
class Subject:
    """Everything a check may ask for; what cannot be had is None, and the check for it says why."""

    path: str | None = None
    fix: bool = False
    probe: bool = False
    token: str | None = None
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @cached_property
    def _read(self) -> tuple[Loaded | None, list[str]]:
        try:
            return configured(self.path), []
        except ConfigError as error:
            return None, error.issues

    @property
    def loaded(self) -> Loaded | None:
        return self._read[0]

    @property
    def config_issues(self) -> list[str]:
        return self._read[1]

    @property
    def settings(self) -> Settings | None:
        return self.loaded.settings if self.loaded else None

    @property
    def vaults(self) -> list[VaultSettings]:
        return self.settings.vaults if self.settings else []

    @property
    def folder(self) -> Path:
        """Where the server keeps its own files; it may not exist yet."""
        return located(self.settings) if self.settings else data_dir()

    @cached_property
    def plugins(self) -> Plugins:
        return found_plugins(self.settings, strict=False)

    @cached_property
    def _registered(self) -> tuple[Registry | None, str]:
        try:
            return Registry(self.plugins), ""
        except PluginError as error:
            return None, str(error)

    @property
    def registry(self) -> Registry | None:
        """What the plugins handed over, or None where two of them cannot be used together."""
        return self._registered[0]

    @property
    def clash(self) -> str:
        return self._registered[1]


def folder_of(vault: VaultSettings) -> Path:
    return expanded(vault.path)
