"""Where the server keeps its own files: never inside a vault, never relative to the working directory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from knapper.errors import ConfigError

PLACES = "places"
ELSEWHERE = "give this user the right to, or choose another folder (--cache-dir, KNAPPER_CACHE_DIR)"


def data_dir() -> Path:
    """The platform's folder for what programs keep."""
    from platformdirs import user_data_dir

    return Path(user_data_dir("knapper", appauthor=False))


def default_file() -> Path:
    """Where a person's own configuration is looked for."""
    from platformdirs import user_config_dir

    return Path(user_config_dir("knapper", appauthor=False)) / "config.toml"


def find(path: str | Path | None = None, env: Mapping[str, str] | None = None) -> Path | None:
    """The file or vault folder to start from: the one named, KNAPPER_CONFIG, or the user's own file."""
    env = os.environ if env is None else env
    named = path or env.get("KNAPPER_CONFIG") or None
    if named is None:
        own = default_file()
        return own if own.is_file() else None
    found = expanded(str(named))
    if not found.exists():
        raise ConfigError(f"{Path(named).name}: there is no such file or folder")
    return found


def expanded(path: str) -> Path:
    """A path with the home folder in place of its `~`; the home of a user who does not exist stays as written."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises there)


def folder_for(vault: Path) -> Path:
    """Where a vault served without a configuration keeps its state: a folder of its own for each."""
    real = vault.resolve()
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", real.name).strip(".") or "vault"
    return data_dir() / f"{name}-{sha256(str(real).encode()).hexdigest()[:8]}"


def remember(folder: Path) -> None:
    """Note where a server keeps its files if that is not the usual place, for commands that name no configuration."""
    if inside(folder, data_dir()):
        return
    with suppress(OSError):  # a home that cannot be written costs only this
        notes = data_dir() / PLACES
        notes.mkdir(parents=True, exist_ok=True, mode=0o700)
        real = os.fsencode(folder.resolve())
        (notes / sha256(real).hexdigest()[:16]).write_bytes(real)


def remembered() -> list[Path]:
    """The folders that were noted and are still there; the others are forgotten."""
    found = []
    for note in sorted((data_dir() / PLACES).glob("*")):
        with suppress(OSError):
            folder = Path(os.fsdecode(note.read_bytes()))
            if folder.is_dir():
                found.append(folder)
            else:
                note.unlink()
    return found


def located(settings: Any) -> Path:
    """The configured folder, else the platform's; a relative one is under the home folder. It need not exist."""
    if not settings.cache_dir:
        return data_dir()
    folder = expanded(settings.cache_dir)
    return folder if folder.is_absolute() else Path.home() / folder


def inside(place: Path, folder: Path) -> bool:
    """Whether a place, which need not exist, is a folder or below it, in whatever spelling."""
    real = place.resolve()
    return any(_same(above, folder) for above in (real, *real.parents))


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def cache_dir(settings: Any) -> Path:
    """The same folder, made where it is missing, for its owner alone."""
    folder = located(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(f"cache_dir: {folder} cannot be made ({error.strerror}); {ELSEWHERE}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"cache_dir: {folder} cannot be written; {ELSEWHERE}")
    return folder
