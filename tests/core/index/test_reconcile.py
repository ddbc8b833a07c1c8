from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from knapper.index import loading, words
from knapper.index import reconcile as module
from knapper.index.engine import Index
from knapper.index.loading import facts
from knapper.index.reconcile import Result
from knapper.page import Page
from knapper.store.sqlite import sqlite_module
from knapper.testing import VaultFolder
from tests.core.index.conftest import Open, content, everything, paths, until
from tests.core.index.extracts import shouts


def test_a_cold_build_takes_in_every_file_and_a_second_look_finds_nothing_to_do(
    vault: VaultFolder, index: Index
) -> None:
    vault["a.md"], vault["b/c.markdown"], vault["b/pic.png"] = "[[c]]", "text", "x"
    assert index.reconcile() == Result(upserted=3, deleted=0, unchanged=0)
    assert paths(index) == ["a.md", "b/c.markdown", "b/pic.png"]
    assert index.reconcile() == Result(upserted=0, deleted=0, unchanged=3)


def test_only_what_changed_is_read_again(vault: VaultFolder, index: Index) -> None:
    vault["same.md"], vault["changed.md"], vault["gone.md"] = "1", "1", "1"
    index.reconcile()
    vault["changed.md"] = "longer"
    del vault["gone.md"]
    vault["new.md"] = "1"
    assert index.reconcile() == Result(upserted=2, deleted=1, unchanged=1)
    assert paths(index) == ["changed.md", "new.md", "same.md"]


def test_a_file_that_was_replaced_by_one_of_the_same_size_and_time_is_read_again(
    vault: VaultFolder, index: Index, tmp_path: Path
) -> None:
    vault["a.md"] = "# One"
    index.reconcile()
    before = (vault.path / "a.md").stat()
    (tmp_path / "other").write_text("# Two")
    os.utime(tmp_path / "other", ns=(before.st_atime_ns, before.st_mtime_ns))
    (tmp_path / "other").replace(vault.path / "a.md")
    index.reconcile()
    assert everything(index).select()[0].title == "Two"


def test_force_reads_everything(vault: VaultFolder, index: Index) -> None:
    vault["a.md"] = "1"
    index.reconcile()
    assert index.reconcile(force=True) == Result(upserted=1, deleted=0, unchanged=0)


class Cancelled(Exception):
    """What a caller's report of progress raises where its client has gone."""


def cancel(done: int, total: int) -> None:
    raise Cancelled


def test_a_vault_that_is_read_anew_stays_covered_also_where_that_is_cancelled(
    vault: VaultFolder, index: Index
) -> None:
    for n in range(200):
        vault[f"{n}.md"] = "text"
    index.reconcile()
    with pytest.raises(Cancelled):
        index.reconcile(force=True, progress=cancel)
    assert (index.coverage(), index.status().state) == ("", "ready")


def test_what_a_cancelled_comparison_leaves_undone_is_done_without_anybody_asking(
    vault: VaultFolder, opened: Open
) -> None:
    index = opened()
    index.start()
    until(lambda: index.status().state == "ready")
    for n in range(200):
        vault[f"{n}.md"] = "text"
    with pytest.raises(Cancelled):
        index.reconcile(progress=cancel)
    until(
        lambda: index.status().indexed == 200, seconds=15
    )  # sooner than where nobody watches all is compared


def allow_pages(index: Index, most: int) -> None:
    """Let the index have so many pages, as a disk with no more room does; never fewer than it has."""
    with index.db.write() as conn:
        conn.execute(f"PRAGMA max_page_count = {most}").fetchall()


BEHIND = "the index is behind the files (OperationalError); it is tried again"


def test_what_could_not_be_taken_in_is_missing_in_no_answer_that_does_not_say_so(
    vault: VaultFolder, index: Index
) -> None:
    index.reconcile()
    allow_pages(index, 1)
    vault["long.md"] = "".join(f"word{number} " for number in range(20_000))
    index.wrote([("long.md", vault.bytes("long.md"), index.stat("long.md"))])
    assert paths(index) == []
    assert (index.coverage(), index.status().state) == (BEHIND, "degraded")
    with pytest.raises(sqlite_module().OperationalError):
        index.reconcile()
    assert index.coverage() != ""
    allow_pages(index, 1_000_000)
    index.reconcile()
    assert (paths(index), index.coverage(), index.status().state) == (["long.md"], "", "ready")


