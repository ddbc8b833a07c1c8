"""A running server follows what other programs do: single saves, whole folders, storms, and what nobody told it of."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from knapper import Domain
from knapper.index.engine import Index
from knapper.maintenance import declare_jobs
from knapper.testing import Calls, VaultFolder
from tests.core.index.conftest import Open, content, everything, paths, until

LONG = 120.0


@pytest.fixture
def live(vault: VaultFolder, opened: Open) -> Index:
    vault["there.md"] = "# There\n"
    index = opened(watch=True)
    index.start()
    until(lambda: index.status().state == "ready" and index.watching)
    return index


def title(index: Index, path: str) -> str | None:
    row = everything(index).file(path)
    return None if row is None else row.title


def test_what_another_program_saves_moves_and_deletes_is_followed(live: Index, vault: VaultFolder) -> None:
    vault["a.md"] = "# First\n"
    until(lambda: paths(live) == ["a.md", "there.md"])
    vault[".a.md.tmp"] = "# Second\n"  # as editors save: a file beside it, then one step
    (vault.path / ".a.md.tmp").replace(vault.path / "a.md")
    until(lambda: title(live, "a.md") == "Second")
    vault["folder/deep/b.md"] = "# B\n"
    until(lambda: "folder/deep/b.md" in paths(live))
    (vault.path / "folder").rename(vault.path / "other")
    until(lambda: paths(live) == ["a.md", "other/deep/b.md", "there.md"])
    shutil.rmtree(vault.path / "other")
    del vault["a.md"]
    until(lambda: paths(live) == ["there.md"])


@pytest.mark.timeout(400)
def test_a_storm_of_five_thousand_files_is_taken_in_whole(live: Index, vault: VaultFolder) -> None:
    for n in range(5000):
        vault[f"{n % 50}/{n}.md"] = f"# Note {n}\n\n[[{(n * 7) % 5000}]] #t{n % 9}\n"
    until(lambda: live.status().indexed == 5001 and live.status().state == "ready", LONG)
    assert title(live, "17/4017.md") == "Note 4017"
    result = live.reconcile()
    assert (result.upserted, result.deleted, result.unchanged) == (0, 0, 5001)
    for n in range(50):
        shutil.rmtree(vault.path / str(n))
    until(lambda: paths(live) == ["there.md"], LONG)


def test_a_change_that_nobody_told_of_is_found_by_the_job_that_compares(
    call: Calls, vault: VaultFolder
) -> None:
    runtime = call.runtime(Domain("nothing", summary="No tools at all."))
    index = runtime.vaults.get("main").index
    runtime.vaults.start()
    until(lambda: index.status().state == "ready")
    vault["unseen.md"] = "#lost\n"
    assert paths(index) == []
    declare_jobs(runtime)
    assert "index.reconcile" in runtime.jobs.run_due()
    assert paths(index) == ["unseen.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_names_that_cannot_be_read_do_not_end_the_watching_for_long(
    live: Index, vault: VaultFolder, caplog: pytest.LogCaptureFixture
) -> None:
    def end(name: bytes, times: int) -> None:
        Path(os.fsdecode(os.fsencode(vault.path) + name)).touch()
        until(lambda: caplog.text.count("watching the vault failed") == times, seconds=15)
        until(lambda: live.watching, seconds=15)  # sooner than where nobody watches all is compared

    end(b"/one\xff.md", 1)
    end(b"/two\xff.md", 2)
    vault["after.md"] = "# After\n"
    until(lambda: paths(live) == ["after.md", "there.md"])


@pytest.mark.skipif(os.name == "nt", reason="there nobody can move a folder that is watched")
def test_a_vault_that_was_away_or_exchanged_is_compared_and_followed_again(
    live: Index, vault: VaultFolder, tmp_path: Path
) -> None:
    vault.path.rename(tmp_path / "away")
    until(lambda: live.status().problem == "the vault's folder is not there")
    assert live.coverage() != ""
    vault["other.md"] = "# Of another folder\n"
    until(lambda: live.coverage() == "" and live.watching and paths(live) == ["other.md"])
    vault["later.md"] = "# Later\n"
    until(lambda: paths(live) == ["later.md", "other.md"])


def into_file(folder: Path) -> None:
    folder.rename(folder.parents[1] / "elsewhere")
    folder.write_text("# A file now\n")


def into_link_inside(folder: Path) -> None:
    folder.rename(folder.with_name("real"))
    folder.symlink_to("real")


def into_link_outside(folder: Path) -> None:
    elsewhere = folder.parents[1] / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
@pytest.mark.parametrize(
    ("swap", "left"),
    [
        (into_file, ["Plan.md", "there.md"]),
        (into_link_inside, ["real/deep/b.md", "there.md"]),
        (into_link_outside, ["there.md"]),
    ],
)
def test_a_folder_that_became_something_else_leaves_nothing_behind(
    swap: Callable[[Path], None],
    left: list[str],
    live: Index,
    vault: VaultFolder,
    opened: Open,
    tmp_path: Path,
) -> None:
    vault["Plan.md/deep/b.md"] = "# B\n"
    until(lambda: "Plan.md/deep/b.md" in paths(live))
    swap(vault.path / "Plan.md")
    until(lambda: paths(live) == left)
    fresh = opened(tmp_path / "fresh.db")
    fresh.reconcile()
    assert content(live) == content(fresh)


def test_a_note_that_became_a_folder_leaves_nothing_behind(live: Index, vault: VaultFolder) -> None:
    vault["Plan.md"] = "# Plan\n"
    until(lambda: "Plan.md" in paths(live))
    del vault["Plan.md"]
    vault["Plan.md/b.md"] = "# B\n"
    until(lambda: paths(live) == ["Plan.md/b.md", "there.md"])


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_folder_that_became_a_link_unseen_is_found_by_comparing(index: Index, vault: VaultFolder) -> None:
    vault["a/deep/b.md"] = "# B\n"
    index.reconcile()
    into_link_inside(vault.path / "a")
    index.reconcile()
    assert paths(index) == ["real/deep/b.md"]


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_what_changes_behind_a_link_out_of_the_vault_is_not_part_of_it(
    vault: VaultFolder, tmp_path: Path, index: Index
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault.path / "a").symlink_to(outside)
    (outside / "secret.png").write_bytes(b"x")
    index.refresh(["a/secret.png"])
    assert index.known() == {}
