"""Snapshots: what was there before, kept once, found again, and enough of it to undo a session."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knapper.errors import ToolError
from knapper.store import blobs
from knapper.store.snapshots import Before, Snapshots
from knapper.store.state import State


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def snapshots(state: State, clock: Any) -> Snapshots:
    return Snapshots(state, retention=3, now=clock)


def blob_rows(state: State) -> list[tuple[str, str]]:
    with state.read() as conn:
        rows = conn.exec_driver_sql("SELECT vault_id, hash FROM snapshot_blobs ORDER BY 1, 2").all()
    return [(vault, hash) for vault, hash in rows]


def test_a_snapshot_gives_back_the_bytes_and_tells_what_happened(snapshots: Snapshots) -> None:
    id = snapshots.take("main", "a.md", b"hello", "overwrite", "s1", "write_note")
    assert snapshots.read("main", id) == b"hello"
    taken = snapshots.get("main", id)
    assert (taken.path, taken.hash, taken.size) == ("a.md", sha(b"hello"), 5)
    assert (taken.op, taken.session, taken.tool, taken.created_at) == (
        "overwrite",
        "s1",
        "write_note",
        1_000_000.0,
    )
    assert not taken.landed


@given(data=st.binary(max_size=3000), times=st.integers(1, 60))
def test_whatever_is_packed_comes_back_whole(data: bytes, times: int) -> None:
    blob = blobs.pack(data * times)
    assert (blob.hash, blob.size) == (sha(data * times), len(data) * times)
    assert len(blob.content) <= blob.size
    assert blobs._unpack(blob.codec, blob.content) == data * times


def test_text_is_kept_compressed_and_noise_as_it_is(snapshots: Snapshots, state: State) -> None:
    noise = os.urandom(200_000)
    snapshots.take("main", "a.md", b"# note\n" * 1000, "overwrite")
    id = snapshots.take("main", "a.png", noise, "overwrite")
    with state.read() as conn:
        kept = conn.exec_driver_sql(
            "SELECT codec, size, length(content) < 500 FROM snapshot_blobs ORDER BY size"
        ).all()
    assert [tuple(row) for row in kept] == [("zlib", 7000, 1), ("raw", 200_000, 0)]
    assert snapshots.read("main", id) == noise


def test_the_same_content_is_kept_once_a_vault(snapshots: Snapshots, state: State) -> None:
    snapshots.take("main", "a.md", b"same", "overwrite")
    snapshots.take("main", "b.md", b"same", "overwrite")
    snapshots.take("other", "a.md", b"same", "overwrite")
    assert blob_rows(state) == [("main", sha(b"same")), ("other", sha(b"same"))]


def test_a_creation_is_kept_as_no_file_before(snapshots: Snapshots) -> None:
    id = snapshots.take("main", "new.md", None, "create", "s1")
    snapshots.landed([id], [sha(b"new")])
    taken = snapshots.get("main", id)
    assert (taken.hash, taken.after_hash, taken.landed) == (None, sha(b"new"), True)
    assert snapshots.read("main", id) is None


def test_an_empty_file_is_not_an_absent_one(snapshots: Snapshots) -> None:
    id = snapshots.take("main", "a.md", b"", "overwrite")
    assert snapshots.get("main", id).hash == sha(b"")
    assert snapshots.read("main", id) == b""


def test_another_vaults_snapshot_is_unknown(snapshots: Snapshots) -> None:
    id = snapshots.take("other", "a.md", b"secret", "overwrite")
    for ask in (snapshots.read, snapshots.get):
        with pytest.raises(ToolError, match=f"there is no snapshot {id} in vault 'main'"):
            ask("main", id)


def test_damaged_content_is_an_error_and_never_other_bytes(snapshots: Snapshots, state: State) -> None:
    id = snapshots.take("main", "a.md", b"hello", "overwrite")
    for codec, content in (("raw", b"jello"), ("zlib", b"junk")):
        with state.write() as conn:
            conn.exec_driver_sql("UPDATE snapshot_blobs SET codec = ?, content = ?", (codec, content))
        with pytest.raises(ToolError, match="is missing or damaged"):
            snapshots.read("main", id)


def test_the_list_is_paged_newest_first_and_survives_new_snapshots_between_pages(
    snapshots: Snapshots,
) -> None:
    ids = [snapshots.take("main", "a.md", str(number).encode(), "overwrite") for number in range(5)]
    snapshots.take("main", "b.md", b"b", "overwrite")
    first = snapshots.list("main", "a.md", limit=2)
    snapshots.take("main", "a.md", b"newer", "overwrite")
    rest = snapshots.list("main", "a.md", before=first[-1].id)
    assert [taken.id for taken in first] == [ids[4], ids[3]]
    assert [taken.id for taken in rest] == [ids[2], ids[1], ids[0]]
    assert snapshots.count("main", "a.md") == 6
    assert snapshots.count("main") == 7


def test_what_may_not_be_read_is_neither_listed_nor_counted(snapshots: Snapshots) -> None:
    snapshots.take("main", "private/a.md", b"1", "overwrite")
    shown = snapshots.take("main", "b.md", b"2", "overwrite")
    snapshots.take("main", "c.md", b"3", "move", moved_to="private/c.md")

    def allow(path: str) -> bool:
        return not path.startswith("private/")

    assert [taken.id for taken in snapshots.list("main", allow=allow, limit=1)] == [shown]
    assert snapshots.count("main", allow=allow) == 1


def test_the_latest_of_a_path_is_its_newest_and_none_where_there_is_none(snapshots: Snapshots) -> None:
    snapshots.take("main", "a.md", b"1", "overwrite")
    newest = snapshots.take("main", "a.md", b"2", "overwrite")
    latest = snapshots.latest("main", "a.md")
    assert latest is not None
    assert latest.id == newest
    assert snapshots.latest("main", "b.md") is None


def test_a_session_is_told_in_order_with_what_was_before_and_after(snapshots: Snapshots) -> None:
    created = snapshots.take("main", "a.md", None, "create", "s1", "write_note")
    snapshots.landed([created], [sha(b"one")])
    moved = snapshots.take("main", "a.md", b"one", "move", "s1", "move_note", moved_to="b.md")
    snapshots.landed([moved], [sha(b"one")])
    snapshots.take("main", "x.md", b"x", "overwrite", "s2", "write_note")
    deleted = snapshots.take("main", "b.md", b"one", "delete", "s1", "delete_note")
    snapshots.landed([deleted], [None])
    lost = snapshots.take("main", "c.md", b"c", "overwrite", "s1", "write_note")
    changes = [
        (change.id, change.path, change.moved_to, change.hash, change.after_hash, change.landed)
        for change in snapshots.session_changes("main", "s1")
    ]
    assert changes == [
        (created, "a.md", None, None, sha(b"one"), True),
        (moved, "a.md", "b.md", sha(b"one"), sha(b"one"), True),
        (deleted, "b.md", None, sha(b"one"), None, True),
        (lost, "c.md", None, sha(b"c"), None, False),
    ]
    assert snapshots.session_changes("other", "s1") == []


def test_many_files_are_kept_together_or_not_at_all(snapshots: Snapshots, state: State, undone: Any) -> None:
    files = [Before(f"{number}.md", str(number).encode(), "overwrite") for number in range(100)]
    ids = snapshots.take_many("main", files, "s1", "bulk_move")
    assert [snapshots.read("main", id) for id in ids] == [str(number).encode() for number in range(100)]
    with undone(state):
        snapshots.take_many("main", files, "s2", "bulk_move")
    assert snapshots.count("main") == 100


def test_landing_needs_one_hash_a_snapshot(snapshots: Snapshots) -> None:
    id = snapshots.take("main", "a.md", b"a", "overwrite")
    with pytest.raises(ValueError, match="zip"):
        snapshots.landed([id], [])


def test_pruning_keeps_the_newest_of_each_path_and_drops_unused_content(
    snapshots: Snapshots, state: State
) -> None:
    for number in range(6):
        snapshots.take("main", "a.md", str(number).encode(), "overwrite")
        snapshots.take("main", "b.md", b"constant", "overwrite")
    assert snapshots.prune() == 6
    kept = snapshots.list("main", "a.md")
    assert [snapshots.read("main", taken.id) for taken in kept] == [b"5", b"4", b"3"]
    assert {hash for _, hash in blob_rows(state)} == {sha(b"3"), sha(b"4"), sha(b"5"), sha(b"constant")}
    assert snapshots.prune() == 0


def test_pruning_leaves_a_recent_session_what_undoing_it_needs(snapshots: Snapshots, clock: Any) -> None:
    for number in range(8):
        id = snapshots.take("main", "a.md", str(number).encode(), "overwrite", "s1")
        snapshots.landed([id], [sha(str(number + 1).encode())])
    for _ in range(4):
        snapshots.take("main", "a.md", b"later", "overwrite", "s2")
    snapshots.prune()
    changes = [(change.hash, change.after_hash) for change in snapshots.session_changes("main", "s1")]
    assert changes == [(sha(b"0"), sha(b"1")), (sha(b"7"), sha(b"8"))]
    clock.forward(7 * 86400 + 1)
    snapshots.prune()
    assert snapshots.session_changes("main", "s1") == []


def test_pruning_leaves_a_recent_sessions_moves(snapshots: Snapshots) -> None:
    for number in range(3):
        snapshots.take("main", "a.md", b"a", "overwrite", "s1")
        snapshots.take("main", "a.md", b"a", "move", "s1", moved_to=f"{number}.md")
    for _ in range(4):
        snapshots.take("main", "a.md", b"later", "overwrite", "s2")
    snapshots.prune()
    assert [change.moved_to for change in snapshots.session_changes("main", "s1")] == [
        None,
        "0.md",
        "1.md",
        "2.md",
    ]
