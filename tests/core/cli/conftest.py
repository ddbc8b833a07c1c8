"""Commands as a person runs them, on a machine of their own."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from knapper.cli.app import cli, main


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(machine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command; `answer` is what the person types."""

    def run(*words: str | Path, answer: str = "") -> Result:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        cli.__dict__.pop("added", None)  # plugins may have been installed since the last command
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A vault with one note."""
    folder = tmp_path / "Notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n", encoding="utf-8")
    return folder


@pytest.fixture
def config(tmp_path: Path, notes: Path) -> Path:
    """A configuration file for that vault, whose state is in a folder beside it."""
    file = tmp_path / "knapper.toml"
    cache = (tmp_path / "cache").as_posix()
    file.write_text(f'cache_dir = "{cache}"\n\n[[vaults]]\nid = "main"\npath = "Notes"\n', encoding="utf-8")
    return file


def add(config: Path, text: str) -> None:
    """Put more into a configuration file, ahead of its vaults."""
    config.write_text(
        config.read_text(encoding="utf-8").replace("[[vaults]]", f"{text}\n[[vaults]]"), encoding="utf-8"
    )
