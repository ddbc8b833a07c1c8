from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("KNAPPER_KILLS", "6"))
TOOLS = [
    "move_note",
    "bulk_move_notes",
    "move_attachment",
    "obsidian_rename_note",
    "obsidian_move_note",
    "rewrite_link",
    "undo_session",
    "rename_entity",
    "execute_template",
]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.timeout(120 + KILLS * 10)
@pytest.mark.parametrize("tool", TOOLS)
def test_a_process_killed_inside_a_tool_of_many_files_has_changed_all_of_them_or_none(
    tool: str, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "tests.e2e.killed", tool, str(tmp_path), str(KILLS)]
    root = Path(__file__).parents[2]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    before, after = found["before"], found["after"]
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    assert len(changed) > 1
    assert [left for left in found["left"] if left not in (before, after)] == []
    assert before in found["left"]
    assert after in found["left"]
