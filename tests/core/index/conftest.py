"""Indices over real folders, what is in them as plain values, and other processes that share them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from knapper.config.model import IndexSettings, WatchSettings
from knapper.domain import Extractor
from knapper.index.derived import Texts
from knapper.index.engine import Index
from knapper.index.view import IndexView
from knapper.testing import VaultFolder
from knapper.vault.disk import Disk

OTHER = Path(__file__).with_name("other.py")
Open = Callable[..., Index]


def open_index(
    folder: Path,
    file: Path,
    *,
    extractors: Sequence[Extractor] = (),
    texts: Sequence[Texts] = (),
    exclude: Sequence[str] = (),
    watch: bool = False,
    **settings: Any,
) -> Index:
    return Index(
        Disk(folder, exclude=exclude),
        file,
        settings=IndexSettings(**{"processes": 1, **settings}),
        watch=WatchSettings(enabled=watch),
        extractors=extractors,
        texts=texts,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "index" / "main.db"


@pytest.fixture
def opened(vault: VaultFolder, file: Path) -> Iterator[Open]:
    """Open the index of the vault, as often as a test wants; all are closed in the end."""
    found: list[Index] = []

    def open_one(path: Path = file, **how: Any) -> Index:
        found.append(open_index(vault.path, path, **how))
        return found[-1]

    yield open_one
    for index in found:
        index.close()


@pytest.fixture
def index(opened: Open) -> Index:
    return opened()


def everything(index: Index) -> IndexView:
    """The view of a caller who may read all."""
    return IndexView(index, None)


def paths(index: Index) -> list[str]:
    return [row.path for row in everything(index).select()]


def until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something that another thread or process brings about; fail where it does not."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not true():
        assert time.monotonic() < deadline, "it never came about"
        pause.wait(0.01)


class Other:
    """Another process with the same index open, which does what it is told, one line at a time."""

    def __init__(self, folder: Path, file: Path, *flags: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(OTHER), str(folder), str(file), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, do: str, *given: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([do, *given]) + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the other process ended"
        return json.loads(line)

    def ask(self, do: str, *given: Any) -> Any:
        self.tell(do, *given)
        return self.hear()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def other(vault: VaultFolder, file: Path) -> Iterator[Callable[..., Other]]:
    """Start another process on the same index; flags: `live` begins to index, `watch` to watch too."""
    found: list[Other] = []

    def start(*flags: str) -> Other:
        found.append(Other(vault.path, file, *flags))
        assert found[-1].hear() == "open"
        return found[-1]

    yield start
    for one in found:
        one.end()


def content(index: Index) -> dict[str, Any]:
    """All that an index holds, with paths in the place of numbers; equal for two that hold the same."""
    with index.db.read() as conn:
        found = {name: conn.execute(sql).fetchall() for name, sql in TABLES.items()}
        for extractor in index.extractors:
            table = f"x_{extractor.name}"
            sql = f"SELECT f.path, x.* FROM {table} x JOIN files f ON f.id = x.file ORDER BY f.path, x.ord"
            found[table] = [(row[0], *row[2:]) for row in conn.execute(sql)]
        for table, owner in FULL_TEXT.items():
            conn.execute(f"CREATE VIRTUAL TABLE temp.look USING fts5vocab('main', '{table}', 'instance')")
            found[table] = conn.execute(
                f"SELECT o.name, l.term, l.col, l.offset FROM temp.look l LEFT JOIN ({owner}) o ON o.id = l.doc "
                "ORDER BY 1, 2, 3, 4"
            ).fetchall()
            conn.execute("DROP TABLE temp.look")
    return found


def words(index: Index) -> set[str]:
    with index.db.read() as conn:
        return {row[0] for row in conn.execute("SELECT term FROM terms")}


def _of_files(table: str, columns: str, order: str) -> str:
    return f"SELECT f.path, {columns} FROM {table} x JOIN files f ON f.id = x.file ORDER BY f.path, {order}"


TABLES = {
    "files": "SELECT path, key, folder, name, ext, note, size, mtime_ns, inode, hash, title, properties, problem, pending "
    "FROM files ORDER BY path",
    "texts": _of_files("texts", "x.text", "1"),
    "aliases": _of_files("aliases", "x.key, x.alias", "x.rowid"),
    "tags": _of_files("tags", "x.key, x.tag, x.source, x.ord", "x.ord"),
    "properties": _of_files("properties", "x.key, x.item, x.name, x.type, x.text, x.number", "x.rowid"),
    "headings": _of_files("headings", "x.ord, x.level, x.text, x.line", "x.ord"),
    "blocks": _of_files("blocks", "x.id, x.line", "x.id"),
    "chunks": _of_files("chunks", 'x.ord, x.headings, x.start, x."end", x.line, x.hash, x.page', "x.ord"),
    "links": "SELECT f.path, t.path, x.target IS NULL, x.key, x.path, x.subpath, x.written, x.display, x.kind, x.embed, "
    "x.property, x.line, x.col FROM links x LEFT JOIN files f ON f.id = x.file LEFT JOIN files t ON t.id = x.target "
    "ORDER BY f.path, x.id",
}
FULL_TEXT = {
    "literal": "SELECT id, path AS name FROM files",
    "ranked": "SELECT c.id, f.path || '#' || c.ord AS name FROM chunks c JOIN files f ON f.id = c.file",
}
