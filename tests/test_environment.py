"""What dev.py makes its environment with."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from devtools.environment import finds_packages, installer
from devtools.members import ROOT

NAME = "knapper_test_parcel"


def wheel(folder: Path) -> None:
    """A distribution of nothing, as an index would have it."""
    info = f"{NAME}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{NAME}-1.0-py3-none-any.whl", "w") as file:
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")


def test_a_uv_that_gets_nothing_where_pip_does_is_told_from_one_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = Path(sys.prefix)
    uv = installer(ROOT, env).uv
    if uv is None:
        pytest.skip("there is no uv here")
    monkeypatch.setenv("UV_OFFLINE", "1")  # no index can be reached, as behind a proxy only pip knows
    assert not finds_packages(uv, env, NAME)
    wheel(tmp_path)
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    assert finds_packages(uv, env, NAME)
