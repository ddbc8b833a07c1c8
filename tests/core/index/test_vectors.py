"""Vectors: the same contract for both engines, and nothing of text search depends on them."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from knapper.config.model import IndexSettings, WatchSettings
from knapper.errors import ToolError
from knapper.index import nearest, vectors
from knapper.index.engine import Index
from knapper.index.view import IndexView
from knapper.testing import VaultFolder
from knapper.vault.disk import Disk


class Letters:
    """How often each letter occurs; counts what it is asked, and refuses what it is told to."""

    def __init__(self, identity: str = "letters/1", width: int = 26) -> None:
        self.identity = identity
        self.dimensions = width
        self.asked: list[str] = []
        self.refuses = ""
        self.down = False

    def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        if self.down:
            raise ToolError("embedding_provider_error", "down")
        if self.refuses and any(self.refuses in text for text in texts):
            raise ToolError("embedding_provider_error", "refused", status=413)
        if not query:
            self.asked += texts
        letters = "abcdefghijklmnopqrstuvwxyz"[: self.dimensions]
        rows = np.array([[t.lower().count(c) + 1e-3 for c in letters] for t in texts], np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


Open = Callable[..., Index]


@pytest.fixture(params=["sqlite-vec", "sqlite-vec in memory", "numpy"])
def opened(
    request: pytest.FixtureRequest, vault: VaultFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """Opens the vault's index with a model, in turn with each engine."""
    engine = request.param.partition(" ")[0]
    if engine == "numpy":
        monkeypatch.setattr(vectors, "prepare", lambda conn: None)
    elif request.param == engine:
        monkeypatch.setattr(nearest, "IN_MEMORY", -1)
    running: list[Index] = []

    def open_(model: Any, **cutting: int) -> Index:
        for one in running:
            one.close()
        running.clear()
        index = Index(
            Disk(vault.path),
            tmp_path / "index.db",
            settings=IndexSettings(processes=1, **cutting),
            watch=WatchSettings(enabled=False),
            embedding=(lambda: model) if model is not None else None,
        )
        if model is not None and index.vectors.engine != engine:
            pytest.skip(f"this SQLite has no {engine}")
        running.append(index)
        index.reconcile()
        return index

    yield open_
    for one in running:
        one.close()


def near(index: Index, query: str, k: int = 10, readable: Any = None, root: str = "") -> list[str]:
    view = IndexView(index, readable)
    found = view.by_meaning(query, k, root=root)
    rows = view.chunks(s.chunk for s in found)
    return [rows[s.chunk].path for s in found]


