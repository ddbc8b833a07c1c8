from pathlib import Path
from shutil import copytree

import pytest

from devtools.members import ROOT

CORE = """\
[project]
name = "knapper-core"
version = "0.1.0"
dependencies = ["click>=8,<9"]
"""
UMBRELLA = """\
[project]
name = "knapper"
version = "0.1.0"
dependencies = [
  "knapper-core>=0.1,<1",
]

[dependency-groups]
test = ["pytest>=9,<10"]
dev = [{ include-group = "test" }, "ruff>=0.17,<0.18"]
uv = ["tox-uv>=1,<2", "uv>=0.9,<1"]

[tool.ruff]
line-length = 110
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree with an umbrella and a core, for tests that change it."""
    write(tmp_path / "core" / "pyproject.toml", CORE)
    write(tmp_path / "pyproject.toml", UMBRELLA)
    write(tmp_path / "constraints.txt", "click==8.5.1\n")
    return tmp_path


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """This tree without its plugins: what the sameness test reads, to add distributions to."""
    names = ("pyproject.toml", "constraints.txt", "CHANGELOG.md", "tests/test_distributions.py")
    for name in (*names, "core/pyproject.toml", "core/README.md"):
        write(tmp_path / name, (ROOT / name).read_text(encoding="utf-8"))
    copytree(ROOT / "devtools", tmp_path / "devtools")
    for name in ("core/src/knapper/__init__.py", "core/src/knapper/py.typed", "tests/core/test_core.py"):
        write(tmp_path / name, "")
    return tmp_path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
