"""Whatever happened to the files in whatever order, the index holds what one built from scratch holds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from knapper.domain import FileText
from knapper.index.derived import Texts, Unread
from knapper.index.engine import Index
from knapper.index.loading import facts
from tests.core.index.conftest import content, open_index, words
from tests.core.index.extracts import shouts

FOLDERS = ["", "a", "a/b", "c"]
# Names that links cannot tell apart by themselves: in several folders, in two spellings, with and without extension.
NAMES = ["N.md", "M.md", "n.MD", "N.md.md", "N.png", "x y.markdown"]
PATHS = [f"{folder}/{name}".strip("/") for name in NAMES for folder in FOLDERS]
LINKS = [
    "[[N]]",
    "[[a/N]]",
    "[[./N]]",
    "[m](../M.md)",
    "![[N.png]]",
    "[[b/N#H|x]]",
    "[e](x%20y.markdown)",
    "[[n.md]]",
]
PIECES = [
    "---\ntags: [one, Two/three]\nstatus: open\naliases: [Other]\nup: '[[M]]'\n---\n",
    "# Heading\n\n",
    "#tag and WORD!\n",
    "kanji 東京 und Ärger\n",
    "para ^block\n",
    *[f"see {link}\n" for link in LINKS],
]

texts = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
path = st.sampled_from(PATHS[:4]) | st.sampled_from(PATHS)  # mostly the name that many links mean
folder = st.sampled_from(FOLDERS[1:])
told = st.one_of(
    st.tuples(st.just("write"), path, texts),
    st.tuples(st.just("save"), path, texts),
    st.tuples(st.just("remove"), path),
    st.tuples(st.just("vanish"), path),
    st.tuples(st.just("move"), path, path),
    st.tuples(st.just("rename folder"), folder, folder),
    st.tuples(st.just("drop folder"), folder),
)
untold = st.one_of(
    st.tuples(st.just("silent"), path, texts), st.tuples(st.just("reconcile"), st.sampled_from(FOLDERS))
)


class Life:
    """A vault and its index, and the things that happen to them."""

    def __init__(self, root: Path) -> None:
        self.root = root / "vault"
        self.root.mkdir()
        self.kept: dict[str, list[str]] = {}
        self.texts = Texts(frozenset({"png"}), self._known)
        self.index = open_index(self.root, root / "index.db", extractors=[shouts], texts=[self.texts])

    def do(self, what: str, *given: Any) -> None:
        getattr(self, what.replace(" ", "_"))(*given)

    def _known(self, files: Sequence[Unread]) -> Iterator[FileText]:
        """Somebody has read the pictures, but for those without a heading."""
        for file in files:
            digest = file.hash()
            if digest is not None and digest in self.kept:
                yield FileText(file.path, digest, self.kept[digest])

    def _put(self, path: str, text: str) -> bool:
        target = self.root / path
        if target.is_dir() or any(parent.is_file() for parent in target.parents):
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        if "Heading" in text:
            self.kept[sha256(text.encode()).hexdigest()] = [f"page one {text}", "", f"three {text}"]
        return True

    def write(self, path: str, text: str) -> None:
        """The server writes."""
        if self._put(path, text):
            stat = self.index.disk.stat(path)
            assert stat is not None
            self.index.wrote([(path, text.encode(), facts(stat))])

    def save(self, path: str, text: str) -> None:
        """Another program writes, and the watch sees it."""
        if self._put(path, text):
            self.index.refresh([path])

    def silent(self, path: str, text: str) -> None:
        """Another program writes, and nobody sees it."""
        self._put(path, text)

    def remove(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.index.wrote([(path, None, None)])

    def vanish(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.index.refresh([path])

    def move(self, source: str, target: str) -> None:
        """The server moves: both ends in one change, the content not at hand."""
        if source == target or not (self.root / source).is_file() or (self.root / target).is_dir():
            return
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / source).rename(self.root / target)
        stat = self.index.disk.stat(target)
        assert stat is not None
        self.index.wrote([(source, None, None), (target, None, facts(stat))])

    def rename_folder(self, source: str, target: str) -> None:
        here, there = self.root / source, self.root / target
        if here.is_dir() and not there.exists() and here not in there.parents:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.parent.mkdir(parents=True, exist_ok=True)
            here.rename(there)
            self.index.refresh([source, target])

    def drop_folder(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)
        self.index.refresh([folder])

    def reconcile(self, folder: str) -> None:
        self.index.reconcile(folder)


def lived(steps: list[tuple[Any, ...]], folder: str, *, reconcile: bool) -> None:
    root = Path(folder)
    life = Life(root)
    for one in steps:
        life.do(*one)
    if reconcile:
        life.index.reconcile()
    fresh: Index = open_index(life.root, root / "fresh.db", extractors=[shouts], texts=[life.texts])
    fresh.reconcile()
    assert content(life.index) == content(fresh)
    assert words(life.index) >= words(fresh)
    assert life.index.write_failures == 0
    life.index.close()
    fresh.close()


def shadowed(last: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """A link that two files could answer, and then one step."""
    return [("write", "N.md", ""), ("write", "a/N.md", ""), ("write", "c/M.md", "see [[N]]\n"), last]


quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(st.lists(told, min_size=1, max_size=14))
@example(shadowed(("remove", "N.md")))
@example(shadowed(("vanish", "N.md")))
@example(shadowed(("move", "N.md", "a/b/N.md")))
@example(shadowed(("rename folder", "a", "b")))
@example(shadowed(("drop folder", "a")))
@example(shadowed(("save", "c/N.md", "")))
def test_what_it_is_told_of_leaves_the_index_as_a_fresh_one(steps: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as folder:
        lived(steps, folder, reconcile=False)


@quick
@given(st.lists(told | untold, min_size=1, max_size=14))
@example([("write", "N.md", "# Heading\n\n"), ("silent", "N.md", "see [[M]]\n")])
@example([("silent", "c/M.md", "[m](../M.md)\n"), ("reconcile", "c"), ("write", "M.md", "# Heading\n\n")])
def test_a_reconcile_finds_what_it_was_not_told_of(steps: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as folder:
        lived(steps, folder, reconcile=True)
