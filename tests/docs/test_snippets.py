"""Every piece of code in the documentation is a file that runs or a command that works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copytree

import pytest

from devtools.members import ROOT
from knapper.config.load import load
from tests.docs.snippets import Block, blocks

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"python", "toml", "json", "console", "text"}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home folder with the example vault as their notes, and knapper on the path."""
    copytree(ROOT / "examples" / "vault", tmp_path / "Notes")
    for name in [name for name in os.environ if name.startswith("KNAPPER_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, folder in (("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "config")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return tmp_path


def write(home: Path, page: list[Block]) -> list[Path]:
    """Write every block that is a file."""
    files = []
    for block in page:
        if block.file is not None:
            file = home / block.file
            file.write_text(block.text, encoding="utf-8")
            files.append(file)
    return files


@every_page
def test_every_block_says_what_it_is(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES
    assert [block.text for block in blocks(page) if block.language == "python" and block.file is None] == []


@every_page
def test_python_blocks_are_files_that_run(page: Path, home: Path) -> None:
    files = [file for file in write(home, blocks(page)) if file.suffix == ".py"]
    tests = [file.name for file in files if file.name.startswith("test_")]
    for file in files:
        if file.name not in tests:
            done = _run([sys.executable, "-W", "error", file.name], home)
            assert done.returncode == 0, done.stderr
    if tests:
        done = _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], home)
        assert done.returncode == 0, done.stdout


@every_page
def test_configuration_blocks_can_be_read(page: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNAPPER_JWT_SECRET", "x" * 32)
    write(home, blocks(page))
    for block in blocks(page):
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "toml" and "vaults" in tomllib.loads(block.text):
            assert block.file is not None
            load(home / block.file)


@every_page
def test_commands_work_on_the_example_vault(page: Path, home: Path) -> None:
    write(home, blocks(page))
    for block in blocks(page):
        if block.script:
            script = "\n".join(["set -e", *block.script])
            done = _run(["sh", "-c", script], home)
            assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"


@every_page
def test_links_to_pages_and_headings_lead_somewhere(page: Path) -> None:
    import re

    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if heading:
            titles = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def _run(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=home, input="", capture_output=True, text=True, timeout=100, check=False
    )