def test_the_nearest_come_first_and_equals_by_their_number(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "zzzz"
    vault["b.md"] = "xyxyx"
    vault["c.md"] = "zzzz"
    index = opened(Letters())
    index.vectors.embed_now()
    assert near(index, "zzzz zz")[:2] == ["a.md", "c.md"]
    assert near(index, "xyxy", 1) == ["b.md"]


def test_scores_are_cosines(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "qqqq"
    index = opened(Letters())
    index.vectors.embed_now()
    (found,) = IndexView(index, None).by_meaning("a\n\nqqqq", 5)
    assert abs(found.score - 1.0) < 1e-5


def test_the_folder_and_the_callers_rules_hold_inside_the_search(opened: Open, vault: VaultFolder) -> None:
    for n in range(100):
        vault[f"secret/{n}.md"] = "zzzz zzzz"
    vault["open/in/a.md"] = "zebra"
    vault["open/b.md"] = "zoo"
    index = opened(Letters())
    index.vectors.embed_now()
    assert near(index, "zzzz", 5, lambda path: path.startswith("open/")) == ["open/b.md", "open/in/a.md"]
    assert near(index, "zzzz", 5, root="open/in") == ["open/in/a.md"]


def test_a_changed_passage_is_embedded_and_the_others_are_not(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "# One\n\nalpha text here\n\n# Two\n\nbeta text here\n"
    model = Letters()
    index = opened(model)
    index.vectors.embed_now()
    assert len(model.asked) == 2
    vault["a.md"] = "# One\n\nalpha text here\n\n# Two\n\ngamma text here\n"
    index.reconcile()
    index.vectors.embed_now()
    assert len(model.asked) == 3
    assert "gamma" in model.asked[2]


def test_a_moved_note_keeps_its_vectors(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "---\ntitle: T\n---\nalpha text\n"
    model = Letters()
    index = opened(model)
    index.vectors.embed_now()
    vault["b.md"] = vault["a.md"]
    index.reconcile()
    index.vectors.embed_now()
    assert len(model.asked) == 1
    assert sorted(near(index, "alpha")) == ["a.md", "b.md"]


def test_what_is_gone_is_not_found_and_its_vector_goes(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "zzzz"
    vault["b.md"] = "zzz"
    index = opened(Letters())
    index.vectors.embed_now()
    del vault["a.md"]
    index.reconcile()
    assert near(index, "zzzz") == ["b.md"]
    index.vectors.embed_now()
    with index.db.read() as conn:
        assert conn.execute("SELECT count(*) FROM vectors").fetchone()[0] == 1


@pytest.mark.parametrize("other", [Letters("letters/2"), Letters("letters/1/20", 20)])
def test_another_model_embeds_everything_anew(opened: Open, vault: VaultFolder, other: Letters) -> None:
    other.asked.clear()
    vault["a.md"] = "zzzz"
    opened(Letters()).vectors.embed_now()
    index = opened(other)
    with pytest.raises(ToolError, match="another model's"):
        near(index, "zzzz")
    index.vectors.embed_now()
    assert len(other.asked) == 1
    assert near(index, "zzzz") == ["a.md"]
    assert index.vectors.identity() == other.identity


def test_the_same_model_finds_its_vectors_again(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "zzzz"
    opened(Letters()).vectors.embed_now()
    again = Letters()
    index = opened(again)
    assert index.vectors.ready()
    index.vectors.embed_now()
    assert again.asked == []
    assert near(index, "zzzz") == ["a.md"]


def test_another_way_to_cut_embeds_only_the_passages_that_are_new(
    opened: Open, vault: VaultFolder, tmp_path: Path
) -> None:
    vault["short.md"] = "zzzz"
    vault["long.md"] = f"{'abc ' * 30}\n\n{'xyz ' * 30}"
    opened(Letters()).vectors.embed_now()
    again = Letters()
    index = opened(again, chunk_chars=130, max_chunk_chars=150)
    assert index.db.rebuilt == "made by another version or configuration"
    index.vectors.embed_now()
    assert sorted(text.split()[2] for text in again.asked) == ["abc", "xyz"]
    assert near(index, "zzzz")[0] == "short.md"
    assert not list(tmp_path.glob("*.before*"))


def test_another_way_to_cut_with_another_model_embeds_everything(opened: Open, vault: VaultFolder) -> None:
    vault["short.md"] = "zzzz"
    opened(Letters()).vectors.embed_now()
    again = Letters("letters/2")
    index = opened(again, chunk_chars=130, max_chunk_chars=150)
    index.vectors.embed_now()
    assert len(again.asked) == 1


def test_what_was_set_aside_waits_until_the_notes_are_read(
    opened: Open, vault: VaultFolder, tmp_path: Path
) -> None:
    vault["short.md"] = "zzzz"
    opened(Letters()).vectors.embed_now()
    opened(None, chunk_chars=130, max_chunk_chars=150)
    assert not list(tmp_path.glob("*.before*")), "without a model nobody wants it"
    opened(Letters()).vectors.embed_now()
    again = Letters()
    index = opened(again, chunk_chars=130, max_chunk_chars=150)
    with index.db.write() as conn:
        conn.execute("DELETE FROM meta WHERE key = 'level'")
    index.vectors.embed_now()
    assert list(tmp_path.glob("*.before"))
    assert again.asked == []


def test_a_damaged_index_that_was_set_aside_costs_its_vectors_and_nothing_else(
    opened: Open, vault: VaultFolder, tmp_path: Path
) -> None:
    vault["short.md"] = "zzzz"
    opened(Letters()).vectors.embed_now()
    again = Letters()
    index = opened(again, chunk_chars=130, max_chunk_chars=150)
    for file in tmp_path.glob("*.before"):
        file.write_bytes(b"not a database at all" * 500)
    index.vectors.embed_now()
    assert len(again.asked) == 1
    assert near(index, "zzzz") == ["short.md"]


def test_a_text_that_is_refused_is_put_aside_until_it_changes(opened: Open, vault: VaultFolder) -> None:
    vault["good.md"] = "zzzz"
    vault["bad.md"] = "poison here"
    model = Letters()
    model.refuses = "poison"
    index = opened(model)
    index.vectors.embed_now()
    assert (index.vectors.refused(), index.vectors.ready(), near(index, "zzzz")) == (1, True, ["good.md"])
    vault["bad.md"] = "harmless now"
    index.reconcile()
    assert not index.vectors.ready()
    index.vectors.embed_now()
    assert sorted(near(index, "z")) == ["bad.md", "good.md"]


def test_text_search_never_waits_for_a_model(opened: Open, vault: VaultFolder) -> None:
    from knapper.page import Page

    vault["a.md"] = "stone"
    model = Letters()
    model.down = True
    index = opened(model)
    with pytest.raises(ToolError, match="down"):
        index.vectors.embed_now()
    view = IndexView(index, None)
    assert [hit.path for hit in view.literal(Page(), "stone")[0]] == ["a.md"]
    assert len(view.by_words("stone", 5)) == 1


def test_the_background_gives_every_passage_its_vector(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "zzzz"
    index = opened(Letters())
    index.vectors.start()
    done = threading.Event()
    for _ in range(1000):
        if index.vectors.ready():
            break
        done.wait(0.01)
    assert near(index, "zzzz") == ["a.md"]


@pytest.mark.parametrize("rows", [np.zeros((1, 3), np.float32), np.full((1, 26), np.nan, np.float32)])
def test_what_a_model_makes_is_checked_before_it_is_kept(
    opened: Open, vault: VaultFolder, rows: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    vault["a.md"] = "zzzz"
    model = Letters()
    index = opened(model)
    monkeypatch.setattr(model, "embed", lambda texts, *, query: rows)
    with pytest.raises(ToolError, match="vectors of shape"):
        index.vectors.embed_now()
    assert index.vectors.missing() == 1


def test_a_list_of_links_is_no_answer_but_can_be_read(opened: Open, vault: VaultFolder) -> None:
    vault["a.md"] = "# Flint\n\nHow flint breaks.\n\n## See also\n\n- [[One]]\n- [[Two]]\n"
    vault["moc.md"] = "- [[One]]\n- [[Two]]\n"
    model = Letters()
    index = opened(model)
    index.vectors.embed_now()
    view = IndexView(index, None)
    assert [row.headings for row in view.chunks_of("a.md")] == [("Flint",), ("Flint", "See also")]
    assert len(model.asked) == 2
    assert len(view.by_words("flint", 10)) == 1
    assert [view.chunks([s.chunk])[s.chunk].path for s in view.by_words("two", 10)] == ["moc.md"]
    vault["a.md"] = "nothing left"
    index.reconcile()
    assert view.by_words("flint", 10) == []


def test_reading_blocks_gives_what_reading_rows_gives(opened: Open, vault: VaultFolder) -> None:
    from knapper.index import matrix

    for n in range(40):
        vault[f"{n}.md"] = f"note {'abcdefghij'[n % 10] * (n + 1)}"
    index = opened(Letters())
    index.vectors.embed_now()
    del vault["7.md"]
    vault["8.md"] = "changed"
    index.reconcile()
    index.vectors.embed_now()
    if index.vectors.engine != "sqlite-vec":
        pytest.skip("only sqlite-vec keeps blocks")
    with index.db.read() as conn:
        blocks = matrix._in_blocks(conn, "vec", 26, 39)
        ids, rows = matrix._one_by_one(conn, "vec", 26)
        assert blocks is not None
        assert blocks[0].tolist() == ids.tolist()
        assert blocks[1].tolist() == rows.tolist()
        assert matrix._in_blocks(conn, "vec", 26, 38) is None
        assert matrix._in_blocks(conn, "vec", 25, 39) is None


def test_vectors_dropped_while_more_are_made_are_all_made_again(opened: Open, vault: VaultFolder) -> None:
    notes = vectors.BATCH + 20
    for n in range(notes):
        vault[f"{n}.md"] = f"zebra {n}"

    class Dropping(Letters):
        """Has somebody drop all vectors once, between two batches or in the middle of one."""

        def embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
            if len(self.asked) >= vectors.BATCH and not dropped:
                dropped.append(index.vectors.clear())
            return super().embed(texts, query=query)

    dropped: list[int] = []
    index = opened(Dropping())
    index.vectors.embed_now()
    assert dropped == [vectors.BATCH]
    index.vectors.embed_now()
    assert index.vectors.missing() == 0
    with index.db.read() as conn:
        (held,) = conn.execute("SELECT count(*) FROM vectors").fetchone()
    assert held == notes


def test_what_has_its_vector_is_not_looked_through_for_what_has_none(
    opened: Open, vault: VaultFolder
) -> None:
    def instructions(index: Index) -> int:
        taken = 0

        def count() -> None:
            nonlocal taken
            taken += 1

        with index.db.read() as conn:
            conn.set_progress_handler(count, 1)
            try:
                assert index.vectors.missing() == 1
            finally:
                conn.set_progress_handler(None, 0)
        return taken

    model, taken = Letters(), []
    for notes in (10, 300):
        for n in range(notes):
            vault[f"{n}.md"] = f"zebra {n}"
        index = opened(model)
        index.vectors.embed_now()
        vault[f"one more after {notes}.md"] = "zebra"
        index.reconcile()
        taken.append(instructions(index))
        index.vectors.embed_now()
    assert taken[0] == taken[1]
