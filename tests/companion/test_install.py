from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from knapper.cli.app import main
from knapper_companion.link import Link
from tests.companion.obsidian import BUILT, obsidian

FOLDER = ".obsidian/plugins/knapper-companion"
FILES = ["main.js", "manifest.json", "versions.json"]


def shipped() -> dict[str, bytes]:
    return {name: (BUILT / name).read_bytes() for name in FILES}


def found(vault: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((vault / FOLDER).iterdir())}


def install(vault: Path) -> int:
    return main(["plugin", "install", "--vault", str(vault)])


def test_a_vault_gets_the_plugin_and_the_person_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install(tmp_path) == 0
    assert found(tmp_path) == shipped()
    said = capsys.readouterr()
    assert said.out == f"Installed knapper-companion 0.1.0 in {tmp_path / FOLDER}\n"
    assert said.err == (
        "In Obsidian, under Settings, Community plugins: install and enable Local REST API, reload the list and"
        " enable Knapper companion. Then put rest_api_url and rest_api_key into the vault's configuration.\n"
    )


def test_an_older_one_is_replaced_and_its_settings_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    old = {"id": "knapper-companion", "name": "Knapper companion", "version": "0.0.9"}
    (folder / "manifest.json").write_text(json.dumps(old), encoding="utf-8")
    (folder / "main.js").write_text("old", encoding="utf-8")
    (folder / "data.json").write_text("{}", encoding="utf-8")
    assert install(tmp_path) == 0
    assert found(tmp_path) == {"data.json": b"{}", **shipped()}
    assert capsys.readouterr().out.startswith("Replaced knapper-companion 0.0.9 by 0.1.0 in ")


def test_twice_is_the_same_as_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert install(tmp_path) == install(tmp_path) == 0
    assert found(tmp_path) == shipped()
    assert "Installed knapper-companion 0.1.0 again in " in capsys.readouterr().out


@pytest.mark.parametrize(
    "manifest", ["{", "[]", '{"id": "knapper-companion"}', '{"id": 1, "name": "", "version": 2}']
)
def test_what_obsidian_could_not_load_counts_as_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], manifest: str
) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "manifest.json").write_text(manifest, encoding="utf-8")
    assert install(tmp_path) == 0
    assert capsys.readouterr().out.startswith("Installed knapper-companion 0.1.0 in ")


def test_a_vault_that_is_not_there_is_a_mistake_and_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "note.md").write_text("x", encoding="utf-8")
    for wrong in ("missing", "note.md"):
        assert install(tmp_path / wrong) == 2
    assert "does not exist" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["note.md"]


def test_without_a_vault_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugin", "install"]) == 2
    assert "Missing option '--vault'" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "plugins").write_text("a file", encoding="utf-8")
    assert install(tmp_path) == 1
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is a folder is refused otherwise there")
def test_a_failure_in_the_middle_leaves_no_part_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / FOLDER / "manifest.json").mkdir(parents=True)
    assert install(tmp_path) == 1
    left = sorted(file.name for file in (tmp_path / FOLDER).iterdir())
    assert left == FILES
    assert (tmp_path / FOLDER / "main.js").read_bytes() == (BUILT / "main.js").read_bytes()


@pytest.mark.parametrize("broken", ["main.js", "manifest.json"])
def test_an_installation_that_is_not_whole_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    shutil.copytree(BUILT, tmp_path / "package" / "plugin")
    (tmp_path / "package" / "plugin" / broken).unlink()
    monkeypatch.setattr("knapper_companion.install.files", lambda package: tmp_path / "package")
    vault = tmp_path / "vault"
    vault.mkdir()
    assert install(vault) == 1
    assert "reinstall knapper-companion" in capsys.readouterr().err
    assert [*vault.iterdir()] == []


def test_what_was_installed_runs_in_obsidian(tmp_path: Path) -> None:
    install(tmp_path)
    with obsidian(tmp_path, built=tmp_path / FOLDER) as app:
        given = app.settings()
        assert Link(given).refresh(given).plugin_id == "knapper-companion"
