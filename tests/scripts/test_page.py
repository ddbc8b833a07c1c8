"""What the page about scripts says, done."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from knapper.testing import VaultFolder
from knapper_scripts import files, life, making
from knapper_scripts.domain import ScriptSettings
from tests.docs.snippets import blocks
from tests.scripts.conftest import Run, Tools

PAGE = Path(__file__).parents[2] / "docs" / "scripts.md"


def test_its_commands_make_its_script_a_tool(tmp_path: Path) -> None:
    written = {block.file: block.text for block in blocks(PAGE) if block.file}
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    (commands,) = (block.text for block in blocks(PAGE) if block.language == "console")
    env = {name: value for name, value in os.environ.items() if not name.startswith("KNAPPER_")}
    env |= {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    listed, trusted = done.stdout.splitlines()
    assert listed.startswith("untrusted ")
    assert re.fullmatch(r"trusted  [0-9a-f]{12}  mcp-tools/count_words\.py", trusted)


def test_its_script_counts_words(tools: Tools, run: Run, vault: VaultFolder) -> None:
    (text,) = (block.text for block in blocks(PAGE) if block.file == "count_words.py")
    vault["a.md"] = "one two"
    vault["mcp-tools/text/count-words.py"] = text
    run("trust", "text/count-words.py")
    assert tools.look() == ["text_count_words"]
    assert tools.call("text_count_words", path="a.md") == 2


def test_its_numbers_and_names_are_those_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert (making.LOAD_SECONDS, files.MOST_BYTES) == (5.0, 1_000_000)
    assert life.LOOK_SECONDS <= 0.5  # two looks within the second that the page promises
    assert ScriptSettings().folder == "mcp-tools"
    source = Path(making.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r'names\.get\("([A-Z]+)"', source)) == set(
        re.findall(r"^\| `([A-Z]+)` \|", page, re.MULTILINE)
    )
