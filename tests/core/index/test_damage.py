"""Whatever is done to the file, the answer is right, says what it lacks, or is an error that can be tried again."""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from knapper.errors import CODES, ToolError
from knapper.index.engine import Index
from knapper.store.sqlite import raw_connect
from knapper.testing import VaultFolder
from tests.core.index.conftest import Open, content, everything, paths, until
from tests.core.index.extracts import shouts

NOTES = {
    f"{number % 7}/note {number}.md": f"# Title {number}\n\nSome text [[note {number + 1}]] #t{number % 5}\n"
    for number in range(120)
}


@pytest.fixture
def filled(vault: VaultFolder) -> VaultFolder:
    vault.update(NOTES)
    return vault


def build(opened: Open) -> None:
    index = opened()
    index.reconcile()
    index.close()


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def overwrite_start(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.write(b"not a database at all" * 10)


def overwrite_middle(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.seek(file.stat().st_size // 2)
        handle.write(random.Random(1).randbytes(20_000))


def change_a_letter(file: Path) -> None:
    """Damage that no check of the structure can see."""
    data = file.read_bytes()
    assert b"Title 11" in data
    file.write_bytes(data.replace(b"Title 11", b"Title 99"))


def append(file: Path) -> None:
    with file.open("ab") as handle:
        handle.write(b"\0" * 5000)


def another_database(file: Path) -> None:
    file.unlink()
    conn = raw_connect(file)
    conn.execute("CREATE TABLE files (path TEXT)")
    conn.close()


def remove(file: Path) -> None:
    file.unlink()


def lose_the_log(file: Path) -> None:
    """What has been written last is not in the file itself."""
    file.with_name(file.name + "-wal").unlink()


HARM = [truncate, empty, overwrite_start, overwrite_middle, change_a_letter, append, another_database, remove]
IN_PLACE = [truncate, empty, overwrite_start, overwrite_middle, change_a_letter, append]
WHILE_OPEN = IN_PLACE if os.name == "nt" else [*IN_PLACE, another_database, lose_the_log]
Harm = Callable[[Path], None]


def expected(opened: Open, tmp_path: Path) -> dict[str, object]:
    fresh = opened(tmp_path / "fresh.db")
    fresh.reconcile()
    return content(fresh)


@pytest.mark.parametrize("harm", HARM)
def test_harm_between_two_starts_costs_a_rebuild(
    harm: Harm, filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    build(opened)
    harm(file)
    index = opened()
    assert index.status().total == 0  # nothing of it is trusted
    assert index.coverage() == "indexing: nothing is in the index yet; ask again in a moment"
    index.reconcile()
    assert content(index) == expected(opened, tmp_path)


def test_an_index_left_in_order_is_taken_as_it_is(filled: VaultFolder, opened: Open) -> None:
    build(opened)
    index = opened()
    assert index.db.rebuilt == ""
    assert index.status().total == 120
    assert index.status().notes_ready is False  # until somebody has compared it
    assert index.reconcile().unchanged == 120


def test_a_look_from_outside_does_not_cost_a_rebuild(filled: VaultFolder, opened: Open, file: Path) -> None:
    build(opened)
    conn = raw_connect(file)
    assert conn.execute("SELECT count(*) FROM files").fetchone() == (120,)
    conn.close()
    index = opened()
    assert (index.db.rebuilt, index.status().total) == ("", 120)


@pytest.mark.parametrize("harm", [truncate, overwrite_start, another_database])
def test_an_index_that_was_not_closed_in_order_is_checked(
    harm: Harm, filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    build(opened)
    file.with_suffix(".seal").unlink()
    harm(file)
    index = opened()
    index.reconcile()
    assert index.db.rebuilt
    assert content(index) == expected(opened, tmp_path)


def test_a_sound_index_that_was_not_closed_in_order_is_kept(
    filled: VaultFolder, opened: Open, file: Path
) -> None:
    build(opened)
    file.with_suffix(".seal").unlink()
    index = opened()
    assert (index.db.rebuilt, index.status().total) == ("", 120)


def test_an_index_of_another_configuration_is_built_anew(filled: VaultFolder, opened: Open) -> None:
    build(opened)
    index = opened(chunk_chars=500)
    assert index.db.rebuilt == "made by another version or configuration"
    assert index.status().total == 0


def test_what_does_not_shape_the_index_does_not_cost_a_rebuild(filled: VaultFolder, opened: Open) -> None:
    build(opened)
    index = opened(processes=2, vectors=False)
    assert (index.db.rebuilt, index.status().total) == ("", 120)


def test_two_configurations_at_once_have_an_index_each(filled: VaultFolder, opened: Open, file: Path) -> None:
    first = opened()
    first.reconcile()
    second = opened(extractors=[shouts])
    second.reconcile()
    assert first.db.path == file
    assert second.db.path != file
    assert paths(first) == paths(second) == sorted(NOTES)
    assert first.db.epoch == 0
    second.close()
    first.close()
    third = opened()
    assert third.status().total == 120
    assert not second.db.path.exists()  # what nobody has open is cleared away


def test_two_that_leave_different_files_out_do_not_answer_with_each_others(
    filled: VaultFolder, opened: Open
) -> None:
    filled["private/diary.md"] = "# Diary"
    first = opened()
    first.reconcile()
    second = opened(exclude=["private/"])
    assert paths(second) == []
    second.reconcile()
    assert paths(second) == sorted(NOTES)
    assert paths(first) == sorted([*NOTES, "private/diary.md"])


def asked_anew(index: Index) -> str:
    """The answer to a thread that has nothing of the index in memory yet: an error's code, or none."""
    codes: list[str] = []

    def ask() -> None:
        try:
            content(index)
        except ToolError as error:
            codes.append(error.code)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return "".join(codes)


@pytest.mark.skipif(os.name == "nt", reason="there a file that is open does not tell when it was written")
@pytest.mark.parametrize("harm", WHILE_OPEN)
def test_harm_while_the_server_runs_is_an_error_to_try_again_and_the_next_reconcile_mends_it(
    harm: Harm, filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    build(opened)
    index = opened()
    index.reconcile()
    content(index)  # much of it is in memory now
    harm(file)
    with pytest.raises(ToolError) as error:
        content(index)
    assert error.value.code == "index_unavailable"
    assert asked_anew(index) == "index_unavailable"
    assert CODES["index_unavailable"].retryable
    index.reconcile()
    assert asked_anew(index) == ""
    assert content(index) == expected(opened, tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="there nobody can replace what somebody has open")
@pytest.mark.parametrize("put", [shutil.copyfile, os.replace])
def test_an_older_index_of_the_vault_put_in_place_while_the_server_runs_answers_nothing(
    put: Callable[[Path, Path], object], filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    build(opened)
    older = tmp_path / "older.db"
    shutil.copyfile(file, older)
    filled["new.md"] = "# New"
    build(opened)
    index = opened()
    index.reconcile()
    assert "new.md" in paths(index)
    put(older, file)
    with pytest.raises(ToolError) as error:
        paths(index)
    assert error.value.code == "index_unavailable"
    assert index.coverage() == "the index is damaged and is being built anew"
    index.reconcile()
    assert content(index) == expected(opened, tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="there a file that is open does not tell when it was written")
def test_harm_that_nobody_met_before_the_end_costs_a_rebuild_at_the_next_start(
    filled: VaultFolder, opened: Open, file: Path
) -> None:
    build(opened)
    index = opened()
    index.reconcile()
    change_a_letter(file)
    index.close()
    again = opened()
    assert (again.db.rebuilt, again.status().total) == ("changed by another program", 0)


@pytest.mark.skipif(os.name == "nt", reason="there a file that is open does not tell when it was written")
def test_who_comes_after_the_harm_does_not_trust_the_index_that_others_have_open(
    filled: VaultFolder, opened: Open, file: Path
) -> None:
    build(opened)
    index = opened()
    index.reconcile()
    change_a_letter(file)
    second = opened()
    assert (second.db.rebuilt, second.status().total) == ("changed by another program", 0)
    assert index.coverage() == "indexing: nothing is in the index yet; ask again in a moment"
    second.reconcile()
    assert paths(index) == sorted(NOTES)


@pytest.mark.parametrize("harm", [truncate, overwrite_start])
def test_a_running_server_mends_a_damaged_index_by_itself(
    harm: Harm, filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    build(opened)
    index = opened()
    index.start()
    until(lambda: index.status().notes_ready)
    epoch = index.db.epoch
    harm(file)
    assert asked_anew(index) == "index_unavailable"
    until(lambda: index.db.epoch > epoch and index.status().notes_ready)
    assert index.status().state == "ready"
    assert content(index) == expected(opened, tmp_path)


def test_another_process_that_finds_the_damage_first_mends_it_for_all(
    filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    build(opened)
    index = opened()
    index.start()
    until(lambda: index.status().notes_ready)
    overwrite_start(file)
    second = opened()
    assert second.db.rebuilt.startswith("damaged")
    until(lambda: index.db.epoch == 1 and second.status().notes_ready)
    assert content(index) == content(second) == expected(opened, tmp_path)


def test_nothing_is_answered_from_an_index_that_is_known_to_be_damaged(
    filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    index = opened()
    index.reconcile()
    index.db.damage = "found by somebody"
    with pytest.raises(ToolError) as error:
        everything(index).notes()
    assert error.value.code == "index_unavailable"
    status = index.status()
    assert (status.state, status.notes_ready, status.problem) == (
        "degraded",
        False,
        "the index is damaged and is being built anew",
    )
    index.reconcile()
    assert index.status().state == "ready"
    assert content(index) == expected(opened, tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="there nobody can remove what somebody has open")
def test_an_index_deleted_while_the_server_runs_is_built_anew(
    filled: VaultFolder, opened: Open, file: Path, tmp_path: Path
) -> None:
    index = opened()
    index.start()
    until(lambda: index.status().notes_ready)
    shutil.rmtree(file.parent)
    until(lambda: index.db.epoch == 1 and index.status().notes_ready)
    assert content(index) == expected(opened, tmp_path)
    assert index.leads


@pytest.mark.skipif(os.name == "nt", reason="there nobody can remove what somebody has open")
def test_a_write_after_the_index_was_deleted_is_in_the_new_one(
    filled: VaultFolder, opened: Open, file: Path
) -> None:
    index = opened()
    index.reconcile()
    for one in file.parent.iterdir():
        one.unlink()
    filled["new.md"] = "# New"
    index.refresh(["new.md"])
    assert paths(index) == ["new.md"]
    assert index.coverage() != ""
    index.reconcile()
    assert paths(index) == sorted([*NOTES, "new.md"])
    assert index.coverage() == ""


def test_an_answer_from_an_index_begun_anew_since_the_question_says_so(
    filled: VaultFolder, opened: Open
) -> None:
    index = opened()
    index.reconcile()
    view = everything(index)
    assert view.incomplete == ""
    index.db.begin_anew()
    assert view.notes() == []
    assert view.incomplete == "the index was begun anew during this call; ask again in a moment"


def test_a_change_that_must_miss_nothing_is_refused_by_an_index_begun_anew_meanwhile(
    filled: VaultFolder, opened: Open
) -> None:
    index = opened()
    view = everything(index)
    view.level()
    assert len(view.notes()) == 120
    index.db.begin_anew()
    with pytest.raises(ToolError, match="begun anew during this call") as error:
        view.notes()
    assert error.value.code == "index_unavailable"
    everything(index).level()


def test_clearing_empties_and_fills_again(filled: VaultFolder, opened: Open) -> None:
    index = opened()
    index.reconcile()
    assert index.clear() == {"notes": 120, "chunks": 120, "embeddings": 0}
    until(lambda: index.status().notes_ready)
    assert paths(index) == sorted(NOTES)
