"""Text of files that are not notes: found with its page, and gone with the content it was read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import pytest

from knapper import Page
from knapper.domain import FileText
from knapper.index.derived import Texts, Unread
from knapper.index.engine import Index
from knapper.index.loading import facts
from knapper.index.view import IndexView
from knapper.testing import VaultFolder
from tests.core.index.conftest import Open, content, everything

PAGES = ["The heron stands\nin shallow water", "", "A rare bittern\nbooms at dusk"]


class Kept:
    """What somebody has read of files, by content; it counts the files it was asked about."""

    def __init__(self) -> None:
        self.pages: dict[str, list[str]] = {}
        self.sizes: set[int] = set()
        self.asked: list[str] = []
        self.source = Texts(frozenset({"pdf", "png"}), self.known)

    def learn(self, data: bytes, pages: list[str]) -> None:
        self.pages[sha256(data).hexdigest()] = pages
        self.sizes.add(len(data))

    def known(self, files: Sequence[Unread]) -> Iterator[FileText]:
        for file in files:
            self.asked.append(file.path)
            if file.size in self.sizes and (digest := file.hash()) in self.pages:
                assert digest is not None
                yield FileText(file.path, digest, self.pages[digest])


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def filled(vault: VaultFolder, opened: Open, kept: Kept) -> Index:
    """A note, a scan of which somebody knows the text, and one that nobody has read."""
    vault["note.md"] = "No birds here, but water."
    vault["docs/scan.pdf"] = b"%PDF scan"
    vault["other.png"] = b"other"
    kept.learn(b"%PDF scan", PAGES)
    index = opened(texts=[kept.source])
    index.reconcile()
    return index


def found(index: Index, query: str, view: IndexView | None = None) -> list[tuple[Any, ...]]:
    hits, _ = (view or everything(index)).literal(Page(), query)
    return [(h.path, h.page, h.line, h.col, h.snippet) for h in hits]


def test_text_is_found_by_letter_with_its_page_and_its_line_there(filled: Index) -> None:
    assert found(filled, "bittern") == [("docs/scan.pdf", 3, 0, 7, "A rare bittern")]
    assert found(filled, "dusk") == [("docs/scan.pdf", 3, 1, 9, "booms at dusk")]
    assert found(filled, "shallow") == [("docs/scan.pdf", 1, 1, 3, "in shallow water")]


def test_notes_and_pages_are_found_side_by_side(filled: Index) -> None:
    assert sorted((path, page) for path, page, *_ in found(filled, "water")) == [
        ("docs/scan.pdf", 1),
        ("note.md", None),
    ]


def test_text_is_found_by_words_page_by_page(filled: Index) -> None:
    view = everything(filled)
    (one,) = view.by_words("booming bitterns", 10)
    row = view.chunks([one.chunk])[one.chunk]
    assert (row.path, row.page, row.line, row.text) == ("docs/scan.pdf", 3, 0, PAGES[2])
    assert row.title == "scan.pdf"
    assert [r.page for r in view.chunks_of("docs/scan.pdf")] == [1, 3]
    assert view.note_of(row.note_id) == "docs/scan.pdf"


def test_text_is_found_by_pattern_with_its_page(filled: Index) -> None:
    hits, _ = everything(filled).regex(Page(), r"d.sk")
    assert [(h.path, h.page, h.line, h.col, h.match) for h in hits] == [("docs/scan.pdf", 3, 1, 9, "dusk")]


def test_who_may_not_read_the_file_does_not_find_its_text(filled: Index) -> None:
    view = IndexView(filled, lambda path: not path.startswith("docs/"))
    assert found(filled, "bittern", view) == []
    assert found(filled, "water", view) == [("note.md", None, 0, 19, "No birds here, but water.")]
    assert view.by_words("bittern", 10) == []
    assert view.regex(Page(), "bittern") == ([], None)
    assert view.text("docs/scan.pdf") is None


def test_a_long_page_is_cut_and_every_part_knows_its_page_and_line(
    vault: VaultFolder, opened: Open, kept: Kept
) -> None:
    long = "\n\n".join(f"Paragraph {n} " + "word " * 40 for n in range(60))
    vault["a.pdf"] = b"a"
    kept.learn(b"a", ["short", long])
    index = opened(texts=[kept.source])
    index.reconcile()
    rows = everything(index).chunks_of("a.pdf")
    assert [row.page for row in rows][:2] == [1, 2]
    assert len(rows) > 3
    for row in rows[1:]:
        assert row.text.startswith(long.split("\n")[row.line])


def test_a_changed_file_loses_the_text_of_its_old_content(
    filled: Index, vault: VaultFolder, kept: Kept
) -> None:
    vault["docs/scan.pdf"] = b"%PDF changed"
    filled.refresh(["docs/scan.pdf"])
    assert found(filled, "bittern") == []
    assert everything(filled).chunks_of("docs/scan.pdf") == []
    kept.learn(b"%PDF changed", ["Only coots"])
    filled.renew_texts(["docs/scan.pdf"])
    assert found(filled, "coots") == [("docs/scan.pdf", 1, 0, 5, "Only coots")]


def test_a_deleted_file_is_found_no_more(filled: Index, vault: VaultFolder) -> None:
    del vault["docs/scan.pdf"]
    filled.refresh(["docs/scan.pdf"])
    assert found(filled, "bittern") == []


def test_the_text_follows_a_file_that_is_moved(filled: Index, vault: VaultFolder) -> None:
    (vault.path / "docs/scan.pdf").rename(vault.path / "moved.pdf")
    stat = filled.disk.stat("moved.pdf")
    assert stat is not None
    filled.wrote([("docs/scan.pdf", None, None), ("moved.pdf", None, facts(stat))])
    assert [hit[0] for hit in found(filled, "bittern")] == ["moved.pdf"]


def test_a_copy_is_found_as_soon_as_the_first_is_read(filled: Index, vault: VaultFolder, kept: Kept) -> None:
    vault["copy.png"] = b"other"
    filled.refresh(["copy.png"])
    kept.learn(b"other", ["Grebe"])
    filled.renew_texts(["other.png"])
    assert sorted(hit[0] for hit in found(filled, "Grebe")) == ["copy.png", "other.png"]


def test_an_index_begun_anew_holds_the_same(filled: Index) -> None:
    before = content(filled)
    filled.db.begin_anew()
    filled.reconcile()
    assert found(filled, "bittern") == [("docs/scan.pdf", 3, 0, 7, "A rare bittern")]
    assert content(filled)["chunks"] == before["chunks"]
    assert content(filled)["ranked"] == before["ranked"]


def test_text_read_anew_takes_the_place_of_the_old(filled: Index, kept: Kept) -> None:
    kept.learn(b"%PDF scan", ["Better read: egret"])
    filled.renew_texts(["docs/scan.pdf"])
    assert found(filled, "bittern") == []
    assert found(filled, "egret") == [("docs/scan.pdf", 1, 0, 13, "Better read: egret")]


def test_text_that_its_keeper_has_dropped_is_dropped(filled: Index, kept: Kept) -> None:
    kept.pages.clear()
    filled.renew_texts(["docs/scan.pdf"])
    assert found(filled, "heron") == []
    row = everything(filled).file("docs/scan.pdf")
    assert row is not None
    assert (row.hash, row.title) == (None, None)


def test_only_files_of_the_right_kind_are_asked_about_and_those_with_text_once(
    filled: Index, vault: VaultFolder, kept: Kept
) -> None:
    vault["a.zip"] = "zip"
    kept.asked.clear()
    filled.reconcile()
    assert kept.asked == ["other.png"]


def test_a_source_that_fails_costs_its_texts_only(vault: VaultFolder, opened: Open, kept: Kept) -> None:
    def fails(files: Sequence[Unread]) -> Iterator[FileText]:
        raise RuntimeError("the plugin is broken")

    vault["a.pdf"] = b"a"
    vault["note.md"] = "heron"
    kept.learn(b"a", ["A heron"])
    index = opened(texts=[Texts(frozenset({"pdf"}), fails), kept.source])
    index.reconcile()
    assert sorted(hit[0] for hit in found(index, "heron")) == ["a.pdf", "note.md"]


def test_a_text_of_other_content_is_not_taken(vault: VaultFolder, opened: Open) -> None:
    def lies(files: Sequence[Unread]) -> Iterator[FileText]:
        yield FileText("a.pdf", "0" * 64, ["heron"])
        yield FileText("note.md", "0" * 64, ["heron"])

    vault["a.pdf"] = b"a"
    vault["note.md"] = "coot"
    index = opened(texts=[Texts(frozenset({"pdf"}), lies)])
    index.reconcile()
    assert found(index, "heron") == []
    assert [hit[0] for hit in found(index, "coot")] == ["note.md"]


def test_a_page_without_text_keeps_the_number_of_the_next(
    vault: VaultFolder, opened: Open, kept: Kept
) -> None:
    vault["a.pdf"] = b"a"
    kept.learn(b"a", ["", "with\fa feed and\0 a nought", "last"])
    index = opened(texts=[kept.source])
    index.reconcile()
    assert found(index, "feed") == [("a.pdf", 2, 1, 2, "a feed and  a nought")]
    assert found(index, "last") == [("a.pdf", 3, 0, 0, "last")]
