"""Wheels and sdists of many distributions in one process: `python -m devtools.builds OUT FOLDER...` in .venv.

A front end starts two interpreters for each; hatchling, called directly, builds all fifty in the time of three.
"""

import sys
from contextlib import chdir
from pathlib import Path

from hatchling.build import build_sdist, build_wheel


def wheel(folder: Path, out: Path) -> Path:
    """Build the wheel of the distribution in `folder`."""
    with chdir(folder):
        return out / build_wheel(str(out))


def sdist(folder: Path, out: Path) -> Path:
    """Build the source distribution of the one in `folder`."""
    with chdir(folder):
        return out / build_sdist(str(out))


if __name__ == "__main__":
    target, *folders = (Path(argument).resolve() for argument in sys.argv[1:])
    for source in folders:
        print(wheel(source, target))
