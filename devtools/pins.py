"""constraints.txt: one version for everything from outside the tree, and no word of where it came from."""

from __future__ import annotations

import subprocess
from pathlib import Path

from devtools import environment
from devtools.members import members

_HEADER = "# Versions the tests ran with. Written by `python3 dev.py pin`; installs read it, published metadata does not.\n"


def write(root: Path, options: list[str]) -> int:
    """Resolve what the tree needs, for every platform, and write the pins; existing ones are kept where they fit."""
    env, file = environment.ensure(root), root / "constraints.txt"
    uv = environment.installer(root, env).uv
    if uv is None:
        raise SystemExit("pinning for every platform needs uv, which cannot be had here")
    # uv would write index addresses and the paths of its inputs into a lock; these options leave versions only.
    quiet = ["--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    command = [
        uv,
        "pip",
        "compile",
        "--universal",
        "--python-version",
        "3.11",
        *quiet,
        *options,
        "-o",
        str(file),
        "-",
    ]
    wanted = "\n".join(environment.requirements(root, members(root)))
    code = subprocess.run(command, input=wanted, text=True, check=False).returncode
    if code == 0:
        file.write_text(_HEADER + file.read_text(encoding="utf-8"), encoding="utf-8")
    return code