def test_a_process_that_does_not_index_takes_in_by_itself_what_it_failed_to(
    vault: VaultFolder, opened: Open
) -> None:
    leader, second = opened(), opened()
    leader.start()
    until(lambda: leader.coverage() == "")
    second.start()
    allow_pages(second, 1)
    vault["long.md"] = "".join(f"word{number} " for number in range(20_000))
    second.wrote([("long.md", vault.bytes("long.md"), second.stat("long.md"))])
    assert second.coverage() != ""
    allow_pages(second, 1_000_000)
    until(lambda: second.coverage() == "")
    assert (paths(second), second.leads) == (["long.md"], False)


def test_a_folder_is_compared_alone(vault: VaultFolder, index: Index) -> None:
    vault["in/a.md"], vault["in2/b.md"], vault["c.md"] = "1", "1", "1"
    assert index.reconcile("in") == Result(upserted=1, deleted=0, unchanged=0)
    assert paths(index) == ["in/a.md"]
    assert index.status().notes_ready is False
    index.reconcile()
    del vault["in/a.md"], vault["c.md"]
    assert index.reconcile("in") == Result(upserted=0, deleted=1, unchanged=0)
    assert paths(index) == ["c.md", "in2/b.md"]


def test_progress_is_told_and_ends_with_all(
    vault: VaultFolder, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NOTES", 2)
    for number in range(5):
        vault[f"{number}.md"] = "1"
    vault["pic.png"] = "x"
    told: list[tuple[int, int]] = []
    index.reconcile(progress=lambda done, total: told.append((done, total)))
    assert told == [(3, 6), (5, 6), (6, 6)]


def test_worker_processes_give_the_same_index_as_this_one(
    vault: VaultFolder, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knapper.index import workers

    monkeypatch.setattr(workers, "WORTH", 10)
    monkeypatch.setattr(workers, "BATCH", 3)
    for number in range(40):
        vault[f"{number % 4}/{number}.md"] = (
            f"# Note {number}\n\nLOUD #t{number % 3} [[{number + 1}]] é東京\n"
        )
    vault["broken.md"] = b"\xff\xfe"
    alone, shared = opened(extractors=[shouts]), opened(tmp_path / "two.db", extractors=[shouts], processes=2)
    alone.reconcile()
    shared.reconcile()
    assert content(shared) == content(alone)
    assert len(content(alone)["x_test_shouts"]) == 40


def test_a_worker_that_dies_costs_nothing(
    vault: VaultFolder, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knapper.index import workers

    monkeypatch.setattr(workers, "WORTH", 10)
    monkeypatch.setattr(workers, "BATCH", 1)
    spawn = workers._spawn

    def dying(order: workers.Order) -> object:
        child = spawn(order)
        child.kill()
        return child

    monkeypatch.setattr(workers, "_spawn", dying)
    for number in range(20):
        vault[f"{number}.md"] = f"# Title {number}"
    index = opened(processes=2)
    index.reconcile()
    assert {row.title for row in everything(index).select()} == {f"Title {number}" for number in range(20)}
    assert index.pending() == 0


def test_links_resolve_whatever_the_order_in_which_notes_are_read(vault: VaultFolder, index: Index) -> None:
    vault["a.md"], vault["z.md"] = "[[z]] [[later]]", "[[a]]"
    index.reconcile()
    vault["later.md"] = ""
    index.reconcile()
    edges = everything(index).edges()
    assert edges == [("a.md", "later.md", 1), ("a.md", "z.md", 1), ("z.md", "a.md", 1)]


def test_what_another_process_puts_during_a_long_run_is_what_links_lead_to(
    vault: VaultFolder, index: Index, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MANY", 1)
    monkeypatch.setattr(module, "NOTES", 1)
    for number in range(4):
        vault[f"{number}.md"] = "[[new]] [[0]]"
    beside = opened()

    def write_between(done: int, total: int) -> None:
        if done == 2:
            vault["new.md"] = "here"
            stat = beside.disk.stat("new.md")
            assert stat is not None
            beside.wrote([("new.md", b"here", facts(stat))])

    index.reconcile(progress=write_between)
    assert everything(index).referring("new.md") == ["0.md", "1.md", "2.md", "3.md"]


def test_a_note_written_again_after_it_was_read_keeps_its_new_text(
    vault: VaultFolder, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault["a.md"] = "# Old"
    read = loading.read_note

    def written_meanwhile(*given: object) -> object:
        rows = read(*given)  # type: ignore[arg-type]
        vault["a.md"] = "# Newer"
        stat = index.disk.stat("a.md")
        assert stat is not None
        index.wrote([("a.md", b"# Newer", facts(stat))])
        return rows

    monkeypatch.setattr(module, "read_note", written_meanwhile)
    index.reconcile()
    assert everything(index).select()[0].title == "Newer"


def test_a_file_that_comes_back_before_it_is_taken_out_stays(
    vault: VaultFolder, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault["a.md"] = "# One"
    index.reconcile()
    del vault["a.md"]
    plan = module.plan

    def back_again(*given: object) -> module.Plan:
        found = plan(*given)  # type: ignore[arg-type]
        vault["a.md"] = "# Two"
        return found

    monkeypatch.setattr(module, "plan", back_again)
    index.reconcile()
    monkeypatch.undo()
    index.reconcile()
    assert [row.title for row in everything(index).select()] == ["Two"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs files that this user cannot read")
def test_a_note_that_cannot_be_read_is_known_by_name_and_read_when_it_can_be(
    vault: VaultFolder, index: Index
) -> None:
    vault["a.md"] = "# Secret"
    (vault.path / "a.md").chmod(0)
    index.reconcile()
    assert [(r.path, r.title, r.problem) for r in everything(index).select()] == [
        ("a.md", "a", "FILE_READ_FAILED")
    ]
    (vault.path / "a.md").chmod(0o600)
    index.reconcile()
    assert [(r.title, r.problem) for r in everything(index).select()] == [("Secret", None)]


def test_a_run_that_is_stopped_says_what_is_left_and_the_next_one_does_it(
    vault: VaultFolder, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NOTES", 1)
    for number in range(4):
        vault[f"{number}.md"] = "1"
    first = opened()
    first.reconcile(progress=lambda done, total: first._stop.set() if done == 2 else None)
    first.close()
    second = opened()
    before = second.status()
    assert (before.state, before.notes_ready, before.indexed, before.total) == ("indexing", False, 2, 4)
    assert second.reconcile() == Result(upserted=2, deleted=0, unchanged=2)
    assert second.status().notes_ready


def test_two_at_once_do_not_disturb_each_other(vault: VaultFolder, index: Index, opened: Open) -> None:
    for number in range(60):
        vault[f"{number}.md"] = f"[[{number + 1}]] text"
    beside = opened()
    threads = [threading.Thread(target=one.reconcile) for one in (index, beside, index)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    index.reconcile()
    assert len(paths(index)) == 60
    assert len(everything(index).edges()) == 59


def test_a_first_run_leaves_the_full_text_tables_in_one_piece(opened: Open, vault: VaultFolder) -> None:
    vault.update({f"{number}.md": f"word{number} " * 40 for number in range(module.MANY + 50)})
    index = opened()
    index.reconcile()
    with index.db.read() as conn:
        for table in ("literal", "ranked"):
            assert conn.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx").fetchone()[0] == 1
    found, _ = everything(index).literal(Page(), "word77")
    assert [hit.path for hit in found] == ["77.md"]


def pieces(index: Index) -> list[int]:
    """In how many pieces each full-text table is."""
    with index.db.read() as conn:
        sql = "SELECT count(DISTINCT segid) FROM {}_idx"
        return [conn.execute(sql.format(table)).fetchone()[0] for table in module.FULL_TEXT]


def merging(index: Index) -> list[bool]:
    with index.db.read() as conn:
        return [words.is_merging(conn, table) for table in module.FULL_TEXT]


@pytest.mark.parametrize("commits", [3, 1000])
def test_a_first_run_folds_the_full_text_once_and_later_ones_as_they_go(
    vault: VaultFolder, index: Index, monkeypatch: pytest.MonkeyPatch, commits: int
) -> None:
    monkeypatch.setattr(module, "MANY", 20)
    monkeypatch.setattr(module, "NOTES", 1)
    monkeypatch.setattr(module, "MERGED_COMMITS", commits)
    for number in range(30):
        vault[f"{number}.md"] = f"word{number} text"
    seen: list[list[bool]] = []
    most: list[int] = []

    def progress(done: int, total: int) -> None:
        seen.append(merging(index))
        most.append(max(pieces(index)))

    index.reconcile(progress=progress)
    assert seen == [[False, False]] * 30
    assert (max(most) < 10) == (commits == 3)
    assert (pieces(index), merging(index)) == ([1, 1], [True, True])
    found = content(index)["literal"]
    assert {(row[0], row[1]) for row in found if row[1] != "text"} == {
        (f"{number}.md", f"word{number}") for number in range(30)
    }


def test_a_first_run_that_was_killed_leaves_nothing_that_the_next_start_does_not_set_right(
    vault: VaultFolder, index: Index, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MANY", 20)
    monkeypatch.setattr(module, "NOTES", 1)
    for number in range(30):
        vault[f"{number}.md"] = "text"

    def killed(done: int, total: int) -> None:
        if done == 25:
            raise Cancelled

    with pytest.raises(Cancelled):
        index.reconcile(progress=killed)
    assert merging(index) == [False, False]
    index.close()
    second = opened()
    second.reconcile()
    assert merging(second) == [True, True]
    assert len(paths(second)) == 30
