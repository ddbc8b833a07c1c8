"""`python3 dev.py serve` on a folder that is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from devtools.members import ROOT


def test_a_vault_that_is_not_there_is_refused_before_anything_is_announced(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "dev.py"), "serve", str(tmp_path / "nope")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"There is no folder or file {tmp_path / 'nope'}.\n"
