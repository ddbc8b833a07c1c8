"""Vaults whose right answers are known: a generated one with its manifest, and real ones; absent in some checkouts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from knapper.testing import Calls, VaultFolder

SHARED = Path(__file__).parents[2] / "shared"
__all__ = ["Known", "generated", "notes_of", "real_folder", "real_vault", "texts_of"]


class Known(NamedTuple):
    """A vault, calls to it, and what is true of it."""

    folder: VaultFolder
    call: Calls
    truth: dict[str, Any]


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    """A generated vault of 300 notes; tests only read it."""
    generator = SHARED / "bench" / "gen_vault.py"
    if not generator.is_file():
        pytest.skip("the vault generator is not here")
    place = tmp_path_factory.mktemp("generated")
    subprocess.run(
        [sys.executable, str(generator), str(place / "vault"), "--notes", "300", "--malformed", "0.03"],
        check=True,
        capture_output=True,
    )
    call = Calls(place / "vault", place / "cache")
    truth = json.loads((place / "vault.manifest.json").read_bytes())
    yield Known(VaultFolder(place / "vault"), call, truth)
    call.close()


def real_folder(name: str) -> Path:
    """A real vault's folder, to be read only."""
    folder = SHARED / "vaults" / name
    if not folder.is_dir():
        pytest.skip(f"the vault {name} is not here")
    return folder


@pytest.fixture(params=["kepano", "tasks-demo"])
def real_vault(request: pytest.FixtureRequest, vault: VaultFolder) -> VaultFolder:
    """A copy of a real vault, to be written to."""
    shutil.copytree(real_folder(request.param), vault.path, dirs_exist_ok=True, copy_function=shutil.copyfile)
    return vault


def notes_of(folder: Path) -> list[str]:
    """The paths of a vault's notes, found without the server."""
    found = (path.relative_to(folder) for path in folder.rglob("*.md"))
    return sorted(path.as_posix() for path in found if not any(p.startswith(".") for p in path.parts))


def texts_of(name: str) -> list[tuple[str, str]]:
    """Every note of a real vault with its text; none where the vault is absent."""
    folder = SHARED / "vaults" / name
    return [(path, (folder / path).read_bytes().decode()) for path in notes_of(folder)]
