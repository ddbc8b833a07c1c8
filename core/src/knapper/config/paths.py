"""Where the server keeps its own files: never inside a vault, never relative to the working directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def cache_dir(settings: Any) -> Path:
    """The configured folder, else the platform's data folder; a relative one is under the home folder."""
    if settings.cache_dir:
        folder = Path(os.path.expanduser(settings.cache_dir))
        folder = folder if folder.is_absolute() else Path.home() / folder
    else:
        from platformdirs import user_data_dir

        folder = Path(user_data_dir("knapper", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
