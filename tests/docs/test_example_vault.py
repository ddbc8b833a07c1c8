"""The example vault is small, whole, and shows what the tools are for."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest
import yaml

from devtools.members import ROOT
from knapper.testing import Calls, VaultFolder
from knapper_links import links

EXAMPLE = ROOT / "examples" / "vault"


def test_it_has_ten_to_fifteen_notes() -> None:
    assert 10 <= len(list(EXAMPLE.rglob("*.md"))) <= 15


def test_its_base_and_its_canvas_can_be_read_and_name_files_that_are_there() -> None:
    base = yaml.safe_load((EXAMPLE / "Stones.base").read_text(encoding="utf-8"))
    assert [view["name"] for view in base["views"]] == ["By hardness", "Found this spring"]
    canvas = json.loads((EXAMPLE / "Workbench.canvas").read_text(encoding="utf-8"))
    for node in canvas["nodes"]:
        assert node["type"] != "file" or (EXAMPLE / node["file"]).is_file()


def test_every_note_has_properties_and_links() -> None:
    for note in EXAMPLE.rglob("*.md"):
        assert note.read_text(encoding="utf-8").startswith("---\n"), note.name


@pytest.fixture
def example(vault: VaultFolder) -> Path:
    copytree(EXAMPLE, vault.path, dirs_exist_ok=True)
    return vault.path


def test_every_link_leads_somewhere_but_the_one_that_is_still_to_be_written(
    call: Calls, example: Path
) -> None:
    (missing,) = call(links, "find_unresolved_links")["items"]
    assert missing["target"] == "Hammerstones"
