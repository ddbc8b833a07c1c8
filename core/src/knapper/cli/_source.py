"""What a command works on: the configuration, the installed plugins, the stored state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import ValidationError

from knapper.config.load import Loaded, find, from_env, load
from knapper.config.model import PluginSettings, Settings
from knapper.config.paths import data_dir, located, remembered
from knapper.errors import ConfigError, ToolError

if TYPE_CHECKING:
    from knapper.plugins import Plugins
    from knapper.store.state import State

STATE = "state.db"


def configured(path: str | None = None) -> Loaded | None:
    """The configuration, or None where nothing is named and there is no file; ConfigError where it is wrong."""
    return None if find(path) is None else load(path)


def usable(path: str | None = None) -> Loaded | None:
    """The configuration if it can be read: for commands that have to work without one."""
    try:
        return configured(path)
    except ConfigError:
        return None


def found_plugins(settings: Settings | None = None, *, strict: bool | None = None) -> Plugins:
    """The installed plugins, as far as the configuration allows them."""
    from knapper.plugins import Plugins

    if settings is None and (loaded := usable()) is not None:
        settings = loaded.settings
    chosen = settings.plugins if settings else _chosen_by_environment()
    return Plugins.discover(
        only=chosen.only, disabled=chosen.disabled, strict=chosen.strict if strict is None else strict
    )


def _chosen_by_environment() -> PluginSettings:
    """Which plugins are used where there is no configuration, or none that can be read."""
    try:
        return PluginSettings.model_validate(from_env(os.environ).get("plugins", {}))
    except ValidationError:
        return PluginSettings()


def state_files(path: str | None) -> list[Path]:
    """The states meant: of the configuration that is named, else of every vault served on this machine."""
    if path is not None:
        return _existing(located(load(path).settings) / STATE)
    loaded = configured()
    own = [located(loaded.settings) / STATE] if loaded else []
    usual = [data_dir() / STATE, *sorted(data_dir().glob(f"*/{STATE}"))]
    return _existing(*own, *usual, *[folder / STATE for folder in remembered()])


def one_state(path: str | None) -> Path:
    """The one state meant; an error says how to choose where there are several."""
    files = state_files(path)
    if not files:
        raise ToolError("vault_not_found", "nothing has been served from here yet, so there is no state")
    if len(files) > 1:
        places = ", ".join(file.parent.name for file in files)
        raise click.UsageError(f"there are several states ({places}); name the vault or the configuration")
    return files[0]


@contextmanager
def opened(file: Path) -> Iterator[State]:
    """A state that exists already, without a server."""
    from knapper.store.state import State

    state = State.open(file)
    try:
        yield state
    finally:
        state.close()


def vault_ids(path: str | None, state: State) -> set[str]:
    """The vaults that are configured or have been served."""
    from knapper.store.folders import served

    loaded = usable(path)
    return served(state) | {vault.id for vault in (loaded.settings.vaults if loaded else ())}


def _existing(*files: Path) -> list[Path]:
    return list(dict.fromkeys(file for file in files if file.is_file()))
