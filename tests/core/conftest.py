"""Distributions installed for one test, and a machine on which nothing else of knapper is configured."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a distribution where Python looks for them, as an installer does: its module and its metadata."""
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    # Also for processes that a test starts.
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    )
    modules: list[str] = []

    def put(name: str, source: str, *, distribution: str = "", version: str = "1.0") -> Path:
        module = f"installed_{name.replace('-', '_')}"
        modules.append(module)
        package = distribution or f"knapper-{name}"
        (site / f"{module}.py").write_text(dedent(source), encoding="utf-8")
        info = site / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[knapper]\n{name} = {module}\n")
        importlib.invalidate_caches()
        return site

    yield put
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, and no variable that configures anything."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("KNAPPER_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name, folder in (("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "config"), ("APPDATA", "roaming")):
        monkeypatch.setenv(name, str(home / folder))
    monkeypatch.setenv("LOCALAPPDATA", str(home / "local"))
    return home


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte, where something can be mounted."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room that is left on a disk."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"0" * 4096)
    return filler
