"""A vault's id stands for one folder, and takes what is kept along when that folder moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from knapper.config.load import load
from knapper.errors import ConfigError
from knapper.runtime import Runtime, open_runtime


def vault(place: Path, name: str, text: str) -> Path:
    folder = place / name
    folder.mkdir()
    (folder / "a.md").write_text(text, encoding="utf-8")
    return folder


def opened(place: Path, folder: Path) -> Runtime:
    file = place / f"{folder.name}.toml"
    file.write_text(f'[[vaults]]\nid = "main"\npath = "{folder.as_posix()}"\n', encoding="utf-8")
    return open_runtime(load(file).settings)


def test_an_id_that_stands_for_another_folder_is_refused_and_both_are_named(
    tmp_path: Path, machine: Path
) -> None:
    a, b = vault(tmp_path, "A", "first"), vault(tmp_path, "B", "second")
    opened(tmp_path, a).close()
    with pytest.raises(ConfigError) as caught:
        opened(tmp_path, b)
    assert caught.value.issues == [
        f"vaults: the id 'main' stands for {a.resolve()}, so it cannot stand for {b.resolve()} as well;"
        " give one of them another id, or its configuration a cache_dir of its own"
    ]
    opened(tmp_path, a).close()


def test_a_vault_that_moved_keeps_its_id(tmp_path: Path, machine: Path) -> None:
    a = vault(tmp_path, "A", "first")
    opened(tmp_path, a).close()
    moved = a.rename(tmp_path / "Moved")
    opened(tmp_path, moved).close()
    a.mkdir()
    with pytest.raises(ConfigError, match=r"stands for .*Moved, so it cannot stand for .*A as well"):
        opened(tmp_path, a)


def test_a_link_to_the_folder_is_the_folder(tmp_path: Path, machine: Path) -> None:
    a = vault(tmp_path, "A", "first")
    opened(tmp_path, a).close()
    link = tmp_path / "Link"
    link.symlink_to(a, target_is_directory=True)
    opened(tmp_path, link).close()


def test_the_index_of_another_folder_is_not_taken_over(tmp_path: Path, machine: Path) -> None:
    a = vault(tmp_path, "A", "first")
    runtime = opened(tmp_path, a)
    runtime.vaults.get("main").index.reconcile()
    assert runtime.vaults.get("main").index.status().total == 1
    runtime.close()
    b = vault(tmp_path, "B", "second")
    a.rename(tmp_path / "gone")
    runtime = opened(tmp_path, b)
    try:
        assert runtime.vaults.get("main").index.status().total == 0
    finally:
        runtime.close()
