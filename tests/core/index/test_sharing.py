"""Several processes share one index: one of them indexes, all of them read and write, and any of them may die."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from knapper.domain import FileText
from knapper.index.derived import Texts, Unread
from knapper.testing import VaultFolder
from tests.core.index.conftest import Open, Other, content, until

Start = Callable[..., Other]


def is_ready(one: Other) -> bool:
    return bool(one.ask("status")["state"] == "ready")


def leads(one: Other) -> bool:
    return bool(one.ask("status")["leader"])


def test_one_process_indexes_and_all_read_what_any_writes(vault: VaultFolder, other: Start) -> None:
    for n in range(30):
        vault[f"{n}.md"] = f"# Note {n}\n"
    one = other("live")
    until(lambda: is_ready(one))
    two = other("live")
    assert (leads(one), leads(two)) == (True, False)
    assert is_ready(two)
    assert two.ask("find", "7.md")[1] == "Note 7"
    one.ask("write", "first.md", "# From one\n")
    assert two.ask("find", "first.md")[1] == "From one"
    two.ask("write", "second.md", "# From two\n")
    assert one.ask("find", "second.md")[1] == "From two"


def test_when_the_one_that_indexes_is_killed_another_takes_its_place(
    vault: VaultFolder, other: Start
) -> None:
    vault["a.md"] = "# A\n"
    one = other("live", "watch")
    until(lambda: is_ready(one))
    two = other("live", "watch")
    assert not leads(two)
    one.end()
    vault["meanwhile.md"] = "# Meanwhile\n"
    until(lambda: leads(two) and two.ask("find", "meanwhile.md") is not None)
    until(lambda: bool(two.ask("status")["watching"]))
    vault["later.md"] = "# Later\n"
    until(lambda: two.ask("find", "later.md") is not None)


class Held:
    """Holds up whoever compares, at the end, for as long as a test wants."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.texts = Texts(frozenset({"png"}), self._known)

    def _known(self, files: Sequence[Unread]) -> Iterator[FileText]:
        self.go.wait(30)
        return iter(())


def test_who_takes_over_says_that_files_are_compared_until_they_are(vault: VaultFolder, opened: Open) -> None:
    vault["a.md"], vault["b.png"] = "# A\n", "x"
    held = Held()
    first = opened()
    first.start()
    until(lambda: first.coverage() == "")
    second = opened(texts=[held.texts])
    second.start()
    assert second.coverage() == ""
    first.close()
    until(lambda: second.coverage() == "indexing: the 2 files in the index are being compared with the vault")
    held.go.set()
    until(lambda: second.coverage() == "")


def test_answers_amid_a_storm_say_that_files_are_compared(vault: VaultFolder, opened: Open) -> None:
    vault["a.md"], vault["b.png"] = "# A\n", "x"
    held = Held()
    held.go.set()
    index, reader = opened(texts=[held.texts]), opened()
    index.reconcile()
    assert reader.coverage() == ""
    held.go.clear()
    for n in range(500):
        vault[f"{n}.txt"] = "x"
    storm = threading.Thread(target=index.refresh, args=[[f"{n}.txt" for n in range(500)]])
    storm.start()
    until(lambda: reader.status().total == 502)
    assert reader.coverage() == "indexing: the 502 files in the index are being compared with the vault"
    held.go.set()
    storm.join()
    assert reader.coverage() == ""


def test_who_believes_itself_alone_since_the_lock_was_removed_does_not_leave_the_index_behind(
    vault: VaultFolder, opened: Open, file: Path
) -> None:
    vault["a.md"] = "# A\n"
    first = opened()
    first.start()
    until(lambda: first.coverage() == "")
    file.with_suffix(".users").unlink()
    second = opened()
    second.start()
    until(lambda: first.coverage() == second.coverage() == "")
    assert (first.leads, second.leads) == (True, False)


def test_a_first_run_whose_process_is_killed_is_finished_by_another(
    vault: VaultFolder, other: Start, opened: Open, tmp_path: Path
) -> None:
    for n in range(600):
        vault[f"{n}.md"] = f"# Note {n}\n\n[[{(n + 1) % 600}]] word{n}\n"
    one, two = other("live"), other("live")
    one.end()
    until(lambda: is_ready(two), 60)
    index, fresh = opened(), opened(tmp_path / "fresh" / "main.db")
    fresh.reconcile()
    assert content(index) == content(fresh)


def test_processes_that_write_and_ask_at_once_neither_fail_nor_lose_anything(
    vault: VaultFolder, other: Start, opened: Open, tmp_path: Path
) -> None:
    for n in range(200):
        vault[f"old/{n}.md"] = f"[[old/{(n + 1) % 200}]]\n"
    writers = [other("live"), other(), other()]
    reader, builder = other(), other()
    reader.tell("ask_many", 60)
    builder.tell("force")
    for number, writer in enumerate(writers):
        writer.tell("write_many", f"w{number}", 40)
    assert [writer.hear() for writer in writers] == [0, 0, 0]
    assert reader.hear() == 60
    assert builder.hear() >= 200
    builder.ask("reconcile")
    index, fresh = opened(), opened(tmp_path / "fresh" / "main.db")
    assert index.db.rebuilt == ""
    fresh.reconcile()
    assert len(content(fresh)["files"]) == 320
    assert content(index) == content(fresh)
